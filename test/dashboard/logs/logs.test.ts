import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entryWith, keepEntries } from '../../admin/ai-logs/log-entries.ts'
import { keepAccess } from '../../admin/oauth-grants/access.ts'
import { openDashboard } from '../site.ts'

const payload = (text: string, isCut = false) => ({ text, isCut })
const script = '<script>alert(1)</script>'
const hostile = `"'><img src=x onerror=alert(1)>${script}`

test('logs are listed from the latest on, filtered, and paged by their cursor', async t => {
  const { base, get, kept } = await openDashboard(t)
  const path = `${base}/gateways/default/logs`
  assert.match((await get(path)).text, /No calls yet/)
  await keepEntries(
    kept,
    Array.from({ length: 60 }, (_, n) =>
      entryWith(n, { model: n % 2 === 0 ? 'gpt-5' : 'other', cost: n === 7 ? 0.0000154 : null }),
    ),
  )
  const first = await get(path)
  assert.equal(first.body.match(/scope="row"/g)!.length, 36)
  const next = /rel="next" href="([^"]*)"/.exec(first.body)![1]!.replaceAll('&#38;', '&')
  const second = await get(next)
  assert.equal(second.body.match(/scope="row"/g)!.length, 24)
  assert.match(second.text, /\$0\.0000154 12 ms/)
  assert.match(second.body, /rel="first"/)
  assert.doesNotMatch(second.body, /rel="next"/)
  const filtered = await get(`${path}?model=other`)
  assert.equal(filtered.body.match(/scope="row"/g)!.length, 30)
  assert.match(filtered.body, /name="model"[^>]* value="other"/)
  assert.match(filtered.body, /logs\/live\?model=other/)
  assert.match((await get(`${path}?model=none`)).text, /No call matches/)
})

test('a filter that is wrong is beside its field, and stays', async t => {
  const { base, get } = await openDashboard(t)
  for (const page of ['logs', 'logs/live']) {
    const refused = await get(`${base}/gateways/default/${page}?status=often&min_cost=x`)
    assert.equal(refused.status, 422)
    assert.match(refused.body, /id="status-fault"/)
    assert.match(refused.body, /id="min_cost-fault"/)
    assert.match(refused.body, /value="often"/)
    assert.match(refused.body, /<details class="more" open>/)
  }
  const undated = await get(`${base}/gateways/default/logs?start_date=yesterday`)
  assert.equal(undated.status, 422)
  assert.match(undated.body, /id="start_date-fault"/)
  assert.match(undated.body, /value="yesterday"/)
  assert.equal((await get(`${base}/gateways/none/logs`)).status, 404)
})

test('calls are found by the time at which they began: of the last hour or day, or between moments in UTC', async t => {
  const { base, get, kept, clock } = await openDashboard(t)
  const path = `${base}/gateways/default/logs`
  const now = clock.now()
  const hour = 3_600_000
  await keepEntries(kept, [
    entryWith(1, { model: 'last-month', createdAt: now - 700 * hour }),
    entryWith(2, { model: 'yesterday', createdAt: now - 20 * hour }),
    entryWith(3, { model: 'just-now', createdAt: now - hour / 2 }),
  ])
  const listed = async (query: string) => {
    const { status, body } = await get(`${path}?${query}`)
    assert.equal(status, 200)
    return ['last-month', 'yesterday', 'just-now'].filter(model => body.includes(`<bdi>${model}<`)).join(' ')
  }
  assert.equal(await listed(''), 'last-month yesterday just-now')
  assert.equal(await listed('range=1h'), 'just-now')
  assert.equal(await listed('range=24h'), 'yesterday just-now')
  assert.equal(await listed('range=30d'), 'last-month yesterday just-now')
  assert.equal(await listed('range=never'), 'last-month yesterday just-now')
  // As a browser sends what was picked in a field of a date and a time.
  const inField = (at: number) => new Date(at).toISOString().slice(0, 16)
  const [from, to] = [inField(now - 21 * hour), inField(now - 19 * hour)]
  assert.equal(await listed(`start_date=${from}&end_date=${to}`), 'yesterday')
  // Dates win over a range, and say so.
  const dated = await get(`${path}?start_date=${from}&range=1h&model=yesterday`)
  assert.match(dated.text, /From \(UTC\) To \(UTC\)/)
  assert.match(dated.body, new RegExp(`name="start_date" type="datetime-local"[^>]* value="${from}"`))
  assert.doesNotMatch(dated.body, /type="hidden" name="range"|class="tabs".*aria-current.*<\/nav>/)
  assert.match(dated.body, /logs\?model=yesterday&#38;range=7d"/)
  const ranged = await get(`${path}?range=24h&model=yesterday`)
  assert.match(ranged.body, /range=24h" aria-current="true">Last 24 hours</)
  assert.match(ranged.body, /type="hidden" name="range" value="24h"/)
  assert.match(ranged.body, /logs\/charts\?model=yesterday&#38;range=24h"/)
  const live = await get(`${path}/live?start_date=yesterday&range=1h`)
  assert.equal(live.status, 200)
  assert.doesNotMatch(live.body, /start_date|end_date|class="tabs"/)
})

test('the latest calls are on a page that changes by itself', async t => {
  const { base, get, kept, edge } = await openDashboard(t)
  const path = `${base}/gateways/default/logs/live`
  const empty = await get(path)
  assert.match(empty.text, /Waiting for calls/)
  assert.doesNotMatch(empty.body, /gateways\/default\/test"/)
  const provider = { name: 'openai', model: 'gpt-4o-mini', path: '/chat/completions' }
  edge.entrance = {
    origin: 'http://ai.test',
    provider: { ...provider, speaks: 'openai', hasKey: true },
    aliases: [],
    send: () => Promise.reject(new Error('Nobody there.')),
  }
  assert.match((await get(path)).body, /gateways\/default\/test">Send a test request</)
  await keepEntries(kept, [entryWith(1, { model: 'first' }), entryWith(2, { model: 'second' })])
  const page = await get(path)
  assert.match(page.body, /id="tail" data-live="2"/)
  assert.match(page.text, /second .*first/)
})

test('a call has all that is known of it, with its bodies, which nothing runs', async t => {
  const { base, get, kept } = await openDashboard(t)
  await keepEntries(kept, [
    entryWith(1, {
      model: hostile,
      path: `/v1/${hostile}`,
      error: 'internal_server_error',
      status: 500,
      success: false,
      tokenId: 'a'.repeat(32),
      tokenName: hostile,
      metadata: { who: hostile },
      cost: 0.25,
      dropped: ['thinking', hostile],
      findings: [{ check: 'response', name: 'webhook:pii', action: 'block', count: 3 }],
      hasCustomCost: true,
      eventId: hostile,
      attempts: [
        { provider: 'openai', model: hostile, outcome: 'http_503', duration: 12 },
        { provider: 'groq', model: 'llama', outcome: 'ok', duration: 1_340 },
      ],
      step: 1,
      request: payload(JSON.stringify({ a: [1, {}, 'x:y,{'], b: script })),
      response: payload(`data: ${script}\n\n`, true),
      providerResponse: payload(JSON.stringify('y'.repeat(9_000))),
    }),
  ])
  const path = `${base}/gateways/default/logs`
  for (const page of [path, `${path}/live`, `${path}/0000000000000001`, `${path}/charts?range=24h`]) {
    const { body, status } = await get(page)
    assert.equal(status, 200)
    assert.ok(!body.includes('<script>alert') && !body.includes('<img'), page)
  }
  const page = await get(`${path}/0000000000000001`)
  assert.ok(page.text.includes('$0.25'))
  assert.match(page.text, /\$0\.25 named by the caller/)
  assert.match(page.text, /http_503 12 ms groq llama ok 1\.3 s/)
  assert.match(page.text, /Left out thinking, /)
  assert.match(page.text, /Guard .*webhook:pii the response block 3/)
  const unescaped = page.body.replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
  assert.ok(
    unescaped.includes(`{\n  "a": [\n    1,\n    {},\n    "x:y,{"\n  ],\n  "b": "${script}"\n}`),
    unescaped,
  )
  assert.match(page.text, /Response, only its beginning was kept/)
  assert.equal(page.body.match(/<pre class="code-block"[^>]* data-copy>/g)!.length, 3)
  assert.match(page.text, /Only its beginning: it has 9002 characters\. Show all of it/)
  const whole = await get(`${path}/0000000000000001/provider_response`)
  assert.ok(whole.body.includes('y'.repeat(9_000)))
  assert.ok(!(await get(`${path}/0000000000000001/request`)).body.includes(script))
  assert.equal((await get(`${path}/0000000000000001/other`)).status, 404)
  assert.equal((await get(`${path}/00000000000000ff`)).status, 404)
})

test('a call says who made it, what it asked for, how long it took and what it used, in this order', async t => {
  const { base, get, kept, account, user, keepToken } = await openDashboard(t)
  const { token } = await keepToken(['AI Gateway Run'], { name: 'support bot' })
  const { client, grant } = await keepAccess(kept)
  const app = { user: user.id, email: 'ann@example.com', client: client.id, clientName: 'Shop' }
  const streamed = { streamed: true, duration: 2_100, timeToFirstByte: 100, tokensOut: 300, tokensIn: 1_000 }
  await keepEntries(kept, [
    entryWith(1, { ...streamed, tokenId: token.id, tokenName: 'support bot', metadata: { team: 'a', n: 7 } }),
    entryWith(2, { tokenId: 'f'.repeat(32), tokenName: 'gone', tokensOut: null }),
    entryWith(3, { tokenId: grant.id, tokenName: 'Shop', app }),
    entryWith(4, { authenticated: false, duration: 50, tokensOut: 5, timeToFirstByte: 50 }),
  ])
  const path = `${base}/gateways/default/logs`
  const shown = (n: number) => get(`${path}/${String(n).padStart(16, '0')}`)
  const first = await shown(1)
  assert.match(
    first.text,
    /Caller Token support bot All its calls Call Gateway default Provider openai Model gpt-5 Route \/v1\/chat\/completions Status 200 Ray 0000000000000001 Time Began 1 Jan 2026, 00:00:01 UTC First byte after 100 ms Duration 2\.1 s Streamed yes Tokens per second 150, from the first byte on Usage Tokens in 1,000 Tokens out 300 Total 1,300 Cost Unknown: .* Metadata team a n 7 Bodies/,
  )
  assert.ok(first.body.includes(`href="${base}/tokens/${token.id}"`))
  assert.ok(first.body.includes(`href="${base}/gateways/default"`))
  assert.ok(first.body.includes(`href="${path}?token_id=${token.id}"`))
  const second = await shown(2)
  assert.doesNotMatch(second.body, /\/tokens\/f/)
  assert.match(second.text, /Token gone All its calls/)
  assert.doesNotMatch(second.text, /Tokens per second|Total/)
  const third = await shown(3)
  assert.match(third.text, new RegExp(`App Shop All its calls For ann@example\\.com Consent ${grant.id}`))
  assert.ok(third.body.includes(`href="${base}/oauth-clients/${client.id}"`))
  assert.doesNotMatch(third.body, /\/tokens\/|token_id=/)
  const fourth = await shown(4)
  assert.match(fourth.text, /Token None: authentication was off .* Tokens per second 100 /)
  assert.equal(account.length, 32)
})

test('a call is found good or bad by a button, and that is taken back by it', async t => {
  const { base, get, kept } = await openDashboard(t)
  await keepEntries(kept, [entryWith(1, { score: 50 })])
  const path = `${base}/gateways/default/logs/0000000000000001`
  assert.match((await get(path)).text, /Feedback Response No opinion Score 50 Good Bad/)
  const form = await get(path)
  const rated = await form.submit(`${path}/feedback`, { feedback: '-1' })
  assert.equal(rated.status, 303)
  assert.match((await rated.follow()).text, /Response Bad Score 50 Good Take back Bad/)
  await (await get(path)).submit(`${path}/feedback`, { feedback: '' })
  assert.match((await get(path)).text, /No opinion/)
})

test('a call that failed says first what went wrong, in its own words, and its ray', async t => {
  const { base, get, kept } = await openDashboard(t)
  const failed = { success: false, tokensIn: null, tokensOut: null }
  const said = (text: unknown) => payload(JSON.stringify(text))
  await keepEntries(kept, [
    entryWith(1, { ...failed, status: 520, error: 'origin_unknown_error' }),
    entryWith(2, { ...failed, status: 429, response: said({ error: { message: `Slow down ${script}` } }) }),
    entryWith(3, { ...failed, status: 500, response: payload('not JSON') }),
    entryWith(4, { ...failed, status: 200 }),
    entryWith(5, { ...failed, status: 400, response: said({ error: 'x'.repeat(900) }) }),
  ])
  const shown = async (n: number) => {
    const page = await get(`${base}/gateways/default/logs/${String(n).padStart(16, '0')}`)
    assert.ok(!page.body.includes(script))
    return page
  }
  const first = await shown(1)
  assert.match(
    first.text,
    /Error 520: Web server is returning an unknown error \( ?origin_unknown_error ?\)\. Look in the log of the origin.* Ray 0000000000000001 ?\. Caller/,
  )
  assert.ok(first.body.includes(`href="${base}/errors/codes/520"`))
  assert.match(
    (await shown(2)).text,
    /The provider responded with 429 ?: Slow down .* ?\. Ray 0000000000000002/,
  )
  assert.match((await shown(3)).text, /The provider responded with 500 ?\. Ray/)
  assert.match((await shown(4)).text, /The response ended before it was complete/)
  assert.match((await shown(5)).text, /The provider responded with 400 ?: x{500}… Ray/)
})

test('charts show requests, errors, tokens and cost by model and by token, each with its figures', async t => {
  const { base, get, kept, clock } = await openDashboard(t)
  const path = `${base}/gateways/default/logs/charts`
  assert.match((await get(path)).text, /No calls in this time/)
  const models = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  await keepEntries(
    kept,
    models.flatMap((model, m) =>
      Array.from({ length: 10 - m }, (_, n) =>
        entryWith(m * 10 + n, {
          model,
          cost: 0.5,
          success: n > 0,
          tokenId: String(m % 2).repeat(32),
          tokenName: `token ${m % 2}`,
        }),
      ),
    ),
  )
  clock.advance(120_000)
  const page = await get(path)
  assert.match(page.text, /Requests 49 .*a 10 b 9 c 8 d 7 e 6 Others 9/)
  assert.match(page.text, /Errors 7/)
  assert.match(page.text, /Tokens 1,470/)
  assert.match(page.text, /Cost \$24\.50/)
  assert.match(page.text, /From All a b c d e Others 1 Jan 2026, 00:00 UTC 49 10 9 8 7 6 9/)
  assert.equal(page.body.match(/<svg viewBox[^>]* role="img"/g)!.length, 4)
  assert.doesNotMatch(page.body, /style=/)
  assert.ok(page.body.length < 60_000, `${page.body.length}`)
  assert.match((await get(`${path}?by=token`)).text, /token 0 \d+ token 1 \d+/)
  assert.match((await get(`${path}?model=b&range=1h`)).text, /Requests 9 .*b 9/)
  for (const range of ['1h', '7d', '30d'])
    assert.match((await get(`${path}?range=${range}`)).text, /Requests 49/)
  assert.match((await get(`${path}?range=x&by=y`)).text, /Requests 49/)
  assert.equal((await get(`${path}?status=x`)).status, 422)
})

test('pages of logs say which responses were reused, and what that saved', async t => {
  const { base, get, kept, clock } = await openDashboard(t)
  const path = `${base}/gateways/default/logs`
  await keepEntries(kept, [entryWith(1, { cost: 0.5 })])
  clock.advance(120_000)
  assert.doesNotMatch((await get(`${path}/charts`)).text, /Saved|reused/)
  const reused = { cached: true, cost: 0, tokensIn: 0, tokensOut: 0 }
  await keepEntries(kept, [
    entryWith(2, { ...reused, saved: { tokensIn: 1_000, tokensOut: 500, cost: 0.25 } }),
    entryWith(3, { ...reused, saved: { tokensIn: 10, tokensOut: null, cost: null } }),
  ])
  assert.match((await get(path)).text, /\$0 reused 12 ms.*\$0 saved \$0\.25 12 ms.*\$0\.50 12 ms/)
  const some = await get(`${path}?cached=true`)
  assert.equal(some.body.match(/scope="row"/g)!.length, 2)
  assert.match(some.body, /<details class="more" open>/)
  assert.match(some.body, /<option value="true" selected>Reused/)
  const charts = await get(`${path}/charts`)
  assert.match(charts.text, /Responses reused 2 of 3, which saved \$0\.25 and 1,510 tokens/)
  assert.match(charts.text, /Saved cost \$0\.25/)
  const shown = async (n: number) => (await get(`${path}/${String(n).padStart(16, '0')}`)).text
  assert.match(await shown(2), /Response That of an equal call.*Saved \$0\.25, 1,000 tokens in, 500 out/)
  assert.match(await shown(3), /Saved A cost that is unknown, 10 tokens in, Unknown out/)
  assert.doesNotMatch(await shown(1), /Saved|Response That/)
})

test('charts show what is summed up, say that the rest is coming, and live until all is there', async t => {
  const { base, get, kept, clock } = await openDashboard(t)
  const now = clock.now()
  const entries = Array.from({ length: 6 }, (_, n) =>
    entryWith(n, { model: n < 2 ? 'new' : 'old', createdAt: n < 2 ? now : now - 3 * 3_600_000 }),
  )
  await keepEntries(kept, entries.slice(2))
  await keepEntries(kept, entries.slice(0, 2))
  clock.advance(60_000)
  const sum = kept.logs.sum.bind(kept.logs)
  const held = Promise.withResolvers<void>()
  t.mock.method(kept.logs, 'sum', async (...args: Parameters<typeof sum>) => {
    if (args[2].time.since < now - 3_600_000) await held.promise
    return sum(...args)
  })
  const path = `${base}/gateways/default/logs/charts?range=24h`
  const load = async (isReady: (page: Awaited<ReturnType<typeof get>>) => boolean) => {
    for (;;) {
      const page = await get(path)
      if (isReady(page)) return page
    }
  }
  const some = await load(({ text }) => /Requests 2/.test(text))
  assert.match(some.body, /<div id="charts" data-live="2"><p class="notice/)
  assert.match(
    some.text,
    /Earlier calls are being summed up\. Without script, load the page again in a moment\./,
  )
  assert.match(some.text, /Requests 2 .*new 2/)
  held.resolve()
  const whole = await load(({ text }) => !/being summed up/.test(text))
  assert.match(whole.body, /<div id="charts"><div/)
  assert.match(whole.text, /Requests 6 .*old 4 new 2/)
})

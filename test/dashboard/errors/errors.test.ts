import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CustomErrors } from '../../../src/errors/custom/custom-errors.ts'
import { errorPageTypes } from '../../../src/config/model/custom-errors-config.ts'
import { slotOf } from '../../../src/store/records/tally.ts'
import { zoneWith } from '../../admin/zones/zones.ts'
import { pageTypes } from '../../../src/dashboard/errors/page-types.ts'
import { hostile } from '../fixtures.ts'
import { openDashboard } from '../site.ts'

type Site = Awaited<ReturnType<typeof openDashboard>>

const escaped = (text: string) => text.replace(/[&<>"'`]/g, character => `&#${character.codePointAt(0)};`)

/** Counts an error of the zone `main` with a request that got it. */
async function count({ kept, clock }: Site, code: string, members: object = {}) {
  const now = clock.now()
  const occurrence = {
    at: now,
    ray: 'fedcba9876543210',
    method: 'GET',
    host: 'main.test',
    path: '/x',
    status: 403,
    format: 'json',
    ...members,
  }
  await kept.tallies.add([
    {
      kind: 'error',
      scope: 'zone main',
      name: code,
      slot: slotOf('error', now),
      count: 3,
      last: now,
      occurrences: [occurrence],
    },
  ])
}

const rulesOf = async ({ ask }: Site) => (await ask('GET', '/client/v4/zones/main/error_rules')).json.result

test('the errors of the last day are listed with the requests that got them, and nothing in those runs', async t => {
  const site = await openDashboard(t)
  const { get, base } = site
  assert.match((await get(`${base}/errors`)).text, /No errors in the last day/)
  await count(site, '1020', { path: `/${hostile}`, host: hostile, method: hostile })
  await count(site, '9999')
  const page = await get(`${base}/errors`)
  assert.match(page.text, /1020 Access denied The request fedcba9876543210 .* main 3 /)
  assert.ok(!page.body.includes(hostile))
  assert.ok(page.body.includes(escaped(hostile)))
  assert.match(page.text, /9999 Unknown to this version/)
  assert.match((await get(`${base}/errors?zone=main&code=1015`)).text, /No such error happened/)
  const found = await get(`${base}/errors?zone=main&code=1020&order=count`)
  assert.match(found.text, /\b1020\b/)
  assert.doesNotMatch(found.text, /\b9999\b/)
  assert.match(found.body, new RegExp(`href="${base}/errors/codes/1020\\?zone=main"`))
})

test('a zone of another account is not there', async t => {
  const { get, base, given, addAccount, visitor } = await openDashboard(t)
  const other = await addAccount('other')
  given.configs.push(zoneWith({ name: 'theirs', account: other }))
  const zone = `${base}/errors/zones/theirs`
  for (const path of [
    `${base}/errors?zone=theirs`,
    `${base}/errors/codes/1020?zone=theirs`,
    `${base}/errors/zones/theirs/codes/1020/preview`,
    zone,
    `${zone}/rules/new`,
    `${zone}/pages/ip_block`,
    `${zone}/pages/ip_block/preview`,
    `${base}/errors/codes/77`,
    `${base}/errors/zones/main/pages/none`,
    `${base}/errors/zones/main/rules/none`,
  ])
    assert.equal((await get(path)).status, 404, path)
  const form = (await get(`${base}/errors/zones/main/rules/new`)).hidden(
    `${base}/errors/zones/main/rules/new`,
  )
  assert.equal((await visitor.post(`${zone}/rules/new`, form)).status, 403)
})

test('every code is listed, and shown as each reader gets it', async t => {
  const { get, base } = await openDashboard(t)
  const list = await get(`${base}/errors/codes?q=rate%20limit`)
  assert.match(list.text, /1015/)
  assert.doesNotMatch(list.text, /\b1020\b/)
  assert.match((await get(`${base}/errors/codes?q=nonsense`)).text, /Nothing found/)
  const page = await get(`${base}/errors/codes/1020`)
  assert.match(page.text, /A person sees Status 403, from the page of Gatehouse\./)
  assert.match(page.text, /A program gets .* Content-Type: application\/json/)
  assert.match(page.text, /"error_code": ?1020/)
  assert.match(page.text, /Content-Type: text\/markdown/)
  assert.match(page.headers.get('content-security-policy')!, /frame-src 'self'/)
})

test('a preview has a path of its own, where nothing in it can act', async t => {
  const { get, base, given, visitor } = await openDashboard(t)
  const html = `<script>alert(1)</script><form action=/x></form>${hostile}`
  given.custom = new CustomErrors([
    { rules: [], pages: { waf_block: html } },
    { rules: [], pages: {} },
  ])
  /** Gets what the frame of a page shows, as a browser that does not say that it is one. */
  const framed = async (path: string) => {
    const source = /<iframe [^>]* sandbox src="([^"]*)"/.exec((await get(path)).body)![1]!
    return get(source)
  }
  const page = await framed(`${base}/errors/codes/1020?zone=main`)
  assert.equal(page.status, 200)
  assert.equal(page.body, `<base target="_blank">${html}`)
  assert.match(page.headers.get('content-security-policy')!, /^sandbox; default-src 'none'; /)
  assert.doesNotMatch(page.headers.get('content-security-policy')!, /allow-|script-src|connect-src/)
  assert.equal(page.headers.get('x-frame-options'), 'SAMEORIGIN')
  assert.equal(page.headers.get('x-content-type-options'), 'nosniff')
  assert.equal(page.headers.get('cache-control'), 'no-store')
  assert.equal((await framed(`${base}/errors/zones/main/pages/waf_block`)).body, page.body)
  const own = await framed(`${base}/errors/codes/500?zone=main`)
  assert.doesNotMatch(own.body, /<script/)
  assert.match(own.body, /^<!doctype html><base target="_blank">/i)
  assert.match(own.text, /Internal server error/)
  const [first, second] = ['codes/1020/preview', 'pages/waf_block/preview'].map(
    path => `${base}/errors/zones/main/${path}`,
  )
  const proof = new URL(/src="([^"]*)"/.exec((await get(first!)).body)![1]!, 'http://x').search
  for (const path of [first!, second!])
    for (const [query, headers] of [
      ['', {}],
      ['?frame=', {}],
      [path === first ? '?frame=x' : proof, {}],
      [path === first ? proof : '', { 'sec-fetch-dest': 'document' }],
    ] as const) {
      const alone = await visitor.send(path + query, { headers })
      assert.ok(!alone.body.includes(hostile), path + query)
      assert.ok(alone.body.includes(` sandbox src="${path}?frame=`), path + query)
      const inFrame = await visitor.send(path, { headers: { 'sec-fetch-dest': 'iframe' } })
      assert.ok(inFrame.body.includes(hostile))
    }
})

const asHtml = { 'content-type': 'text/html' }

const rule = {
  description: 'For programs',
  expression: 'request.path == "/api"',
  content_type: 'application/json',
  content: '{"sorry": true}',
  status_code: '418',
}
const tried = { try_code: '502', try_method: 'GET', try_path: '/api', try_ip: '', try_headers: '' }

test('a rule is tried, added, changed and deleted', async t => {
  const site = await openDashboard(t)
  const { base, submit, get, ask } = site
  const zone = `${base}/errors/zones/main`
  assert.match((await get(zone)).text, /No rules yet/)
  const test = await submit(`${zone}/rules/new`, { ...rule, ...tried, test: 'on' })
  assert.equal(test.status, 200)
  assert.match(test.text, /The rule matches, and decides\. Status 418, from this rule\./)
  assert.ok(test.body.includes(escaped(rule.content)))
  const missed = await test.submit(`${zone}/rules/new`, { ...rule, ...tried, try_path: '/', test: 'on' })
  assert.match(missed.text, /The rule does not match this request\./)
  assert.deepEqual(await rulesOf(site), [])
  const added = await submit(`${zone}/rules/new`, { ...rule, ...tried })
  assert.equal(added.status, 303)
  assert.match((await added.follow()).text, /The rule was added.*For programs/)
  const [{ id, ...kept }] = await rulesOf(site)
  assert.deepEqual(kept, { ...rule, status_code: 418 })

  const edit = `${zone}/rules/${id}/edit`
  assert.match((await get(`${zone}/rules/${id}`)).text, /For programs Edit and test .*"sorry"/)
  const form = await get(edit)
  await ask('PUT', `/client/v4/zones/main/error_rules/${id}`, { body: { ...kept, content: 'theirs' } })
  const late = await form.submit(edit, { ...rule, ...tried, content: 'mine' })
  assert.equal(late.status, 412)
  assert.match(late.text, /Somebody else changed this .* It is now: theirs\./)
  assert.match(late.body, />\nmine<\/textarea>/)
  const changed = await late.submit(edit, {
    ...rule,
    ...tried,
    content: 'mine',
    description: hostile,
    expression: `request.path == "${hostile.replaceAll('"', '\\"')}"`,
  })
  assert.equal(changed.status, 303)
  const shown = await changed.follow()
  assert.match(shown.text, /The rule was changed/)
  for (const { body } of [shown, await get(zone), await get(edit)]) {
    assert.ok(!body.includes(hostile))
    assert.ok(body.includes(escaped(hostile)))
  }

  assert.match((await get(`${zone}/rules/${id}/delete`)).text, /This cannot be undone/)
  const deleted = await submit(`${zone}/rules/${id}/delete`)
  assert.match((await deleted.follow()).text, /The rule was deleted/)
  assert.deepEqual(await rulesOf(site), [])
})

test('a form for a rule that is sent again makes no second one', async t => {
  const site = await openDashboard(t)
  const path = `${site.base}/errors/zones/main/rules/new`
  const form = await site.get(path)
  assert.equal((await form.submit(path, { ...rule, ...tried })).status, 303)
  const again = await form.submit(path, { ...rule, ...tried })
  assert.equal(again.status, 412)
  assert.match(again.text, /Somebody else changed this/)
  assert.equal((await rulesOf(site)).length, 1)
  assert.equal((await again.submit(path, { ...rule, ...tried })).status, 303)
  assert.equal((await rulesOf(site)).length, 2)
})

test('a rule is not deleted by who has not seen what became of it', async t => {
  const site = await openDashboard(t)
  const { base, submit, get, ask } = site
  await submit(`${base}/errors/zones/main/rules/new`, { ...rule, ...tried })
  const [{ id, ...kept }] = await rulesOf(site)
  const path = `${base}/errors/zones/main/rules/${id}/delete`
  const form = await get(path)
  const body = { ...kept, expression: 'response.code == 504' }
  await ask('PUT', `/client/v4/zones/main/error_rules/${id}`, { body })
  const late = await form.submit(path)
  assert.equal(late.status, 412)
  assert.match(late.text, /Somebody else changed this.*response\.code == 504/)
  assert.equal((await rulesOf(site)).length, 1)
  assert.equal((await late.submit(path)).status, 303)
  assert.deepEqual(await rulesOf(site), [])
})

test('mistakes of a rule are shown next to their fields, and those of an expression with the position', async t => {
  const { base, submit } = await openDashboard(t)
  const path = `${base}/errors/zones/main/rules/new`
  for (const more of [{ test: 'on' }, {}] as Record<string, string>[]) {
    const again = await submit(path, {
      ...rule,
      ...tried,
      expression: 'true &&\n  request.pth == "<b>"',
      content: '',
      ...more,
    })
    assert.equal(again.status, 422)
    assert.match(again.body, /id="expression-fault">Must be a CEL expression; line 2, column 11: /)
    assert.match(again.body, /<mark>p<\/mark>th.*&#60;b&#62;/)
    assert.match(again.body, /id="content-fault">Must have 1 to 10240 bytes in UTF-8\.</)
    assert.match(again.body, /value="418"/)
  }
  const odd = await submit(path, {
    ...rule,
    ...tried,
    try_path: 'api',
    try_ip: 'x',
    try_headers: 'no name: x',
    test: 'on',
  })
  for (const name of ['try_path', 'try_ip', 'try_headers'])
    assert.match(odd.body, new RegExp(`id="${name}-fault"`), name)
})

test('header fields and addresses are part of a test', async t => {
  const { base, submit } = await openDashboard(t)
  const fields = {
    ...rule,
    ...tried,
    expression: 'request.ip == "203.0.113.7" && request.headers["x-a"] == ["1", "2"]',
    try_ip: '203.0.113.7',
    try_headers: 'X-A: 1\n\nX-A: 2',
    test: 'on',
  }
  const matched = await submit(`${base}/errors/zones/main/rules/new`, fields)
  assert.match(matched.text, /The rule matches, and decides/)
})

test('rules are put in another order by buttons, unless they changed meanwhile', async t => {
  const site = await openDashboard(t)
  const { base, get, ask } = site
  for (const description of ['a', 'b', 'c'])
    await ask('POST', '/client/v4/zones/main/error_rules', {
      body: { ...rule, status_code: null, description },
    })
  const ids = (await rulesOf(site)).map(({ id }: { id: string }) => id)
  const order = async () =>
    (await rulesOf(site)).map(({ description }: { description: string }) => description).join('')
  const zone = `${base}/errors/zones/main`
  const page = await get(zone)
  const moved = await page.submit(`${zone}/rules/order`, { up: ids[2] })
  assert.match((await moved.follow()).text, /The rules have their new order\./)
  assert.equal(await order(), 'acb')
  assert.equal((await page.submit(`${zone}/rules/order`, { down: ids[0] })).status, 412)
  assert.equal(await order(), 'acb')
  await (await get(zone)).submit(`${zone}/rules/order`, { down: ids[0] })
  assert.equal(await order(), 'cab')
  for (const fields of [{ up: ids[2] }, { down: ids[1] }, { up: 'x' }, {}] as Record<string, string>[])
    assert.equal((await (await get(zone)).submit(`${zone}/rules/order`, fields)).status, 303)
  assert.equal(await order(), 'cab')
})

test('rules of the file are listed with those of the API, and cannot be moved', async t => {
  const { base, get, given, ask } = await openDashboard(t)
  const ofFile = {
    expression: 'true',
    content: 'x',
    contentType: 'text/plain',
    status: null,
    description: 'from the file',
  } as const
  given.configs = [zoneWith({ errors: { rules: [ofFile], pages: { ip_block: 'x' } } })]
  await ask('POST', '/client/v4/zones/main/error_rules', { body: { ...rule, status_code: null } })
  const page = await get(`${base}/errors/zones/main`)
  assert.match(
    page.text,
    /For programs .* here .* from the file true text\/plain in the file, for the zone, no\. 1/,
  )
  assert.doesNotMatch(page.body, /name="(up|down)"/)
  assert.match(page.text, /Address blocked .* in the file/)
})

test('an error page is tried, uploaded as a file, shown and removed', async t => {
  const site = await openDashboard(t)
  const { base, get, visitor, ask, origin } = site
  const page = `${base}/errors/zones/main/pages/ip_block`
  const form = await get(`${page}/edit`)
  const send = (path: string, fields: Record<string, string>, file = '') => {
    const body = new FormData()
    for (const [name, value] of Object.entries({ ...form.hidden(`${page}/edit`), ...fields }))
      body.append(name, value)
    body.append('file', new Blob([file], { type: 'text/html' }), 'page.html')
    return visitor.send(path, { method: 'POST', headers: { origin }, body })
  }
  const text = '<h1>Blocked ::CLIENT_IP::</h1>\r\n<script>alert(1)</script>'
  const preview = await send(`${page}/edit/preview`, { html: 'not this' }, text)
  assert.equal(preview.status, 200)
  assert.match(preview.body, /<h1>Blocked 192\.0\.2\.1<\/h1>/)
  assert.match(preview.headers.get('content-security-policy')!, /^sandbox; /)
  assert.equal((await ask('GET', '/client/v4/zones/main/error_pages')).json.result.length, 0)
  assert.match((await send(`${page}/edit/preview`, { html: ' ' })).text, /Choose a file, or write HTML\./)
  const set = await send(`${page}/edit`, { html: '' }, text)
  assert.equal(set.status, 303)
  assert.match((await set.follow()).text, /The page is served from now on\./)
  const kept = await ask('GET', '/client/v4/zones/main/error_pages/ip_block')
  assert.equal(kept.json.result.html, text)
  assert.ok((await get(`${page}/edit`)).body.includes(escaped('<script>alert(1)</script>')))
  for (const path of [page, `${base}/errors/zones/main`]) assert.doesNotMatch((await get(path)).body, /alert/)
  const removal = await get(`${page}/delete`)
  await ask('PUT', '/client/v4/zones/main/error_pages/ip_block', { body: 'other', headers: asHtml })
  const stale = await send(`${page}/edit`, { html: 'mine' })
  assert.equal(stale.status, 412)
  assert.match(stale.text, /Somebody else changed this/)
  const again = await removal.submit(`${page}/delete`)
  assert.equal(again.status, 412)
  assert.equal((await ask('GET', '/client/v4/zones/main/error_pages/ip_block')).json.result.html, 'other')
  const removed = await again.submit(`${page}/delete`)
  assert.match((await removed.follow()).text, /The page was removed\./)
  assert.equal((await ask('GET', '/client/v4/zones/main/error_pages')).json.result.length, 0)
})

test('an error page that cannot be served says why, with its text kept', async t => {
  const { base, submit } = await openDashboard(t)
  const path = `${base}/errors/zones/main/pages/500_errors/edit`
  assert.match((await submit(path, { html: ' ' })).body, /id="file-fault">Choose a file, or write HTML\./)
  const many = await submit(path, { html: `mine ${'::RAY_ID::'.repeat(1001)}` })
  assert.equal(many.status, 422)
  assert.match(many.body, /id="html-fault">[^<]*must have at most 1000 tokens/)
  assert.match(many.body, />\nmine ::RAY_ID::/)
})

test('a form is taken beside its page only where that says so', async t => {
  const { base, get, visitor } = await openDashboard(t)
  const edit = `${base}/errors/zones/main/pages/ip_block/edit`
  const { form_token } = (await get(edit)).hidden(edit)
  const { form_token: other } = (await get(`${base}/tokens/new`)).hidden(`${base}/tokens/new`)
  assert.equal((await visitor.post(`${edit}/preview`, { form_token: form_token!, html: 'x' })).status, 200)
  assert.equal((await visitor.post(`${edit}/preview`, { form_token: other!, html: 'x' })).status, 403)
  assert.equal(
    (await visitor.post(`${base}/errors/zones/main/pages/ip_block/delete`, { form_token: form_token! }))
      .status,
    403,
  )
})

test('a user with read permission sees rules and pages, and no controls to change them', async t => {
  const site = await openDashboard(t, 'Administrator Read Only')
  const { base, get, ask } = site
  await ask('POST', '/client/v4/zones/main/error_rules', { body: { ...rule, status_code: null } })
  const [{ id }] = await rulesOf(site)
  const zone = `${base}/errors/zones/main`
  for (const path of [zone, `${zone}/rules/${id}`, `${zone}/pages/ip_block`]) {
    const { status, text } = await get(path)
    assert.equal(status, 200)
    assert.doesNotMatch(text, /Add a rule|Edit|Delete|Upload|Replace|Remove/, path)
  }
})

test('each kind of page is listed, with an error that it is for', async t => {
  const { get, base } = await openDashboard(t)
  assert.deepEqual(
    pageTypes.map(({ type }) => type),
    errorPageTypes,
  )
  for (const { type, sample } of pageTypes) {
    const page = await get(`${base}/errors/zones/main/pages/${type}`)
    assert.match(page.text, new RegExp(`For error ${sample}, from the page of Gatehouse`))
  }
})

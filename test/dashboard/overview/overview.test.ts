import assert from 'node:assert/strict'
import { test } from 'node:test'
import { slotOf } from '../../../src/store/records/tally.ts'
import { entryWith, keepEntries } from '../../admin/ai-logs/log-entries.ts'
import { oauthClient } from '../../store/contract-specimens.ts'
import { hostile } from '../fixtures.ts'
import { openDashboard } from '../site.ts'

test('the overview shows what the zones served, their errors and origins, and how the store is', async t => {
  const { get, base, metrics, kept, clock } = await openDashboard(t)
  assert.match((await get(base)).text, /No zone of this account has served a request since/)
  for (const status of [200, 200, 404, 503]) metrics.edge.zone('main').request(status, 5)
  const now = clock.now()
  const error = { kind: 'error', slot: slotOf('error', now), last: now, occurrences: [] } as const
  await kept.tallies.add([
    { ...error, scope: 'zone main', name: '1020', count: 1234 },
    { ...error, scope: 'zone main', name: '502', count: 5 },
  ])
  const page = await get(base)
  assert.equal(page.status, 200)
  assert.match(page.text, /main 4 4 1 \(25\.0 %\) 1 \(25\.0 %\)/)
  assert.match(page.text, /Requests by hour 4 .*Successes 2 4xx 1 5xx 1/)
  assert.doesNotMatch(page.text, /Others/)
  metrics.edge.zone('main').request(700, 5)
  assert.match((await get(base)).text, /Requests by hour 5 .*Successes 2 4xx 1 5xx 1 Others 1/)
  for (let i = 0; i < 3; i++) metrics.edge.zone('main').preview(5)
  const previewed = (await get(base)).text
  assert.match(previewed, /main 5 5 1 \(20\.0 %\) 1 \(20\.0 %\)/)
  assert.match(previewed, /Requests by hour 8 .*5xx 1 Error previews 3 Others 1/)
  assert.match(page.text, /1020 Access denied main 1,234 .*502 Bad gateway main 5/)
  assert.match(page.text, /Down main 0 0 0 0 1 1/)
  assert.match(page.text, /Version 1\.2\.3 .*2 workers Store SQLite sqlite::memory:/)
  assert.match(page.text, /may lose writes Everything is kept in memory/)
  assert.match(page.body, new RegExp(`href="${base}/errors\\?zone=main&#38;code=1020"`))
  assert.match(page.body, new RegExp(`href="${base}" aria-current="page"`))
})

test('the overview shows what the AI gateways were called, and leads to their charts', async t => {
  const { get, base, kept, clock } = await openDashboard(t)
  assert.doesNotMatch((await get(base)).text, /AI calls/)
  const createdAt = clock.now()
  const saved = { tokensIn: 1_000, tokensOut: 500, cost: 0.5 }
  await keepEntries(kept, [
    entryWith(1, { createdAt, cost: 0.25 }),
    entryWith(2, { createdAt, success: false }),
    entryWith(3, { createdAt, cost: 0, tokensIn: 0, tokensOut: 0, cached: true, saved }),
  ])
  let page = await get(base)
  while (!page.text.includes('AI calls') || page.text.includes('being summed up')) page = await get(base)
  assert.match(
    page.text,
    /AI calls Of the last .* default 3 1 \(33\.3 %\) 60 \$0\.25 and 1 unknown \$0\.50 1,500 tokens, 1 call/,
  )
  assert.match(page.text, /AI calls by hour 3 Successful 2 Errors 1/)
  assert.match(page.body, new RegExp(`href="${base}/gateways/default/logs/charts"`))
})

test('the overview says what waits for the export of log entries, and why', async t => {
  const { get, base, logExport, clock } = await openDashboard(t)
  assert.doesNotMatch((await get(base)).text, /Log export/)
  const nothing = { entries: 0, bytes: 0, oldest: null }
  logExport.state = { waiting: nothing, failure: null, maxDisk: 1e9 }
  assert.match((await get(base)).text, /Log export nothing waits/)
  logExport.state = {
    waiting: { entries: 1234, bytes: 40_000, oldest: clock.now() },
    failure: { since: clock.now(), message: `status 500: ${hostile}`, isPermanent: false },
    maxDisk: 1e9,
  }
  const { text, body } = await get(base)
  assert.match(
    text,
    /Log export failing since .*: status 500: .* 1,234 entries wait \(40 KiB\), the oldest since /,
  )
  assert.equal(body.includes(hostile), false)
  logExport.state = { waiting: null, failure: null, maxDisk: 1e9 }
  assert.match((await get(base)).text, /Log export sent by another process on this machine/)
})

test('findings come first on the overview, each with a link to the page that fixes it', async t => {
  const { get, base, keepToken, clock } = await openDashboard(t)
  const { token } = await keepToken(['API Tokens Read'], {
    name: hostile,
    expiresOn: clock.now() + 3_600_000,
  })
  const page = await get(base)
  assert.match(page.text, /Critical All origins of the pool shop get no requests/)
  assert.match(page.text, /Warning The API token .* expires in 60 minutes\. Open/)
  assert.match(page.body, new RegExp(`href="${base}/tokens/${token.id}"`))
  assert.ok(!page.body.includes(hostile))
  assert.ok(page.text.indexOf('Critical') < page.text.indexOf('Warning'))
  assert.ok(page.text.indexOf('Warning') < page.text.indexOf('First steps'))
})

test('the overview shows no more than the roles of its viewer do', async t => {
  const { get, base } = await openDashboard(t, 'OAuth Client Write')
  const page = await get(base)
  assert.equal(page.status, 200)
  assert.match(page.text, /First steps.* Needs attention Nothing: all is well\./)
  assert.doesNotMatch(page.text, /Requests|Origins|Errors|Store|Version/)
})

test('the overview of an account that is another one leads nowhere', async t => {
  const { get } = await openDashboard(t)
  assert.equal((await get(`/dashboard/${'9'.repeat(32)}`)).status, 404)
})

test('every section is current on its own pages only', async t => {
  const { get, base } = await openDashboard(t)
  const { body } = await get(`${base}/tokens`)
  assert.deepEqual(
    [...body.matchAll(/href="([^"]*)" aria-current/g)].map(([, path]) => path),
    [`${base}/tokens`],
  )
})

test('first steps tick themselves off by what is there, and are gone once all are done', async t => {
  const site = await openDashboard(t)
  const { get, base, kept, edge, ask, user, account, clock, metrics, addPerson, submit, people, visitor } =
    site
  const left = async () =>
    Array.from(
      (await get(base)).body.matchAll(/<span class="todo"[^>]*><\/span>([^<]*)</g),
      ([, title]) => title,
    )
  await ask('PUT', '/ai-gateway/gateways/default', {
    body: { ...(await ask('GET', '/ai-gateway/gateways/default')).json.result, authentication: false },
  })
  const all = [
    'Set up a provider',
    'Call a model',
    'Ask callers for a token',
    'Turn on two-step sign-in',
    'Invite a colleague',
    'Register an app',
    'Serve a site',
  ]
  assert.deepEqual(await left(), all)
  assert.match((await get(base)).text, /First steps 0 of 7 done/)
  const { body } = await get(base)
  for (const path of [
    'gateways',
    'gateways/default/authentication',
    'members/new',
    'oauth-clients/new',
    'zones',
  ])
    assert.match(body, new RegExp(`href="${base}/${path}"`))
  assert.match(body, new RegExp(`<a class="button plain small" href="${base}/providers">Providers</a>`))
  const provider = {
    name: 'openai',
    model: 'gpt-4o-mini',
    path: '/chat/completions',
    speaks: 'openai',
  } as const
  const send = () => Promise.reject(new Error('Nobody there.'))
  edge.entrance = { origin: 'http://ai.test', provider: { ...provider, hasKey: true }, aliases: [], send }
  assert.deepEqual(await left(), all.slice(1))
  await keepEntries(kept, [entryWith(1, { createdAt: clock.now() })])
  assert.deepEqual(await left(), all.slice(2))
  await submit(`${base}/gateways/default/authentication`, { to: 'on' })
  assert.deepEqual(await left(), all.slice(3))
  const { record, version } = (await kept.users.get('people', user.id))!
  const totp = { sealed: '', lastStep: 0, recoveryCodes: [], confirmedAt: clock.now() }
  const twice = { ...record, totp }
  await kept.users.replace(twice, version)
  const proof = { method: 'password', secondFactor: true, at: clock.now() } as const
  const begun = await people.sessions.begin(twice, proof, {
    address: '127.0.0.1',
    userAgent: null,
    ray: '0123456789abcdef',
  })
  visitor.cookies.set('gatehouse', begun.value)
  assert.deepEqual(await left(), all.slice(4))
  await addPerson('Administrator')
  assert.deepEqual(await left(), all.slice(5))
  await kept.oauthClients.insert(oauthClient({ account }))
  assert.deepEqual(await left(), all.slice(6))
  assert.match((await get(base)).text, /First steps 6 of 7 done .*Done: Register an app Serve a site/)
  metrics.edge.zone('main').request(200, 5)
  assert.doesNotMatch((await get(base)).text, /First steps/)
})

test('a person who hides the first steps sees them no more, and others do', async t => {
  const { get, base, addPerson, signIn, kept, user } = await openDashboard(t)
  const reader = await signIn(await addPerson('Administrator Read Only'))
  assert.match((await reader.get(base)).text, /0 of 2 done Turn on two-step sign-in .* Serve a site/)
  assert.equal((await get(`${base}/first-steps/hide`)).status, 405)
  const page = await get(base)
  const hidden = await page.submit(`${base}/first-steps/hide`)
  assert.equal(hidden.status, 303)
  assert.doesNotMatch((await hidden.follow()).text, /First steps/)
  assert.match((await reader.get(base)).text, /First steps/)
  await page.submit(`${base}/first-steps/hide`)
  assert.equal((await kept.users.get('people', user.id))!.record.hiddenFirstSteps?.length, 1)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { slotOf } from '../../../src/store/tally.ts'
import { entryWith, keepEntries } from '../../admin/ai-logs/log-entries.ts'
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
  await keepEntries(kept, [
    entryWith(1, { createdAt, cost: 0.25 }),
    entryWith(2, { createdAt, success: false }),
  ])
  let page = await get(base)
  while (!page.text.includes('AI calls') || page.text.includes('being summed up')) page = await get(base)
  assert.match(page.text, /AI calls Of the last .* default 2 1 \(50\.0 %\) 60 \$0\.25 and 1 unknown/)
  assert.match(page.text, /AI calls by hour 2 Successful 1 Errors 1/)
  assert.match(page.body, new RegExp(`href="${base}/gateways/default/logs/charts"`))
})

test('what needs attention comes first, with the page where it is mended', async t => {
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
})

test('the overview shows no more than the roles of its viewer do', async t => {
  const { get, base } = await openDashboard(t, 'OAuth Client Write')
  const page = await get(base)
  assert.equal(page.status, 200)
  assert.match(page.text, /Needs attention Nothing: all is well\./)
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

test('a new account says where to begin, as far as its viewer may, until it has something', async t => {
  const { get, base, keepToken, signIn, addPerson } = await openDashboard(t)
  const begin =
    /Where to begin Register an app .* Create a client Protect calls .* AI gateways .* Zones .* Invite /
  assert.match((await get(base)).text, begin)
  const reader = await signIn(await addPerson('Administrator Read Only'))
  assert.match((await reader.get(base)).text, /Where to begin Protect calls .* Zones Needs attention/)
  for (const name of ['first', 'second']) await keepToken(['API Tokens Read'], { name })
  assert.doesNotMatch((await get(base)).text, /Where to begin/)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PoolState } from '../../../src/admin/facts/zone-facts.ts'
import { zoneWith } from '../../admin/zones/zones.ts'
import { hostile, mcpTallies } from '../fixtures.ts'
import { openDashboard } from '../site.ts'
import { furnishZone } from './zone.ts'
import { tokenWith } from '../../tokens/token-with.ts'

test('the zones of the account are listed, and found by their names', async t => {
  const { base, get, given } = await openDashboard(t)
  given.configs.push(
    zoneWith({ name: 'blog', hosts: ['a.test', 'b.test', 'c.test', 'd.test'], paused: true }),
  )
  given.configs.push(zoneWith({ name: 'theirs', account: '9'.repeat(32) }))
  const list = await get(`${base}/zones`)
  assert.match(list.text, /blog paused a\.test, b\.test, c\.test and 1 more 0 0 main active \*\.main\.test/)
  assert.doesNotMatch(list.text, /theirs/)
  const found = await get(`${base}/zones?name=LO`)
  assert.match(found.text, /blog/)
  assert.doesNotMatch(found.text, /main active/)
  assert.match((await get(`${base}/zones?name=none`)).text, /Nothing found/)
  given.configs = []
  assert.match((await get(`${base}/zones`)).text, /No zones in this account/)
})

test('a zone is shown with its settings as they are in effect', async t => {
  const { base, get, given } = await openDashboard(t)
  furnishZone(given, 'shop')
  const { text } = await get(`${base}/zones/main`)
  for (const words of [
    'paused default These settings are in the configuration file.',
    '*.main.test shop It also serves each host that no other zone has.',
    'Where none matches deny',
    'Ban for 10m, after 5 refusals within 1m',
    'Rate limits burst',
    'Quota 1,000 a day, 20,000 a month',
    '/shop shop shop at most 100MiB connect 5s',
    'path: "shop"; sets shop; sets shop in responses; follows 1 redirect; limits: route',
    'by the header shop',
    'shop every 10s, for at most 1s; down after 3 failures, up after 1 success',
  ])
    assert.ok(text.includes(words), `${words}: ${text}`)
})

test('origins are shown with what there is to know of each', async t => {
  const { base, get, given } = await openDashboard(t)
  const page = await get(`${base}/zones/main/origins`)
  assert.match(page.body, /id="origins" data-live="5"/)
  for (const words of [
    'shop for /, /cart No origin of this pool is healthy.',
    'http://10.0.0.1:9000 weight 2, 0% of it now down since 1 Jan 2026, 00:00 UTC ECONNREFUSED after 1.5 ms',
    'ejected since 1 Jan 2026, 00:00 UTC, until 1 Jan 2026, 00:00 UTC no active checks',
    '0 requests under way 0 connections 5 in a row ejected 2 times',
  ])
    assert.ok(page.text.includes(words), `${words}: ${page.text}`)
  const [{ origins, ...shop }] = given.pools as [PoolState]
  for (const [state, isNotice, kind] of [
    ['unchecked', false, ''],
    ['failing', true, 'bad'],
  ] as const) {
    given.pools = [{ ...shop, origins: [{ ...origins[0]!, state, consecutive_failures: 5, share: 1 }] }]
    const { body, text } = await get(`${base}/zones/main/origins`)
    assert.equal(text.includes('No origin of this pool is healthy.'), isNotice, state)
    assert.ok(body.includes(`<span class="tag ${kind}">${state}</span>`), body)
    assert.match(text, /5 in a row/)
  }
  given.pools = []
  assert.match((await get(`${base}/zones/main/origins`)).text, /No origins/)
})

test('certificates are shown with what they are good for, and why the next one is missing', async t => {
  const { base, get, given } = await openDashboard(t)
  furnishZone(given, 'shop')
  const { text } = await get(`${base}/zones/main/certificates`)
  for (const words of [
    '*.main.test from a file valid CN=shop for shop, a, b, c and 2 more issued by shop 1 Jan 2026, 00:00 UTC',
    'shop automatic failing shop 1 Jan 2026, 00:00 UTC, 2 times in a row none - next order: 1 Jan 2026, 00:00 UTC',
  ])
    assert.ok(text.includes(words), `${words}: ${text}`)
  const [file, failing] = given.certificates
  given.certificates = [
    { ...failing!, host: 'a.test', state: 'ordering', nextAt: null, lastError: null },
    { ...failing!, host: 'b.test', source: null, state: 'missing', lastError: null },
    { ...file!, host: 'c.test', certificate: { ...file!.certificate!, subject: '', names: ['c.test'] } },
    ...Array.from({ length: 30 }, (_, i) => ({ ...file!, host: `${i}.test` })),
  ]
  const many = await get(`${base}/zones/main/certificates`)
  assert.match(
    many.text,
    /a\.test automatic ordering none - next order: under way b\.test not served over https missing none -/,
  )
  assert.match(many.text, /c\.test from a file valid c\.test issued by shop/)
  assert.match(many.text, /1 to 20 of 33/)
  assert.match((await get(`${base}/zones/main/certificates?page=2`)).text, /29\.test from a file/)
})

test('limits are shown with who is near them', async t => {
  const { base, get, given } = await openDashboard(t)
  assert.match((await get(`${base}/zones/main/limits`)).text, /No limits/)
  furnishZone(given, 'X-Tenant')
  const { text } = await get(`${base}/zones/main/limits`)
  for (const words of [
    'burst Allows 10 in 1m Counts requests to this zone Separately by header X-Tenant and address',
    'header X-Tenant X-Tenant, address 192.0.2.1 9 9 of 10 1 60 s',
    'route Allows 10 in 1m Counts requests below /shop',
    'main:day Allows 1,000 a day (UTC)',
    'Nothing was counted lately.',
  ])
    assert.ok(text.includes(words), `${words}: ${text}`)
})

test('a zone of another account is not there, whatever the person may see elsewhere', async t => {
  const { base, account, get, given, signIn, addAccount, addPerson, join } = await openDashboard(t)
  const other = await addAccount('other')
  given.configs.push(zoneWith({ name: 'theirs', account: other }))
  const person = await addPerson('Super Administrator', {}, other)
  await join(person, 'Super Administrator', account)
  const visitor = await signIn(person)
  assert.equal((await visitor.get(`/dashboard/${other}/zones/theirs`)).status, 200)
  for (const page of ['', '/limits', '/origins', '/certificates']) {
    assert.equal((await visitor.get(`${base}/zones/theirs${page}`)).status, 404, page)
    assert.equal((await get(`${base}/zones/theirs${page}`)).status, 404, page)
    assert.equal((await get(`${base}/zones/none${page}`)).status, 404, page)
  }
})

test('texts of others never become markup', async t => {
  const { base, get, given } = await openDashboard(t)
  furnishZone(given, hostile)
  for (const page of ['', '/main', '/main/limits', '/main/origins', '/main/certificates']) {
    const { status, body, text } = await get(`${base}/zones${page}`)
    assert.equal(status, 200)
    assert.ok(!body.includes('<img src=x'), page)
    assert.ok(text.includes(hostile), page)
  }
})

test('what MCP servers were asked is shown by tool and by caller, and what was refused', async t => {
  const { base, get, given, kept, clock } = await openDashboard(t)
  assert.match((await get(`${base}/zones/main/mcp`)).text, /No MCP servers/)
  furnishZone(given, 'shop')
  assert.match(
    (await get(`${base}/zones/main/mcp`)).text,
    /\/mcp Nothing was asked of it in the last 24 hours/,
  )
  await kept.tallies.add(mcpTallies('/mcp', clock.now(), 'search'))
  const { text } = await get(`${base}/zones/main/mcp`)
  const [route] = given.configs[0]!.routes.filter(({ mcp }) => mcp != null)
  given.configs[0] = zoneWith({ routes: [route!, { ...route!, path: '/a?b' }] })
  assert.match(
    (await get(`${base}/zones/main/mcp?route=/a%3Fb`)).text,
    /\/a\?b Other routes: \/mcp Nothing was asked/,
  )
  for (const words of [
    'search tools/call 1,200 0 3 0 125ms tools/list 7 0 0 0 under 1ms other tools/call 0 5 0 0',
    'Caller Answered Refused Failed Cancelled search 1,207 5 0 0',
    'Refused Reason Messages other tools/call MCP rule 1 5',
  ])
    assert.ok(text.includes(words), `${words}: ${text}`)
})

test('callers of MCP servers are shown by the names of members and tokens', async t => {
  const site = await openDashboard(t)
  const { base, account, given, kept, clock, user, addPerson } = site
  furnishZone(given, 'shop')
  const { token } = tokenWith({ name: 'nightly' })
  await kept.tokens.insert(token)
  const stranger = await addPerson(null)
  const subjects = [`user:${user.id}`, `user:${stranger.id}`, `token:${token.id}`, 'token:x']
  for (const subject of subjects) await kept.tallies.add(mcpTallies('/mcp', clock.now(), subject))
  const { text, body } = await site.get(`${base}/zones/main/mcp`)
  for (const name of [user.email, `user:${stranger.id}`, 'nightly', 'token:x'])
    assert.ok(text.includes(`${name} 1,207 5 0 0`), `${name}: ${text}`)
  assert.ok(body.includes(`/dashboard/${account}/tokens/${token.id}"`))
})

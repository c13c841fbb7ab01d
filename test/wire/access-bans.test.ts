// Clients that run into refusals again and again, and how long that shuts them out.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type {
  AccessCondition,
  AccessConfig,
  AccessRule,
  BanConfig,
} from '../../src/config/model/access-config.ts'
import type { Config } from '../../src/config/model/config.ts'
import { ManualClock, patient } from '../help/clock.ts'
import { codeOf, Edge, edgeConfig, type EdgeSettings, listenAt, openAccess, zoneTo } from '../help/edge.ts'
import { ok, startResponder } from '../help/origin.ts'

const ban: BanConfig = { refusals: 3, within: 10_000, lasts: 60_000 }
const noAdmin: AccessRule = {
  action: 'deny',
  condition: { kind: 'path', prefixes: ['/admin'] },
  description: null,
}

test('too many refusals ban an address for a while, and no other', async t => {
  const { ask, edge, clock } = await start(t, { zone: { rules: [noAdmin], ban } })
  for (let i = 0; i < 3; i++) assert.equal(await ask('127.0.0.8', '/admin'), 1020)
  assert.equal(await ask('127.0.0.8', '/'), 1012)
  assert.equal(await ask('127.0.0.9', '/'), 200)
  assert.equal(edge.accesses.find(({ error }) => error === 'malicious_activity_banned')!.cause, 'ban of site')
  assert.equal(edge.metrics.access.banned.value, 1)
  assert.equal(edge.metrics.access.activeBans!(), 1)
  clock.advance(60_000)
  assert.equal(await ask('127.0.0.8', '/'), 200)
  assert.equal(edge.metrics.access.activeBans!(), 0)
})

test('refusals that are far apart ban nobody', async t => {
  const { ask, clock } = await start(t, { zone: { rules: [noAdmin], ban } })
  for (let i = 0; i < 8; i++) {
    assert.equal(await ask('127.0.0.8', '/admin'), 1020)
    clock.advance(5_000)
  }
  assert.equal(await ask('127.0.0.8', '/'), 200)
})

test('refusals during a ban do not extend it', async t => {
  const { ask, clock } = await start(t, { zone: { rules: [noAdmin], ban } })
  for (let i = 0; i < 3; i++) await ask('127.0.0.8', '/admin')
  for (let i = 0; i < 6; i++) {
    assert.equal(await ask('127.0.0.8', '/admin'), 1012)
    clock.advance(10_000)
  }
  assert.equal(await ask('127.0.0.8', '/'), 200)
})

test('a default that denies counts, a legal block and a rule that fails do not', async t => {
  const legal: AccessRule = { ...noAdmin, action: 'legal' }
  const failing: AccessRule = {
    action: 'deny',
    condition: { kind: 'expression', text: 'request.path == "/fail" && request.headers["x"][0] == "y"' },
    description: null,
  }
  const { ask } = await start(t, { zone: { rules: [legal, failing], otherwise: 'deny', ban } })
  for (let i = 0; i < 5; i++) assert.equal(await ask('127.0.0.8', '/admin'), 1026)
  for (let i = 0; i < 5; i++) assert.equal(await ask('127.0.0.8', '/fail'), 1052)
  for (let i = 0; i < 3; i++) assert.equal(await ask('127.0.0.8', '/'), 1050)
  assert.equal(await ask('127.0.0.8', '/'), 1012)
})

test('a client is not banned for what the page of another site embeds', async t => {
  const condition: AccessCondition = { kind: 'referer_not', hosts: ['site.test'] }
  const { ask, edge } = await start(t, { zone: { rules: [{ ...noAdmin, condition }], ban } })
  for (let i = 0; i < 5; i++)
    assert.equal(await ask('127.0.0.8', '/logo.png', 'site.test', 'Referer: https://other.test/'), 1011)
  assert.equal(await ask('127.0.0.8', '/'), 200)
  assert.equal(edge.metrics.access.activeBans!(), 0)
})

test('a ban of a zone applies in that zone only, one of all zones counts and applies in each', async t => {
  const zones = [{ name: 'other', hosts: ['other.test'], access: { ...openAccess, rules: [noAdmin] } }]
  const own = await start(t, { zone: { rules: [noAdmin], ban }, zones })
  for (let i = 0; i < 3; i++) await own.ask('127.0.0.8', '/admin')
  assert.equal(await own.ask('127.0.0.8', '/'), 1012)
  assert.equal(await own.ask('127.0.0.8', '/', 'other.test'), 200)

  const all = await start(t, { all: { ban }, zone: { rules: [noAdmin] }, zones })
  for (let i = 0; i < 2; i++) await all.ask('127.0.0.8', '/admin')
  await all.ask('127.0.0.8', '/admin', 'other.test')
  assert.equal(await all.ask('127.0.0.8', '/'), 1012)
  assert.equal(await all.ask('127.0.0.8', '/', 'other.test'), 1012)
})

test('a client that the rules of all zones allow is not banned by a zone', async t => {
  const office: AccessRule = {
    action: 'allow',
    condition: { kind: 'ip', networks: ['127.0.0.8'] },
    description: null,
  }
  const { ask } = await start(t, { all: { rules: [office] }, zone: { rules: [noAdmin], ban } })
  for (let i = 0; i < 5; i++) assert.equal(await ask('127.0.0.8', '/admin'), 200)
})

test('an IPv6 client is banned with all addresses of its network of 64 bits', async t => {
  const { ask } = await start(t, { zone: { rules: [noAdmin], ban }, trustedProxies: ['127.0.0.1'] })
  const from = (address: string, target: string) =>
    ask('127.0.0.1', target, 'site.test', `X-Forwarded-For: ${address}`)
  for (let i = 0; i < 3; i++) assert.equal(await from(`2001:db8::${i}`, '/admin'), 1020)
  assert.equal(await from('2001:db8::9', '/'), 1012)
  assert.equal(await from('2001:db8:0:1::9', '/'), 200)
})

test('a ban outlives a reload, unless that changes it', async t => {
  const { ask, edge, config } = await start(t, { zone: { rules: [noAdmin], ban } })
  for (let i = 0; i < 3; i++) await ask('127.0.0.8', '/admin')
  edge.reload({ ...config })
  assert.equal(await ask('127.0.0.8', '/'), 1012)
  const [site] = config.zones
  const access = { ...site!.access, ban: { ...ban, refusals: 4 } }
  edge.reload({ ...config, zones: [{ ...site!, access }] })
  assert.equal(await ask('127.0.0.8', '/'), 200)
})

test('a reload that fails lifts no ban, though it would have changed it', async t => {
  const { ask, edge, config } = await start(t, { zone: { rules: [noAdmin], ban } })
  for (let i = 0; i < 3; i++) await ask('127.0.0.8', '/admin')
  const [site] = config.zones
  const zones = [{ ...site!, access: { ...site!.access, ban: { ...ban, refusals: 4 } } }]
  assert.throws(() => edge.reload({ ...config, zones, trustedProxies: ['nonsense'] }))
  edge.reload({ ...config })
  assert.equal(await ask('127.0.0.8', '/'), 1012)
})

interface Rules extends Pick<EdgeSettings, 'trustedProxies'> {
  readonly all?: Partial<AccessConfig>
  readonly zone?: Partial<AccessConfig>
  readonly zones?: readonly Partial<Config['zones'][number]>[]
}

async function start(t: TestContext, { all = {}, zone, zones = [], trustedProxies = [] }: Rules) {
  const clock = new ManualClock()
  const origin = await startResponder(t, ok())
  const config = edgeConfig([origin.url], {
    ...patient,
    access: all,
    zone: { access: { ...openAccess, ...zone } },
    zones: zones.map(other => zoneTo([origin.url], { zone: other })),
    trustedProxies,
  })
  const edge = await listenAt(t, new Edge(t, config, { clock }))
  /** Tells the code of the error, or 200. */
  const ask = async (from: string, target: string, host = 'site.test', field = '') => {
    const client = await edge.connect(from)
    await client.send(
      `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nAccept: application/json\r\n${field && `${field}\r\n`}\r\n`,
    )
    const answer = await client.response()
    client.leave()
    return answer.status === 200 ? 200 : codeOf(answer)
  }
  return { ask, edge, clock, config }
}

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { LimitsWatch } from '../../src/limits/limits-watch.ts'
import { createLogger } from '../../src/log/log.ts'
import type { Peers } from '../../src/store/contract/store.ts'
import { startGateway } from '../help/gateway.ts'
import { startRedis } from '../help/redis.ts'
import { until } from '../help/until.ts'
import { openRedis } from '../store/redis/open.ts'

const period = 100
const grace = 1_500
const writes = { limit: 1_200, period: 300_000 }

type Config = ConstructorParameters<typeof LimitsWatch>[0]

/** A configuration with a rule for everybody, one of a route, and a quota. */
function configOf(most: number, ofRoute = 5, day: number | null = null): Config {
  const rule = (name: string, limit: number) => ({
    name,
    limit,
    period: 60_000,
    key: [],
    when: null,
    action: 'block' as const,
  })
  const zone = {
    name: 'shop',
    rateLimits: [],
    quota: { day, month: null },
    routes: [{ rateLimits: [rule('login', ofRoute)] }],
  }
  return { rateLimits: [rule('all', most)], zones: [zone], management: { writes } } as unknown as Config
}

async function machine(t: TestContext, url: string, name: string, config: Config) {
  const lines: Record<string, unknown>[] = []
  const log = createLogger('info', { write: line => lines.push(JSON.parse(line)) })
  const store = await openRedis(t, url)
  let heard: readonly string[] = []
  const exchange: Peers['exchange'] = async (...said) => {
    const found = await store.peers!.exchange(...said)
    heard = [...found.values()]
    return found
  }
  const watch = new LimitsWatch(config, { store: { peers: { exchange } }, log, period, grace })
  watch.start(name)
  t.after(() => watch.close())
  const told = () =>
    lines.map(({ level, msg, rule, limits }) => ({ level, msg, rule, ...(limits ? { limits } : {}) }))
  /** Whether it heard of a limit when it last looked. */
  const hears = (limit: string) => heard.some(words => words.includes(limit))
  return { watch, store, told, hears }
}

test('different limits for one rule are reported once by each machine, and again once there is one limit', async t => {
  const { url } = await startRedis(t)
  const begin = performance.now()
  const one = await machine(t, url, 'one:1', configOf(10, 5, 100))
  const two = await machine(t, url, 'two:1', configOf(20, 5, 200))
  const three = await machine(t, url, 'three:1', configOf(20, 5))
  const all = [one, two, three]
  await until(() => all.every(({ watch }, at) => watch.differences.length === [2, 2, 1][at]))
  assert.ok(performance.now() - begin >= grace)
  const said = (limit: string, ...machines: string[]) => ({ limit, machines })
  const ofAll = { rule: 'all', limits: [said('10 in 1m', 'one:1'), said('20 in 1m', 'three:1', 'two:1')] }
  const ofQuota = { rule: 'quota of shop per day', limits: [said('100', 'one:1'), said('200', 'two:1')] }
  assert.deepEqual(
    all.map(({ watch }) => watch.differences),
    [[ofAll, ofQuota], [ofAll, ofQuota], [ofAll]],
  )
  const msg = 'machines on the store have different limits for a rule'
  assert.deepEqual(
    one.told(),
    [ofAll, ofQuota].map(difference => ({ level: 'warn', msg, ...difference })),
  )
  // Another value of a third machine is the same difference.
  three.watch.reload(configOf(30))
  await until(() => one.watch.differences[0]!.limits.length === 3)
  assert.equal(one.told().length, 2)
  for (const { watch } of all) watch.reload(configOf(20))
  await until(() => all.every(({ watch }) => watch.differences.length === 0))
  const over = 'machines on the store have one limit for a rule again'
  // The quota may end a look before the rule, as the machines speak one after the other.
  const ends = one.told().slice(2)
  assert.deepEqual(
    ends.toSorted((a, b) => (String(a.rule) < String(b.rule) ? -1 : 1)),
    ['all', 'quota of shop per day'].map(rule => ({ level: 'info', msg: over, rule })),
  )
})

test('machines that are reloaded one after the other report nothing, and nor does the next generation of a machine', async t => {
  const { url } = await startRedis(t)
  const one = await machine(t, url, 'one:1', configOf(10))
  const two = await machine(t, url, 'two:1', configOf(10))
  one.watch.reload(configOf(20))
  await until(() => two.hears('20 in 1m') && two.hears('10 in 1m'))
  await one.watch.close()
  const next = await machine(t, url, 'one:1', configOf(30))
  await until(() => two.hears('30 in 1m') && two.hears('10 in 1m'))
  two.watch.reload(configOf(30))
  await until(() => [two, next].every(({ hears }) => !hears('10 in 1m')))
  await new Promise(resolve => setTimeout(resolve, 1.5 * grace))
  for (const { told, watch } of [one, two, next]) assert.deepEqual([told(), watch.differences], [[], []])
})

test('what another machine says is not taken for limits unless it is', async t => {
  const { url } = await startRedis(t)
  const one = await machine(t, url, 'one:1', configOf(10))
  const { peers } = await openRedis(t, url)
  for (const words of ['', '[', 'null', '7', '"all"', '{"all":7}', '{"all":{"a":1}}', '["all"]'])
    await peers!.exchange(`odd ${words}`, words, 60_000)
  await peers!.exchange('two:1', '{"all":"__proto__","__proto__":"1","toString":"2"}', 60_000)
  await until(() => one.watch.differences.length > 0)
  assert.deepEqual(one.watch.differences, [
    {
      rule: 'all',
      limits: [
        { limit: '10 in 1m', machines: ['one:1'] },
        { limit: '__proto__', machines: ['two:1'] },
      ],
    },
  ])
})

test('an outage of the store that outlasts what the machines said does not end a difference', async t => {
  const server = await startRedis(t)
  const one = await machine(t, server.url, 'one:1', configOf(10))
  const two = await machine(t, server.url, 'two:1', configOf(20))
  const both = [one, two]
  await until(() => both.every(({ watch }) => watch.differences.length > 0))
  await server.kill()
  await until(() => both.every(({ store }) => store.isUnreachable))
  const { port } = server
  await new Promise(resolve => setTimeout(resolve, 7 * period))
  // Nothing that the machines said is left.
  const { url } = await startRedis(t, { port })
  const { peers } = await openRedis(t, url)
  await until(async () => (await peers!.exchange('test', '{}', 60_000)).size === 3)
  await new Promise(resolve => setTimeout(resolve, 8 * period))
  for (const { watch, told } of both) {
    assert.equal(watch.differences.length, 1)
    assert.equal(told().length, 1)
  }
  // It does end once there is one limit.
  two.watch.reload(configOf(10))
  await until(() => both.every(({ told }) => told().length === 2))
})

test('a difference is over when the other machine has stopped', async t => {
  const { url } = await startRedis(t)
  const one = await machine(t, url, 'one:1', configOf(10))
  const two = await machine(t, url, 'two:1', configOf(20))
  await until(() => one.watch.differences.length > 0)
  await two.watch.close()
  await until(() => one.watch.differences.length === 0)
  assert.deepEqual(
    one.told().map(({ level, msg }) => [level, msg]),
    [
      ['warn', 'machines on the store have different limits for a rule'],
      ['info', 'machines on the store have one limit for a rule again'],
    ],
  )
})

test('a machine that stopped is forgotten after its time', async t => {
  const { url } = await startRedis(t)
  const { peers } = await openRedis(t, url)
  await peers!.exchange('gone', 'a', 200)
  assert.deepEqual([...(await peers!.exchange('here', 'b', 60_000))].toSorted(), [
    ['gone', 'a'],
    ['here', 'b'],
  ])
  await until(async () => !(await peers!.exchange('here', 'b', 60_000)).has('gone'))
})

test('a gateway that serves says its limits to the others, the new ones after a reload, and names none at the start', async t => {
  const { url } = await startRedis(t)
  const yaml = (rate: string) =>
    `zones: []\nstore: { url: '${url}' }\nrate_limits: [{ name: all, rate: ${rate} }]\n`
  const gateway = await startGateway(t, yaml('10/s'))
  const { peers } = await openRedis(t, url)
  const told = async () => [...(await peers!.exchange('test', '{}', 1_000)).values()].join()
  await until(async () => (await told()).includes('"all":"10 in 1s"'))
  assert.match(await told(), /"management writes":"\d+ in \w+"/)
  assert.match(await gateway.metrics(), /^gatehouse_rate_limits_differing 0$/m)
  gateway.rewrite(yaml('20/s'))
  gateway.signal('SIGHUP')
  await until(async () => (await told()).includes('"all":"20 in 1s"'))
})

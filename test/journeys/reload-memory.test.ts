// What reloads leave in a whole gateway: nothing, whatever the names of zones, pools and limits were.

import assert from 'node:assert/strict'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { main, type RunningGateway, spawnGateway, writeConfig } from '../help/gateway.ts'
import { readMetrics } from '../help/prometheus.ts'
import { until } from '../help/until.ts'

/** How many reloads are behind the first look, and how many follow: until the first, caches fill. */
const [first, more] = [20, 80]
/** Bytes that a reload may leave, and that the gateway may hold by chance. A configuration is larger than the former. */
const [each, chance] = [2_048, 256 * 1024]

/** Has V8 keep neither more nor less of code as time goes by, and collect garbage at SIGURG. */
const options = [
  '--expose-gc',
  '--no-opt',
  '--no-maglev',
  '--no-sparkplug',
  '--no-flush-bytecode',
  `--import=data:text/javascript,process.on('SIGURG',()=>gc())`,
]

function configOf(round: number): string {
  const pools = Array.from({ length: 20 }, (_, i) => `p${i}-${round}: {origins: ['http://127.0.0.1:9']}`)
  const zones = pools.map(
    (_, i) => `
  - name: z${i}-${round}
    hosts: [h${i}-${round}.test]
    access: {rules: [{deny: 'request.path.startsWith("/${round}/${i}")'}]}
    rate_limits: [{name: l${i}-${round}, rate: 100/s}]
    routes: [{path: /, pool: p${i}-${round}}]`,
  )
  return `pools: {${pools.join(', ')}}\nzones:${zones.join('')}\n`
}

async function start(t: TestContext): Promise<RunningGateway> {
  const file = writeConfig(t, configOf(0))
  const env = { ...process.env, GATEHOUSE_DATA: join(dirname(file), 'data') }
  return spawnGateway(t, [...options, main, 'start', '--config', file], { env }, file)
}

/** Reloads until so many reloads are counted, each with other names. */
async function reload(gateway: RunningGateway, count: number): Promise<void> {
  const done = () => gateway.lines.filter(({ msg }) => msg === 'configuration reloaded').length
  for (let round = done() + 1; round <= count; round++) {
    gateway.rewrite(configOf(round))
    gateway.signal('SIGHUP')
    await gateway.logged('configuration reloaded', () => done() >= round)
  }
}

/** Returns the bytes that the gateway holds once its garbage is collected, and the number of series of its own. */
async function look(gateway: RunningGateway): Promise<{ bytes: number; series: number }> {
  gateway.signal('SIGURG')
  const { samples } = readMetrics(await gateway.metrics())
  const bytes = ['nodejs_heap_size_used_bytes', 'nodejs_external_memory_bytes']
  const series = samples
    .keys()
    .filter(name => name.startsWith('gatehouse_'))
    .toArray().length
  return { bytes: bytes.reduce((sum, name) => sum + samples.get(name)!, 0), series }
}

test('a gateway holds as much after a hundred reloads with other names as after twenty', async t => {
  const gateway = await start(t)
  await reload(gateway, first)
  const before = await look(gateway)
  await reload(gateway, first + more)
  assert.equal((await look(gateway)).series, before.series)
  let growth = Number.POSITIVE_INFINITY
  // What is held for a moment goes.
  const isBounded = async () => {
    growth = Math.min(growth, (await look(gateway)).bytes - before.bytes)
    return growth < chance + more * each
  }
  await until(isBounded).catch(() => assert.fail(`${growth} bytes more`))
  t.diagnostic(`${Math.round(growth / more)} bytes for each reload`)
})

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../../../src/base/clock.ts'
import { createLogger } from '../../../src/log/log.ts'
import { Metrics } from '../../../src/metrics/metrics.ts'
import type { Config } from '../../../src/config/model/config.ts'
import { checkKeys } from '../../../src/edge/origin/health/health-checker.ts'
import type { Supervision } from '../../../src/process/workers/supervision.ts'
import { Supervisor } from '../../../src/process/workers/supervisor.ts'
import { ManualClock } from '../../help/clock.ts'
import { edgeConfig } from '../../help/edge.ts'
import { main, provokable, sources } from '../../help/gateway.ts'
import { quickFolder } from '../../help/quick-folder.ts'
import { startSite } from '../../help/site.ts'
import { thorough } from '../../help/thorough.ts'
import { turnsUntil } from '../../help/until.ts'

/** Of the package, where there is one, as in `main`: it starts in a third of the time. */
const program = main === sources ? undefined : join(dirname(main), 'edge-worker.js')

async function configFor(t: TestContext, answer: string): Promise<Config> {
  const origin = await startSite(t, (_, response) => response.end(answer))
  const config = edgeConfig([origin], { zone: { isDefault: true } })
  return { ...config, log: { ...config.log, access: false } }
}

interface Line {
  readonly msg: string
  readonly worker: number
  readonly stack: string | null
  readonly delay: number
}

/** Starts workers, by default two, whose site answers `old`, with a configuration that has it answer `new`. */
async function startWorkers(
  t: TestContext,
  count = 2,
  more: { readonly clock?: Clock; readonly supervision?: Partial<Supervision> } = {},
) {
  const [before, after] = await Promise.all([configFor(t, 'old'), configFor(t, 'new')])
  const metrics = new Metrics('0')
  const lines: Line[] = []
  const log = createLogger('error', { write: (line: string) => lines.push(JSON.parse(line)) })
  const sidePort = { endpoint: { host: '127.0.0.1', port: 1 }, issuer: null, secret: new Uint8Array(32) }
  // However busy the machine is, no reply is late.
  const supervision = { snapshotTimeout: 60_000, viewTimeout: 60_000, ...more.supervision }
  const means = {
    documentation: 'http://127.0.0.1/errors',
    sidePort,
    metrics,
    log,
    program,
    ...more,
    supervision,
  }
  const supervisor = new Supervisor(count, before, means)
  t.after(() => supervisor.destroy())
  const [endpoint] = await supervisor.listen()
  return { supervisor, metrics, lines, after, workers: children(), port: endpoint!.port }
}

/** Has all workers serve another configuration. */
async function reload(supervisor: Supervisor, config: Config): Promise<void> {
  const prepared = await supervisor.prepare(config)
  await prepared.commit([])
}

/** Lists the workers, in the order of their start. */
function children(): readonly number[] {
  const list = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')
  return list.trim().split(' ').map(Number)
}

/** Tells what is answered on so many connections, which the kernel spreads over the workers. */
async function answers(port: number, count = 24): Promise<ReadonlySet<string>> {
  const ask = () =>
    new Promise<IncomingMessage>((resolve, reject) =>
      get({ host: '127.0.0.1', port, agent: false }, resolve).on('error', reject),
    )
  return new Set(await Promise.all(Array.from({ length: count }, async () => text(await ask()))))
}

/** Asks the workers, in the order of their start: those that are stopped are late at once, the others never, however busy the machine is. */
function asking<Reply>(
  t: TestContext,
  isStopped: readonly boolean[],
  ask: () => Promise<Reply>,
): Promise<Reply> {
  let nth = 0
  const { mock } = t.mock.method(AbortSignal, 'timeout', () => {
    const late = new AbortController()
    if (isStopped[nth++]) setImmediate(() => late.abort())
    return late.signal
  })
  return ask().finally(() => mock.restore())
}

const question = {
  zone: 'site',
  account: '0'.repeat(32),
  method: 'GET',
  target: '/',
  host: 'site.test',
  headers: [],
  address: '203.0.113.7',
  body: null,
  bodySize: null,
  clientCertificate: null,
}

test('a worker that is replaced while another prepares a reload gets the new configuration too', async t => {
  const { supervisor, metrics, after, workers, port } = await startWorkers(t)
  const [slow, victim] = workers as [number, number]
  process.kill(slow, 'SIGSTOP')
  const reloaded = reload(supervisor, after)
  process.kill(victim, 'SIGKILL')
  await turnsUntil(() => metrics.workerRestarts.value === 1)
  process.kill(slow, 'SIGCONT')
  await reloaded
  await supervisor.snapshots()
  assert.deepEqual(await answers(port), new Set(['new']))
})

for (const hung of thorough([0, 1], [1])) {
  test(`a hung worker delays no reload: it is replaced by one with the new configuration (worker ${hung})`, async t => {
    const { supervisor, metrics, after, workers, port } = await startWorkers(t)
    process.kill(workers[hung]!, 'SIGSTOP')
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { mock: cleared } = t.mock.method(globalThis, 'clearTimeout')
    const reloaded = reload(supervisor, after)
    // The one that runs has prepared it once nobody waits for its reply any more.
    await turnsUntil(() => cleared.callCount() > 0)
    await turn()
    cleared.restore()
    t.mock.timers.tick(10_000)
    await reloaded
    // Its end comes in its own time: for those that run, mocked hours would pass meanwhile.
    await turnsUntil(() => !children().includes(workers[hung]!))
    await turnsUntil(() => {
      t.mock.timers.tick(200)
      return metrics.workerRestarts.value > 0
    })
    t.mock.timers.reset()
    await supervisor.snapshots()
    assert.deepEqual(await answers(port), new Set(['new']))
  })
}

/** Limits the file descriptors of a process; those that it has stay open. */
function limitDescriptors(pid: number, count: number): void {
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${count}:`])
}

test('when one worker cannot prepare a configuration, none serves it, and the next reload goes to all', async t => {
  const { supervisor, metrics, after, workers, port } = await startWorkers(t)
  const path = join(quickFolder(t, 'lists'), 'list')
  writeFileSync(path, '192.0.2.1\n')
  const listed = { ...after, lists: [{ name: 'listed', path }] }
  limitDescriptors(workers[1]!, 1)
  await assert.rejects(supervisor.prepare(listed), { message: `${path}: cannot be read: EMFILE` })
  limitDescriptors(workers[1]!, 1024)
  assert.deepEqual(await answers(port), new Set(['old']))
  await reload(supervisor, listed)
  assert.deepEqual(await answers(port), new Set(['new']))
  assert.deepEqual([metrics.workerRestarts.value, children()], [0, workers])
})

test('a configuration that no worker was able to prepare is not applied to their replacements', async t => {
  const { supervisor, metrics, after, workers, port } = await startWorkers(t, 1)
  process.kill(workers[0]!, 'SIGSTOP')
  const prepared = supervisor.prepare(after)
  process.kill(workers[0]!, 'SIGKILL')
  await assert.rejects(prepared, { message: 'no worker was able to prepare the configuration' })
  await turnsUntil(() => metrics.workerRestarts.value === 1 && supervisor.isUp)
  assert.deepEqual(await answers(port), new Set(['old']))
})

test('a hung worker does not report its pools, and is not killed for it', async t => {
  const { supervisor, metrics, workers } = await startWorkers(t)
  process.kill(workers[1]!, 'SIGSTOP')
  const late = new AbortController()
  const { mock } = t.mock.method(AbortSignal, 'timeout', () => late.signal)
  const views = supervisor.pools()
  // The one that runs replies in order.
  await supervisor.explain(question)
  late.abort()
  mock.restore()
  assert.deepEqual(
    (await views).map(pools => pools.length),
    [1, 0],
  )
  process.kill(workers[1]!, 'SIGCONT')
  assert.deepEqual(
    (await supervisor.pools()).map(pools => pools.length),
    [1, 1],
  )
  assert.equal(metrics.workerRestarts.value, 0)
  assert.deepEqual(children(), workers)
})

test('check results from before a configuration was replaced are sent to no worker when it returns', async t => {
  const { supervisor, metrics, workers } = await startWorkers(t)
  const origin = await startSite(t, (_, response) => response.end())
  const check = {
    path: '/',
    host: null,
    interval: 60_000,
    timeout: 1_000,
    healthy: 1,
    unhealthy: 1,
    least: 200,
    most: 399,
  }
  const checked = edgeConfig([origin], { zone: { isDefault: true }, pool: { check } })
  await reload(supervisor, checked)
  const [key] = checkKeys(checked)
  const found = {
    isUp: false,
    since: 0,
    nextCheckAt: 0,
    lastCheckAt: 0,
    lastDuration: 0,
    lastStatus: 500,
    lastError: null,
  }
  const states = async () => (await supervisor.pools()).map(([pool]) => pool!.origins[0]!.state)
  supervisor.takeChecks([{ key: key!, ...found }])
  assert.deepEqual(await states(), ['down', 'down'])
  await reload(supervisor, edgeConfig([origin], { zone: { isDefault: true } }))
  await reload(supervisor, checked)
  process.kill(workers[0]!, 'SIGKILL')
  await turnsUntil(() => metrics.workerRestarts.value === 1)
  await turnsUntil(async () => (await states()).length >= 2)
  assert.ok((await states()).includes('unchecked'))
})

/** Lets so many heartbeats pass. */
function beat(t: TestContext, count: number): void {
  for (let i = 0; i < count; i++) t.mock.timers.tick(1_000)
}

test('a worker that hangs is killed and replaced, and the log has where it hung', async t => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  process.env.NODE_OPTIONS = provokable
  t.after(() => delete process.env.NODE_OPTIONS)
  const supervision = { stackTimeout: 60_000 }
  const { supervisor, metrics, lines, workers } = await startWorkers(t, 1, { supervision })
  process.kill(workers[0]!, 'SIGWINCH')
  beat(t, 10)
  assert.deepEqual([supervisor.isUp, lines], [true, []])
  beat(t, 1)
  assert.equal(supervisor.isUp, false)
  await turnsUntil(() => metrics.workerRestarts.value === 1 && supervisor.isUp)
  const [hung, ended] = lines
  assert.deepEqual([hung!.msg, hung!.worker], ['worker unresponsive, killing it', workers[0]])
  assert.match(hung!.stack!, /^at hang \(data:.+:1:\d+\)\nat emit \(node:events:\d+:\d+\)$/m)
  assert.equal(ended!.worker, workers[0])
})

test('a worker that is stopped is killed and replaced, without its stack', async t => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { metrics, lines, workers } = await startWorkers(t, 1, { supervision: { stackTimeout: 50 } })
  process.kill(workers[0]!, 'SIGSTOP')
  beat(t, 11)
  await turnsUntil(() => metrics.workerRestarts.value === 1)
  assert.deepEqual([lines[0]!.worker, lines[0]!.stack], [workers[0], null])
})

test('a worker that hangs while it starts is killed and replaced', async t => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { supervisor, metrics, lines, workers } = await startWorkers(t, 1, {
    supervision: { stackTimeout: 50, minWait: 1 },
  })
  process.env.NODE_OPTIONS = '--import=data:text/javascript,for(;;);'
  t.after(() => delete process.env.NODE_OPTIONS)
  process.kill(workers[0]!, 'SIGKILL')
  await turnsUntil(() => metrics.workerRestarts.value === 1)
  const [hanging] = children()
  delete process.env.NODE_OPTIONS
  // It takes its time to start, on a busy machine.
  beat(t, 60)
  assert.deepEqual(children(), [hanging])
  beat(t, 1)
  await turnsUntil(() => metrics.workerRestarts.value === 2 && supervisor.isUp)
  const isTold = ({ msg, worker }: Line) => msg === 'worker unresponsive, killing it' && worker === hanging
  await turnsUntil(() => lines.some(isTold))
})

test('a worker that replies late, or is pinged late, is kept', async t => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { supervisor, metrics, lines, workers } = await startWorkers(t, 1)
  for (let i = 0; i < 3; i++) {
    process.kill(workers[0]!, 'SIGSTOP')
    beat(t, 10)
    process.kill(workers[0]!, 'SIGCONT')
    // It answers in order, so that the pings before are answered too.
    await supervisor.snapshots()
  }
  assert.deepEqual([metrics.workerRestarts.value, lines, children()], [0, [], workers])
})

test('each crash in a row delays the restart of a worker further; a long life resets that', async t => {
  const clock = new ManualClock()
  const supervision = { steadyLife: 1_000, minWait: 8, maxWait: 50 }
  const { supervisor, metrics, lines } = await startWorkers(t, 1, { clock, supervision })
  const crash = async () => {
    const before = metrics.workerRestarts.value
    process.kill(children()[0]!, 'SIGKILL')
    await turnsUntil(() => metrics.workerRestarts.value > before && supervisor.isUp)
    return lines.at(-1)!.delay
  }
  const expectWithin = (delay: number, least: number, most: number) =>
    assert.ok(delay >= least && delay <= most, `${delay} ms`)
  expectWithin(await crash(), 8, 16)
  clock.advance(999)
  expectWithin(await crash(), 16, 32)
  for (let i = 0; i < thorough(3, 1); i++) expectWithin(await crash(), 25, 50)
  clock.advance(1_000)
  expectWithin(await crash(), 4, 8)
  expectWithin(await crash(), 8, 16)
})

test('a worker that does not drain in time is cut', async t => {
  const supervision = { drainSlack: 50 }
  const { supervisor, workers } = await startWorkers(t, 1, { supervision })
  process.kill(workers[0]!, 'SIGSTOP')
  await supervisor.drain(10)
  assert.ok(!children().includes(workers[0]!))
})

test('a worker is asked to explain, and another one where that one does not reply', async t => {
  const { supervisor, workers } = await startWorkers(t)
  const outcome = async (...isStopped: readonly boolean[]) => {
    const explained = await asking(t, isStopped, () => supervisor.explain(question))
    return explained !== null && 'explanation' in explained ? explained.explanation.outcome : explained
  }
  assert.equal(await outcome(false), 'forwarded')
  process.kill(workers[0]!, 'SIGSTOP')
  assert.equal(await outcome(true, false), 'forwarded')
  process.kill(workers[1]!, 'SIGSTOP')
  assert.equal(await outcome(true, true), null)
})

test('a client that connects while the only worker is being replaced waits for the next one', async t => {
  const { supervisor, workers, port } = await startWorkers(t, 1)
  process.kill(workers[0]!, 'SIGSTOP')
  const waiting = answers(port, 8)
  // Their connections are in the queue of a worker that never accepts them.
  await answersQueued(port, 8)
  process.kill(workers[0]!, 'SIGKILL')
  assert.deepEqual(await waiting, new Set(['old']))
  await supervisor.drain(0)
})

test('while a worker is being replaced, another one takes those who are in its queue, and leaves the port to it then', async t => {
  const supervision = { minWait: 3_600_000, maxWait: 3_600_000 }
  const { workers, port } = await startWorkers(t, 2, { supervision })
  process.kill(workers[0]!, 'SIGSTOP')
  const waiting = answers(port, 32)
  await answersQueued(port, 1)
  process.kill(workers[0]!, 'SIGKILL')
  assert.deepEqual(await waiting, new Set(['old']))
  // Nor does the kernel lead anybody to a socket without a worker.
  assert.deepEqual(await answers(port, 32), new Set(['old']))
})

/** Resolves once so many connections wait to be accepted (proc_net_tcp(5): the receive queue of a socket that listens). */
async function answersQueued(port: number, least: number): Promise<void> {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  await turnsUntil(() => {
    const rows = readFileSync('/proc/net/tcp', 'latin1')
      .split('\n')
      .map(row => row.trim().split(/\s+/))
    const listening = rows.filter(([, address, , state]) => address?.endsWith(local) && state === '0A')
    const queued = listening.map(([, , , , queues]) => Number.parseInt(queues!.split(':')[1]!, 16))
    return queued.reduce((sum, count) => sum + count, 0) >= least
  })
}

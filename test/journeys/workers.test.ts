import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { provokable, type RunningGateway, startGateway } from '../help/gateway.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { readMetrics } from '../help/prometheus.ts'
import { siteConfig, startSite } from '../help/site.ts'
import { until } from '../help/until.ts'

const replaced = 'worker ended, starting another'

async function startWorkers(t: TestContext, workers: number | 'auto', env: NodeJS.ProcessEnv = {}) {
  const origin = await startSite(t, (_, response) => response.end('hello'))
  const options = { env: { NODE_OPTIONS: provokable, ...env } }
  return startGateway(t, siteConfig(origin, `workers: ${workers}`), options)
}

/** Put in NODE_OPTIONS, has no process start while a file is there. */
const startingLater = (file: string) =>
  `--import=data:text/javascript,import{existsSync}from'node:fs';import{setTimeout}from'node:timers/promises';while(existsSync('${file}'))await(setTimeout(10))`

/** Lists the processes that the gateway has started and that still run. */
function childrenOf({ pid }: RunningGateway): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return children.split(' ').filter(Boolean).map(Number)
}

function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}

async function counted(gateway: RunningGateway, series: string): Promise<number> {
  return readMetrics(await gateway.metrics()).samples.get(series) ?? 0
}

const answered = 'gatehouse_requests_total{zone="site",status_class="2xx"}'

/** Sends requests on connections of their own, so that the kernel spreads them. */
async function send(gateway: RunningGateway, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const response = await fetch(gateway.edge, { headers: { connection: 'close' } })
    assert.equal(await response.text(), 'hello')
  }
}

test('auto is one worker for each processor', async t => {
  assert.equal(childrenOf(await startWorkers(t, 'auto')).length, availableParallelism())
})

test('while the supervisor has no file descriptors left, no worker is replaced and the others serve; then one is', async t => {
  const gateway = await startWorkers(t, 2)
  const limitDescriptors = (count: number) =>
    execFileSync('prlimit', ['--pid', String(gateway.pid), `--nofile=${count}:`])
  const [victim, survivor] = childrenOf(gateway)
  limitDescriptors(readdirSync(`/proc/${gateway.pid}/fd`).length)
  process.kill(victim!, 'SIGKILL')
  const ended = gateway.exited.then(() => assert.fail('the gateway ended'))
  const { err } = await Promise.race([gateway.logged('worker failed to start'), ended])
  assert.match((err as Error).message, /no file descriptors are left/)
  await send(gateway, 4)
  limitDescriptors(1_000)
  await until(() => childrenOf(gateway).length === 2)
  assert.ok(childrenOf(gateway).includes(survivor!))
})

test('as many workers run as the configuration says, and their numbers are added up; one that is killed is replaced, the log and the metrics tell so, no counter goes backwards, and none outlives the supervisor', async t => {
  const gateway = await startWorkers(t, 2)
  const workers = childrenOf(gateway)
  assert.equal(workers.length, 2)
  // Meant for the supervisor, they do not end workers.
  for (const worker of workers)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(worker, signal)
  await send(gateway, 20)
  assert.deepEqual(childrenOf(gateway), workers)
  assert.equal(await counted(gateway, answered), 20)
  // Each request is one line of the log.
  await until(() => gateway.lines.filter(({ msg }) => msg === 'request').length === 20)
  const pids = new Set(gateway.lines.filter(({ msg }) => msg === 'request').map(({ pid }) => pid))
  assert.ok([...pids].every(pid => workers.includes(Number(pid))))
  const [victim, survivor] = workers
  process.kill(victim!, 'SIGKILL')
  const { worker, signal, level } = await gateway.logged(replaced)
  assert.deepEqual([worker, signal, level], [victim, 'SIGKILL', 'error'])
  await until(() => childrenOf(gateway).length === 2)
  assert.ok(childrenOf(gateway).includes(survivor!))
  await send(gateway, 10)
  assert.equal(await counted(gateway, answered), 30)
  assert.equal(await counted(gateway, 'gatehouse_worker_restarts_total'), 1)
  const last = childrenOf(gateway)
  gateway.signal('SIGKILL')
  await until(() => !last.some(isAlive))
})

test('a worker that a bug ends leaves its reason in the log and its numbers with the supervisor', async t => {
  const gateway = await startWorkers(t, 1)
  assert.equal(childrenOf(gateway).length, 1)
  await send(gateway, 5)
  process.kill(childrenOf(gateway)[0]!, 'SIGURG')
  const { err } = await gateway.logged('worker crashed: internal error')
  assert.equal((err as Error).message, 'provoked')
  const { code } = await gateway.logged(replaced)
  assert.equal(code, 1)
  await until(async () => (await fetch(`${gateway.admin}/readyz`)).ok)
  await send(gateway, 5)
  assert.equal(await counted(gateway, answered), 10)
})

test('a worker started after a reload has the new configuration; readyz reports when no worker is up', async t => {
  const held = join(quickFolder(t, 'run'), 'held')
  const gateway = await startWorkers(t, 1, { NODE_OPTIONS: startingLater(held) })
  const fresh = await startSite(t, (_, response) => response.end('fresh'))
  gateway.rewrite(siteConfig(fresh, 'workers: 1'))
  await gateway.logged('configuration reloaded')
  writeFileSync(held, '')
  process.kill(childrenOf(gateway)[0]!, 'SIGKILL')
  await gateway.logged(replaced)
  const response = await fetch(`${gateway.admin}/readyz`)
  assert.deepEqual(
    [response.status, await response.json()],
    [503, { status: 'unready', reason: 'no worker is up' }],
  )
  rmSync(held)
  await until(async () => (await fetch(`${gateway.admin}/readyz`)).ok)
  assert.equal(await (await fetch(gateway.edge)).text(), 'fresh')
})

// Measures a start, until the first response, and the memory of processes that are idle after some requests: node bench/micro/start/start.ts. ROUNDS says how
// often each is started. The sources and the package of `npm run build` are measured: the first start with nothing compiled before and no data, the next with both.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { ROOT } from '../../load/installed.ts'
import { residentMemory } from '../../load/proc.ts'

const rounds = Number(process.env.ROUNDS ?? 7)
/** Ms without a request before memory is read. */
const idle = 5_000

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-start-'))
const origin = createServer((_, response) => response.end()).listen(0, '127.0.0.1')
await once(origin, 'listening')

for (const program of ['src/main.ts', 'dist/main.js']) {
  const cold: Cost[] = []
  const warm: Cost[] = []
  for (let round = 0; round < rounds; round++) {
    const kept = join(folder, `${program.slice(0, 3)}-${round}`)
    cold.push(await start(program, 0, kept))
    warm.push(await start(program, 0, kept))
  }
  console.log(`${program}: first start ${shown(cold)}; next ${shown(warm)}`)
  const kept = join(folder, `${program.slice(0, 3)}-0`)
  for (const workers of [0, 2]) {
    // What workers compile is there from the second time on.
    await start(program, workers, kept)
    const { memory } = await start(program, workers, kept, idle)
    console.log(`${program}, workers: ${workers}: ${memory.map(mib => mib.toFixed(0)).join(', ')} MiB`)
  }
}
origin.close()
rmSync(folder, { recursive: true })

interface Cost {
  /** Ms until the first response. */
  readonly wall: number
  /** Ms of CPU of the first process until then. */
  readonly cpu: number
  /** MiB of each process, the first one first. */
  readonly memory: readonly number[]
}

/** Starts a gateway that has its data and what is compiled in a folder, and ends it after so many ms without a request. */
async function start(program: string, workers: number, kept: string, idle = 0): Promise<Cost> {
  mkdirSync(kept, { recursive: true })
  const config = join(kept, 'gatehouse.yaml')
  writeFileSync(
    config,
    `listen: ['127.0.0.1:0']
admin: 127.0.0.1:0
workers: ${workers}
pools: { main: { origins: ['http://127.0.0.1:${(origin.address() as AddressInfo).port}'] } }
zones: [{ hosts: ['127.0.0.1'], routes: [{ path: /, pool: main }] }]
`,
  )
  const began = performance.now()
  const env = { PATH: process.env.PATH, XDG_CACHE_HOME: kept, GATEHOUSE_DATA: join(kept, 'data') }
  const gateway = spawn(process.execPath, [join(ROOT, program), 'start', '--config', config], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const exited = once(gateway, 'exit')
  const lines = createInterface({ input: gateway.stdout })[Symbol.asyncIterator]()
  const url = await readiness(lines)
  await (await fetch(url)).text()
  const wall = performance.now() - began
  const cpu = cpuOf(gateway.pid!)
  for (let request = 0; request < 10; request++) await (await fetch(url)).text()
  await setTimeout(idle)
  const memory = [gateway.pid!, ...childrenOf(gateway.pid!)].map(residentMemory)
  gateway.kill()
  await exited
  return { wall, cpu, memory }
}

async function readiness(lines: AsyncIterator<string>): Promise<string> {
  for (;;) {
    const { done, value } = await lines.next()
    if (done) throw new Error('the gateway did not start')
    const { msg, edge } = JSON.parse(value)
    if (msg === 'ready') return `http://${edge[0].host}:${edge[0].port}`
  }
}

/** Returns the ms of CPU that all threads of a process have had. */
function cpuOf(pid: number): number {
  const ofTask = (task: string) => readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]
  return readdirSync(`/proc/${pid}/task`).reduce((sum, task) => sum + Number(ofTask(task)) / 1e6, 0)
}

function childrenOf(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children.trim().split(' ').filter(Boolean).map(Number)
}

function shown(costs: readonly Cost[]): string {
  const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!
  const ms = (of: 'wall' | 'cpu') => median(costs.map(cost => cost[of])).toFixed(0)
  return `${ms('wall')} ms, ${ms('cpu')} ms of CPU`
}

// Measures what one client that attacks over HTTP/2 as fast as it can costs others: the p99 of requests at a steady rate with and without it, in turns, for each attack:
// node bench/micro/http2/attacks.ts, with ROUNDS. The attacker comes without TLS, which would keep it busier than us.
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { freePort } from '../../../test/help/free-port.ts'
import { startGateway } from '../../../test/help/gateway.ts'
import { startSite } from '../../../test/help/site.ts'
import { median, percentile } from '../../load/statistics.ts'
import { type AttackName, attacks } from './attacker.ts'

const rounds = Number(process.env.ROUNDS ?? 5)
const seconds = 2
/** Requests a second of the others. */
const rate = 400

const ends: (() => unknown)[] = []
const bench = { after: (end: () => unknown) => ends.push(end) } as unknown as TestContext
try {
  const origin = await startSite(bench, (_, response) => response.end('hello'))
  const port = await freePort()
  const gateway = await startGateway(bench, configWith(origin, port))
  const agent = new Agent({ keepAlive: true, maxSockets: 20 })
  await times(gateway.edge, agent)
  for (const name of Object.keys(attacks) as AttackName[]) await report(name, gateway.edge, port, agent)
  agent.destroy()
  gateway.signal('SIGTERM')
  await gateway.exited
} finally {
  for (const end of ends.reverse()) await end()
}

function configWith(origin: string, port: number): string {
  return `workers: 0
admin: 127.0.0.1:0
log: { access: false }
listen: ['127.0.0.1:0', { address: '127.0.0.1:${port}', h2c: true }]
pools: { site: { origins: ['${origin}'] } }
zones: [{ name: site, hosts: [127.0.0.1, shop.example], routes: [{ path: /, pool: site }] }]
`
}

async function report(name: AttackName, edge: string, port: number, agent: Agent): Promise<void> {
  const alone: number[] = []
  const attacked: number[] = []
  let connections = 0
  let bytes = 0
  for (let round = 0; round < rounds; round++) {
    alone.push(percentile(await times(edge, agent), 99))
    const attacker = new Worker(new URL('./attacker.ts', import.meta.url), { workerData: { port, name } })
    await once(attacker, 'online')
    attacked.push(percentile(await times(edge, agent), 99))
    attacker.postMessage('stop')
    const [counts] = await once(attacker, 'message')
    connections += counts.connections
    bytes += counts.bytes
    await attacker.terminate()
  }
  const [before, after] = [median(alone), median(attacked)]
  const each = 1 / (rounds * seconds)
  console.log(
    `${name}: p99 ${before.toFixed(2)} ms, ${after.toFixed(2)} ms attacked: ${(after / before).toFixed(2)}×; ${(connections * each).toFixed(0)} connections and ${((bytes * each) / 2 ** 20).toFixed(1)} MiB a second`,
  )
}

/** Sends requests at the rate, whether or not those before have got a response, and returns the ms that each took. */
async function times(edge: string, agent: Agent): Promise<number[]> {
  const sent: Promise<number>[] = []
  const began = performance.now()
  for (let n = 0; n < rate * seconds; n++) {
    const due = began + (n * 1000) / rate
    if (due > performance.now()) await wait(due - performance.now())
    sent.push(timeOf(`${edge}/`, agent))
  }
  return Promise.all(sent)
}

function timeOf(url: string, agent: Agent): Promise<number> {
  const began = performance.now()
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent }, response => {
      if (response.statusCode !== 200) reject(new Error(`${url}: ${response.statusCode}`))
      response.resume().on('end', () => resolve(performance.now() - began))
    })
    sent.on('error', reject).end()
  })
}

// Measures what ten people who browse the logs of a million calls cost others: the time of proxied requests with them and without, in turns, at a steady rate, with
// workers and without: node bench/micro/dashboard/browse.ts. ROWS says how many log entries there are, ROUNDS how often each is measured, and WORKERS with how many workers.
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { routes } from '../../../src/dashboard/routes.ts'
import { Sessions } from '../../../src/people/sessions/sessions.ts'
import { permissionGroups } from '../../../src/permissions/permission-groups.ts'
import { roles } from '../../../src/permissions/roles.ts'
import { openStore } from '../../../src/store/open.ts'
import { newTokenKey } from '../../../src/tokens/token-tags.ts'
import { main, spawnGateway, writeConfig } from '../../../test/help/gateway.ts'
import { startSite } from '../../../test/help/site.ts'
import { allowing, gatewayOf } from '../../../test/admin/api.ts'
import { member, user } from '../../../test/store/contract-specimens.ts'
import { account, tokenWith } from '../../../test/tokens/token-with.ts'
import { fill } from './fill.ts'
import type { Visit } from './visitors.ts'

const rounds = Number(process.env.ROUNDS ?? 10)
const seconds = 2
/** Proxied requests a second. */
const rate = 400
const people = 10
/** Between two pages of a person, in ms. */
const pause = 1_000

const ends: (() => unknown)[] = []
const bench = { after: (end: () => unknown) => ends.push(end) } as unknown as TestContext
try {
  const origin = await startSite(bench, (_, response) => response.end('hello'))
  const file = writeConfig(bench, configWith(origin, 0))
  const data = join(dirname(file), 'data')
  const cookie = await prepare(data)
  for (const workers of (process.env.WORKERS ?? '0,1').split(',').map(Number)) {
    const own = writeConfig(bench, configWith(origin, workers))
    const env = { ...process.env, GATEHOUSE_DATA: data }
    const gateway = await spawnGateway(bench, [main, 'start', '--config', own], { env }, own)
    await measure(workers, gateway, cookie)
    gateway.signal('SIGTERM')
    await gateway.exited
  }
} finally {
  for (const end of ends.reverse()) await end()
}

function configWith(origin: string, workers: number): string {
  return `workers: ${workers}
pools: { site: { origins: ['${origin}'] } }
zones: [{ name: site, hosts: [127.0.0.1], routes: [{ path: /, pool: site }] }]
`
}

/** Fills a store with an administrator who has signed in; returns their cookie. */
async function prepare(data: string): Promise<string> {
  mkdirSync(data, { recursive: true })
  const store = await openStore(`sqlite:${join(data, 'gatehouse.db')}`, { commandTimeout: 5_000 })
  const { token } = tokenWith({ policies: [allowing(permissionGroups.map(({ name }) => name))] })
  const first = {
    account: { id: account, name: 'first', createdAt: 0 },
    gateway: gatewayOf('default'),
    token,
    tokenKey: newTokenKey(0),
  }
  await store.bootstrap(first)
  const person = user()
  await store.users.insert(person)
  const role = roles[0]!.id
  const joined = { account, user: person.id, status: 'accepted', roles: [role], isSuper: true } as const
  await store.members.insert(member(joined))
  await fill(store, Date.now())
  const proof = { method: 'password', secondFactor: false, at: Date.now() } as const
  const visit = { address: '127.0.0.1', userAgent: null, ray: '0123456789abcdef' }
  const { value } = await new Sessions(store).begin(person, proof, visit)
  await store.close()
  return `gatehouse=${value}`
}

async function measure(workers: number, at: { edge: string; admin: string }, cookie: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 20 })
  const pages = routes
    .filter(({ path, show }) => show !== undefined && /\/logs(\/charts|\/live)?$/.test(path))
    .map(({ path }) => path.replace('{account}', account).replace(/\{\w+\}/, 'default'))
  if (pages.length === 0) throw new Error('the dashboard has no pages on logs')
  await proxied(at.edge, agent, 1)
  const found = { alone: [] as number[], browsed: [] as number[] }
  const shown: number[] = []
  for (let round = 0; round < rounds; round++)
    for (const side of ['alone', 'browsed'] as const) {
      const stop = side === 'alone' ? null : browse({ origin: at.admin, pages, cookie, people, pause }, shown)
      found[side].push(quantile(await proxied(at.edge, agent, seconds), 0.99))
      await stop?.()
    }
  agent.destroy()
  const [alone, browsed] = [quantile(found.alone, 0.5), quantile(found.browsed, 0.5)]
  console.log(
    `workers ${workers}: p99 ${alone.toFixed(2)} ms alone, ${browsed.toFixed(2)} ms with ${people} people: ${(browsed / alone).toFixed(2)}×; ${shown.length} pages, p50 ${quantile(shown, 0.5).toFixed(0)} ms, p99 ${quantile(shown, 0.99).toFixed(0)} ms`,
  )
}

/** Sends requests at the rate, whether or not those before have got a response, and returns the ms that each took. */
async function proxied(edge: string, agent: Agent, seconds: number): Promise<number[]> {
  const sent: Promise<number>[] = []
  const began = performance.now()
  for (let n = 0; n < rate * seconds; n++) {
    const due = began + (n * 1000) / rate
    if (due > performance.now()) await wait(due - performance.now())
    sent.push(timeOf(`${edge}/`, { agent }, 200))
  }
  return Promise.all(sent)
}

/** Has people load page after page, until they are stopped. */
function browse(visit: Visit, shown: number[]) {
  const visitors = new Worker(new URL('./visitors.ts', import.meta.url), { workerData: visit })
  const ended = once(visitors, 'message') as Promise<[readonly number[]]>
  return async () => {
    visitors.postMessage('stop')
    const [times] = await ended
    shown.push(...times)
  }
}

function timeOf(
  url: string,
  options: { agent?: Agent; headers?: Record<string, string> },
  expected: number,
): Promise<number> {
  const began = performance.now()
  return new Promise((resolve, reject) => {
    const sent = request(url, options, response => {
      if (response.statusCode !== expected) reject(new Error(`${url}: ${response.statusCode}`))
      response.resume().on('end', () => resolve(performance.now() - began))
    })
    sent.on('error', reject).end()
  })
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
}

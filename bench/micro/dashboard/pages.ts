// Measures how long each page of the dashboard takes, what CPU, the loading of it included, and its longest turn, in ms, in an account of 10,000 OAuth
// clients, 1,000 members and a million log entries: node bench/micro/dashboard/pages.ts [redis]. ROWS says how many log entries there are.
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { routes } from '../../../src/dashboard/routes.ts'
import { furnish, states } from '../../../test/dashboard/fixtures.ts'
import { openDashboard } from '../../../test/dashboard/site.ts'
import { startRedis } from '../../../test/help/redis.ts'
import { measureTurns } from '../turns.ts'
import { fill } from './fill.ts'

const rounds = 7
const bound = 100

/** What people ask of lists, below the account. */
const questions = [
  '/oauth-clients?name=client+99',
  '/oauth-clients?name=nobody',
  '/oauth-clients?page=200',
  '/members?page=20',
]

const agent = new Agent({ keepAlive: true })
const ends: (() => unknown)[] = []
const bench = { after: (end: () => unknown) => ends.push(end) } as unknown as TestContext
const folder = mkdtempSync(join(tmpdir(), 'bench-'))
bench.after(() => rmSync(folder, { recursive: true }))
const url = process.argv[2] === 'redis' ? (await startRedis(bench)).url : `sqlite:${join(folder, 'store.db')}`
const site = await openDashboard(bench, 'Super Administrator', url)
try {
  const pathOf = await furnish(site)
  await fill(site.kept, site.clock.now())
  const shown = routes.filter(({ show }) => show !== undefined).map(({ path }) => path)
  for (const pattern of [...shown, ...[...states, ...questions].map(more => `/dashboard/{account}${more}`)])
    await measure(pattern, pathOf(pattern))
} finally {
  agent.destroy()
  for (const end of ends.reverse()) await end()
}

async function measure(pattern: string, path: string): Promise<void> {
  const began = performance.now()
  let { status, body, text } = await site.get(path)
  // Charts are measured once all of it is summed up.
  while (body.includes('being summed up')) ({ status, body, text } = await site.get(path))
  const first = performance.now() - began
  if (status !== 200 && status !== 303) throw new Error(`${pattern}: ${status} ${text}`)
  const times: number[] = []
  const spent = process.cpuUsage()
  for (let i = 0; i < rounds; i++) times.push(await load(path))
  const { user, system } = process.cpuUsage(spent)
  // Other processes only add to turns: the least is nearest to what they are.
  const turns: number[] = []
  for (let i = 0; i < rounds; i++) {
    const end = measureTurns()
    await load(path)
    turns.push(end())
  }
  const cpu = (user + system) / 1000 / rounds
  const median = times.toSorted((a, b) => a - b)[rounds >> 1]!
  const figures = `${median.toFixed(1)} ms, first ${first.toFixed(0)}, CPU ${cpu.toFixed(1)}, longest turn ${Math.min(...turns).toFixed(1)}, ${(body.length / 1000).toFixed(0)} kB`
  console.log(`${pattern.padEnd(70)} ${figures}${median > bound ? `  above ${bound} ms` : ''}`)
}

/** Loads a page without looking at it; returns the ms that it took. */
function load(path: string): Promise<number> {
  const began = performance.now()
  const headers = { cookie: `gatehouse=${site.visitor.cookies.get('gatehouse')}` }
  return new Promise((resolve, reject) => {
    const sent = request(site.origin + path, { agent, headers }, response => {
      response.resume().on('end', () => resolve(performance.now() - began))
    })
    sent.on('error', reject).end()
  })
}

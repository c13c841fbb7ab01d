// Measures how long each page of the dashboard takes, and what CPU, the loading of it included, in ms, in an account of 10,000 OAuth clients, 1,000 members and a million log entries:
// node bench/micro/dashboard/pages.ts [redis]. ROWS says how many log entries there are.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { TestContext } from 'node:test'
import { routes } from '../../../src/dashboard/routes.ts'
import { furnish, states } from '../../../test/dashboard/fixtures.ts'
import { openDashboard } from '../../../test/dashboard/site.ts'
import { startRedis } from '../../../test/help/redis.ts'
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
  for (const end of ends.reverse()) await end()
}

async function measure(pattern: string, path: string): Promise<void> {
  const times: number[] = []
  let size = 0
  const spent = process.cpuUsage()
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  for (let i = 0; i < rounds; i++) {
    const began = performance.now()
    const { status, body, text } = await site.get(path)
    times.push(performance.now() - began)
    size = body.length
    if (status !== 200 && status !== 303) throw new Error(`${pattern}: ${status} ${text}`)
  }
  delay.disable()
  const { user, system } = process.cpuUsage(spent)
  const [first, ...others] = times
  const median = others.sort((a, b) => a - b)[others.length >> 1]!
  const cpu = (user + system) / 1000 / rounds
  const figures = `${median.toFixed(1)} ms, first ${first!.toFixed(0)}, CPU ${cpu.toFixed(1)}, longest turn ${(delay.max / 1e6).toFixed(0)}, ${(size / 1000).toFixed(0)} kB`
  console.log(`${pattern.padEnd(70)} ${figures}${median > bound ? `  above ${bound} ms` : ''}`)
}

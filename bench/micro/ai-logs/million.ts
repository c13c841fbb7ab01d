// Measures what pages on AI logs wait for, with a million entries of a gateway, in ms at the management API: node bench/micro/ai-logs/million.ts [redis]
// ROWS and DAYS say how many entries there are, and over how many days
// they are spread; SHORT leaves out what looks at all of them.
import { mkdtempSync, rmSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { batchOf } from '../../../src/store/log-batch/batch.ts'
import { startApi } from '../../../test/admin/api.ts'
import { entryWith } from '../../../test/admin/ai-logs/log-entries.ts'
import { startRedis } from '../../../test/help/redis.ts'
import { account } from '../../../test/tokens/token-with.ts'

const rows = Number(process.env.ROWS ?? 1_000_000)
const days = Number(process.env.DAYS ?? 30)
const batch = 256
const rounds = 5

const ends: (() => unknown)[] = []
const bench = { after: (end: () => unknown) => ends.push(end) } as unknown as TestContext
const folder = mkdtempSync(join(tmpdir(), 'bench-'))
bench.after(() => rmSync(folder, { recursive: true }))
const url = process.argv[2] === 'redis' ? (await startRedis(bench)).url : `sqlite:${join(folder, 'logs.db')}`
const { ask, kept } = await startApi(bench, store => store, url, 5_000)
try {
  await fill()
  await measureAll()
} finally {
  for (const end of ends.reverse()) await end()
}

async function fill(): Promise<void> {
  const began = performance.now()
  const newest = Date.UTC(2026, 0, 31)
  for (let done = 0; done < rows; done += batch) {
    const entries = Array.from({ length: batch }, (_, i) => {
      const n = done + i
      return entryWith(n, {
        createdAt: Math.round(newest - (days * 86_400_000 * (rows - n)) / rows),
        model: `model-${(n * 7919) % 5}`,
        tokenId: `token-${(n * 104_729) % 20}`,
        tokenName: `Token ${(n * 104_729) % 20}`,
        success: n % 50 !== 0,
        status: n % 50 === 0 ? 502 : 200,
        cost: (n % 1000) / 1e6,
        duration: (n * 7919) % 10_007,
        metadata: n === 1000 ? { team: 'rare' } : null,
      })
    })
    await kept.logs.append(account, 'default', batchOf(entries), {
      maxEntries: 1e9,
      strategy: 'DELETE_OLDEST',
    })
  }
  console.log(`${rows} entries over ${days} days in ${Math.round(performance.now() - began)} ms`)
}

async function measureAll(): Promise<void> {
  const logs = '/ai-gateway/gateways/default/logs'
  await measure('first page', `${logs}`)
  await measure('page 10,000', `${logs}?page=10000`)
  const deep = await cursorAfter(logs, rows >> 1)
  await measure('deep page by cursor', `${logs}?cursor=${deep}`)
  if (!process.env.SHORT) await measure('filter on a model', `${logs}?model=model-1`)
  if (!process.env.SHORT) await measure('rare filter', `${logs}?search=rare`)
  await measure('the same, looking at 20,000', `${logs}?search=rare&max_scanned=20000`)
  await measure('a filter, looking at 20,000', `${logs}?model=model-1&max_scanned=20000`)
  const { json } = await ask('GET', `${logs}/tail`)
  await measure('tail', `${logs}/tail?cursor=${json.result_info.cursor}`)
  await measureSeries('the last hour by minute', `${logs}/series?${spanOf(1 / 24)}&group_by=model`)
  await measureSeries('a day by hour', `${logs}/series?${spanOf(1)}&group_by=token`)
  await measureSeries('a month by day', `${logs}/series?${spanOf(30)}&group_by=model`)
  await measureSeries('a week by hour', `${logs}/series?${spanOf(7)}&model=model-1&group_by=token`)
  await measureSeries('a week by hour, errors alone', `${logs}/series?${spanOf(7)}&success=false`)
  if (!process.env.SHORT) await measure('summary by model', `${logs}/summary?group_by=model`)
}

/** Measures as `measure`, with the first answers, which may lack something, before those that lack nothing. */
async function measureSeries(name: string, path: string): Promise<void> {
  const began = performance.now()
  const first: number[] = []
  for (let isComplete = false; !isComplete && first.length < 500; ) {
    const asked = performance.now()
    const { json } = await ask('GET', path)
    first.push(performance.now() - asked)
    isComplete = json.result.is_complete || json.result.scanned > 0
  }
  const all = Math.round(performance.now() - began)
  console.log(
    `${name}: whole after ${all} ms and ${first.length} requests of up to ${Math.max(...first).toFixed(0)} ms`,
  )
  await measure(name, path)
}

function spanOf(days: number): string {
  const end = Date.UTC(2026, 0, 31)
  const text = (at: number) => new Date(at).toISOString()
  return `start_date=${text(end - days * 86_400_000)}&end_date=${text(end)}`
}

/** Returns the cursor that leads to what comes behind the n-th entry. */
async function cursorAfter(logs: string, n: number): Promise<string> {
  const { json } = await ask('GET', `${logs}?page=${n / 100}&per_page=100`)
  return json.result_info.cursor
}

async function measure(name: string, path: string): Promise<void> {
  const times: number[] = []
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  for (let i = 0; i < rounds; i++) {
    const began = performance.now()
    const { status, json } = await ask('GET', path)
    times.push(performance.now() - began)
    if (status !== 200) throw new Error(JSON.stringify(json))
  }
  delay.disable()
  const figures = times.map(time => time.toFixed(0)).join(' ')
  console.log(`${name.padEnd(32)} ${figures} ms, longest turn ${(delay.max / 1e6).toFixed(1)} ms`)
}

// Measures what log entries cost in SQLite: CPU of appending one, in µs, and ms of looking through many: node bench/micro/store/sqlite/logs.ts
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LogEntry } from '../../../../src/store/records/records.ts'
import { batchOf } from '../../../../src/store/log-batch/batch.ts'
import { SqliteStore } from '../../../../src/store/sqlite/sqlite-store.ts'
import type { LogFilter, LogQuery, Logs } from '../../../../src/store/contract/store.ts'
import { gateway, hex, logEntries } from '../../../../test/store/contract-specimens.ts'

const batch = 256
const kept = 100_000
const forever = 1_000_000_000

const folder = mkdtempSync(join(tmpdir(), 'bench-'))
const store = await SqliteStore.open(join(folder, 'logs.db'), { commandTimeout: 1000 })
try {
  const text = 'x'.repeat(400)
  await append('append, no bodies', forever, { request: null, response: null })
  await append('append, two bodies of 400 bytes', forever, {
    request: { text, isCut: false },
    response: { text, isCut: false },
  })
  await append('the same, each making room for another', kept / 2, {
    request: { text, isCut: false },
    response: { text, isCut: false },
  })
  await lookThrough()
} finally {
  await store.close()
  rmSync(folder, { recursive: true })
}

/** Appends in batches until as many are kept as are looked through later, or as many are gone again. */
async function append(name: string, most: number, more: Partial<LogEntry>): Promise<void> {
  const owner = gateway({ account: hex(16) })
  await store.gateways.insert(owner)
  const limit = { maxEntries: most, strategy: 'DELETE_OLDEST' } as const
  const costs: number[] = []
  let elapsed = 0
  for (let done = 0; done < kept; done += batch) {
    const entries = batchOf(logEntries(owner, batch, () => more))
    const before = process.cpuUsage()
    const began = performance.now()
    await store.logs.append(owner.account, owner.id, entries, limit)
    elapsed += performance.now() - began
    const { user, system } = process.cpuUsage(before)
    if (done >= kept / 2) costs.push((user + system) / batch)
  }
  const mean = costs.reduce((sum, cost) => sum + cost, 0) / costs.length
  console.log(
    `${name.padEnd(44)} ${mean.toFixed(2).padStart(7)} µs CPU ${((elapsed * 1000) / kept).toFixed(2).padStart(7)} µs`,
  )
}

async function lookThrough(): Promise<void> {
  const owner = gateway({ account: hex(16) })
  await store.gateways.insert(owner)
  const entries = logEntries(owner, kept, i => ({
    duration: (i * 7919) % 10_007,
    metadata: { user: `u${i % 997}` },
  }))
  for (let i = 0; i < kept; i += batch)
    await store.logs.append(owner.account, owner.id, batchOf(entries.slice(i, i + batch)), {
      maxEntries: kept,
      strategy: 'STOP_INSERTING',
    })
  const { logs } = store
  const list = (query: Partial<LogQuery>) => () =>
    logs.list(owner.account, owner.id, {
      filters: [],
      orderBy: 'created_at',
      descending: true,
      offset: 0,
      limit: 50,
      ...query,
    })
  const eq = (field: LogFilter['field'], value: string | number): LogFilter => ({
    field,
    operator: 'eq',
    values: [value],
  })
  const search: LogFilter = { field: 'metadata', operator: 'contains', values: ['U77'] }
  await time('list, the newest', list({}))
  await time('list, a status and a model', list({ filters: [eq('status', 200), eq('model', 'gpt-5-mini')] }))
  await time('list, by duration', list({ orderBy: 'duration' }))
  await time('list, searched in metadata', list({ filters: [search] }))
  await time('list, the last page', list({ offset: kept - 50 }))
  await time('get, the first', getting(logs, entries[0]!))
  await time('get, none', getting(logs, { ...entries[0]!, id: hex(8) }))
}

function getting(logs: Logs, { account, gateway, id }: LogEntry) {
  return () => logs.get(account, gateway, id)
}

async function time(name: string, work: () => Promise<unknown>): Promise<void> {
  const times: number[] = []
  for (let i = 0; i < 5; i++) {
    const began = performance.now()
    await work()
    times.push(performance.now() - began)
  }
  const median = times.sort((a, b) => a - b)[2]!
  console.log(`${`${name} (of ${kept})`.padEnd(44)} ${median.toFixed(1).padStart(7)} ms`)
}

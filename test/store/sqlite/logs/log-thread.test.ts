import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { text as textOf } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { StoreMetrics } from '../../../../src/metrics/counters/store-metrics.ts'
import { batchOf } from '../../../../src/store/log-batch/batch.ts'
import type { LogEntry } from '../../../../src/store/records/records.ts'
import { SqliteStore } from '../../../../src/store/sqlite/sqlite-store.ts'
import { StoreUnreachable } from '../../../../src/store/contract/store.ts'
import { gateway, logEntries, logQuery } from '../../contract-specimens.ts'
import { temporaryFile } from '../temporary-file.ts'

const forever = { maxEntries: 1_000_000, strategy: 'STOP_INSERTING' } as const

/** The threads that were started. */
const threads: Worker[] = []
process.on('worker', thread => threads.push(thread))

async function start(t: TestContext, { commandTimeout = 2000 } = {}) {
  const file = temporaryFile(t)
  const metrics = new StoreMetrics()
  const store = await SqliteStore.open(file, { commandTimeout, metrics, hasLogThread: true })
  const owner = gateway({ account: 'a' })
  await store.gateways.insert(owner)
  const before = threads.length
  t.after(() => store.close())
  const append = (entries: readonly LogEntry[], isRepeated = false) =>
    store.logs.append(owner.account, owner.id, { ...batchOf(entries), isRepeated }, forever)
  const kept = async () => {
    const { items } = await store.logs.list(owner.account, owner.id, logQuery({ limit: 10_000 }))
    return items.map(({ id }) => id).sort()
  }
  const started = () => threads.slice(before)
  return { file, metrics, store, owner, append, kept, started }
}

/** Takes the lock of writers, as another process would. */
function lock(t: TestContext, file: string): DatabaseSync {
  const other = new DatabaseSync(file)
  t.after(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  return other
}

const ended = new Error('the thread that writes log entries has ended')
const unreachable = { name: 'StoreUnreachable', isUndone: false }

const source = (path: string) => new URL(`../../../../src/${path}`, import.meta.url).href

const ids = (entries: readonly LogEntry[]) => entries.map(({ id }) => id).sort()

test('a thread appends, one for all, and starts with the first entries', async t => {
  const { owner, store, append, kept, started, metrics } = await start(t)
  assert.equal(started().length, 0)
  const large = { text: 'é'.repeat(100_000), isCut: false }
  const entries = logEntries(owner, 202, i => (i < 200 ? {} : { request: large }))
  const parts = [entries.slice(0, 3), entries.slice(3, 201), entries.slice(201)]
  assert.deepEqual(await Promise.all(parts.map(part => append(part))), [3, 198, 1])
  assert.deepEqual(await kept(), ids(entries))
  for (const entry of [entries[0]!, entries[150]!, entries[201]!])
    assert.deepEqual(await store.logs.get(owner.account, owner.id, entry.id), entry)
  assert.deepEqual([started().length, metrics.queuedWrites.value], [1, 0])
})

test('while another process has the lock, the thread waits and the process goes on', async t => {
  const { file, owner, append, kept } = await start(t)
  const entries = logEntries(owner, 2)
  await append([entries[0]!])
  const other = lock(t, file)
  let isSettled = false
  const appended = append([entries[1]!]).finally(() => {
    isSettled = true
  })
  // Reads of this process go on meanwhile, turn by turn.
  for (let i = 0; i < 20; i++) assert.equal((await kept()).length, 1)
  assert.equal(isSettled, false)
  other.exec('COMMIT')
  assert.equal(await appended, 1)
  assert.deepEqual(await kept(), ids(entries))
})

test('a file that stays locked refuses entries, says so, and takes them when it is free', async t => {
  const { file, owner, store, append, kept, metrics } = await start(t, { commandTimeout: 2 })
  const entries = logEntries(owner, 1)
  const other = lock(t, file)
  await assert.rejects(append(entries), { name: 'StoreBusy', reason: 'SQLITE_BUSY', isUndone: true })
  assert.equal(metrics.refusedWrites.locked.value, 1)
  assert.equal(store.refusal, 'SQLite refuses them: database is locked')
  other.exec('COMMIT')
  assert.equal(await append(entries), 1)
  assert.deepEqual([await kept(), store.refusal], [ids(entries), null])
})

test('where the thread ends during an append nothing counts as kept, and another one takes the batch again', async t => {
  const { file, owner, append, kept, started } = await start(t)
  const entries = logEntries(owner, 3)
  await append([entries[0]!])
  const other = lock(t, file)
  const lost = append(entries.slice(1))
  const next = append([entries[0]!], true)
  void started()[0]!.terminate()
  await assert.rejects(lost, { name: 'StoreUnreachable', isUndone: false, cause: ended })
  other.exec('COMMIT')
  assert.equal(await next, 1)
  assert.equal(await append(entries.slice(1), true), 2)
  assert.deepEqual(await kept(), ids(entries))
  assert.equal(started().length, 2)
})

test('a batch that ends one thread after the other is given up, and others are taken', async t => {
  const { file, owner, append, kept, started } = await start(t)
  const entries = logEntries(owner, 2)
  const other = lock(t, file)
  for (const error of [unreachable, unreachable, { name: 'Error', message: ended.message }]) {
    const lost = assert.rejects(append([entries[0]!]), error)
    const [thread] = (await once(process, 'worker')) as [Worker]
    void thread.terminate()
    await lost
  }
  other.exec('COMMIT')
  assert.equal(await append([entries[1]!]), 1)
  assert.deepEqual([await kept(), started().length], [[entries[1]!.id], 4])
})

test('the thread makes no file in the place of one that is gone', async t => {
  const { file, owner, store, append } = await start(t)
  renameSync(file, `${file}.gone`)
  const entries = logEntries(owner, 1)
  await assert.rejects(append(entries), {
    name: 'StoreUnreachable',
    reason: 'SQLITE_CANTOPEN',
    isUndone: true,
  })
  assert.equal(store.refusal, 'SQLite refuses them: unable to open database file')
  assert.equal(existsSync(file), false)
  renameSync(`${file}.gone`, file)
  assert.equal(await append(entries), 1)
})

test('closing the store ends the thread, once it has written', async t => {
  const { file, owner, store, append, started } = await start(t)
  const entries = logEntries(owner, 500)
  const appended = append(entries)
  await null
  await store.close()
  assert.equal(await appended, 500)
  assert.equal(started()[0]!.threadId, -1)
  await assert.rejects(append(entries), StoreUnreachable)
  const again = await SqliteStore.open(file, { commandTimeout: 2000 })
  t.after(() => again.close())
  assert.equal(await again.logs.count(owner.account, owner.id), 500)
})

test('closing the store does not wait for the lock of another process', async t => {
  const { file, owner, store, append } = await start(t)
  await append(logEntries(owner, 1))
  lock(t, file)
  const refused = assert.rejects(append(logEntries(owner, 1)), { name: 'StoreUnreachable', isUndone: true })
  await null
  await store.close()
  await refused
})

test('a thread that is idle keeps no process alive, and one that writes does', async t => {
  const { file, owner } = await start(t)
  const program = `${file}.mjs`
  const text = `
    import { StoreMetrics } from ${JSON.stringify(source('metrics/counters/store-metrics.ts'))}
    import { batchOf } from ${JSON.stringify(source('store/log-batch/batch.ts'))}
    import { LogThread } from ${JSON.stringify(source('store/sqlite/logs/log-thread.ts'))}
    const timeout = { timeout: 1000, writeTimeout: 1000 }
    const thread = new LogThread({ path: process.argv[2], ...timeout, metrics: new StoreMetrics(), report () {} })
    const limit = { maxEntries: 9, strategy: 'STOP_INSERTING' }
    for (const batch of JSON.parse(process.argv[3]))
      thread.append('a', 'default', batchOf(batch), limit).then(kept => console.log(kept))`
  writeFileSync(program, text)
  const batches = JSON.stringify([logEntries(owner, 2), logEntries(owner, 3)])
  const child = spawn(process.execPath, [program, file, batches], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  const output = await textOf(child.stdout)
  assert.deepEqual([output, child.exitCode ?? (await once(child, 'exit'))[0]], ['2\n3\n', 0])
})

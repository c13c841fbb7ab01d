import assert from 'node:assert/strict'
import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { ForeignWrites } from '../../../../src/store/sqlite/database/foreign-writes.ts'
import { Database } from '../../../../src/store/sqlite/database/database.ts'
import { openStore } from '../../../../src/store/open.ts'
import { type Store, StoreDegraded } from '../../../../src/store/contract/store.ts'
import { until } from '../../../help/until.ts'
import { account, credential } from '../../contract-specimens.ts'
import { temporaryFile } from '../temporary-file.ts'

/** Opens a store, has a backup made of its files in the middle, and leaves changes behind that only the store has. */
async function startWithBackup(t: TestContext) {
  const file = temporaryFile(t)
  const seed = await openStore(`sqlite:${file}`, { commandTimeout: 2_000 })
  await seed.accounts.insert(account())
  await seed.close()
  copyFileSync(file, `${file}.backup`)
  const store = await openStore(`sqlite:${file}`, { commandTimeout: 2_000 })
  t.after(() => store.close())
  for (let i = 0; i < 20; i++) await store.accounts.insert(account())
  return { file, store }
}

const refuses = (store: Store, message: RegExp) =>
  assert.rejects(store.accounts.insert(account()), (error: StoreDegraded) => {
    assert.ok(error instanceof StoreDegraded, String(error))
    assert.match(error.message, message)
    assert.match(error.remedy, /restore a backup/)
    return true
  })

const cp = (from: string, to: string) => execFileSync('cp', [from, to])

test('a backup that is copied over the open database has no change confirmed, and stays told', async t => {
  const { file, store } = await startWithBackup(t)
  const { ino } = statSync(file)
  cp(`${file}.backup`, file)
  assert.equal(statSync(file).ino, ino)
  await refuses(store, /gatehouse\.db was overwritten while it was open/)
  await assert.rejects(store.credentials.put(credential('session')), { name: 'StoreDegraded' })
  await refuses(store, /gatehouse\.db was overwritten while it was open/)
})

test('it is noticed within seconds without a write', async t => {
  const { file, store } = await startWithBackup(t)
  cp(`${file}.backup`, file)
  await until(() => store.degradation.reasons.length > 0)
  assert.equal(store.degradation.reasons[0]!.code, 'file_replaced')
})

test('a log of writes that is emptied, or another one, is noticed too', async t => {
  for (const spoil of [
    (log: string) => truncateSync(log),
    (log: string) => writeFileSync(log, Buffer.alloc(statSync(log).size, 7)),
  ]) {
    const { file, store } = await startWithBackup(t)
    spoil(`${file}-wal`)
    await refuses(store, /gatehouse\.db-wal was overwritten while it was open/)
  }
})

test('a database and its log that are both overwritten are noticed', async t => {
  const { file, store } = await startWithBackup(t)
  for (const suffix of ['', '-wal']) cp(`${file}${suffix}`, `${file}.later${suffix}`)
  for (let i = 0; i < 20; i++) await store.accounts.insert(account())
  for (const suffix of ['', '-wal']) cp(`${file}.later${suffix}`, `${file}${suffix}`)
  await refuses(store, /was overwritten while it was open/)
})

test('a smaller database is noticed also where SQLite has moved pages to it at the same time', async t => {
  const file = temporaryFile(t)
  mkdirSync(dirname(file), { recursive: true })
  const db = await Database.open(file, { synchronous: 'NORMAL', timeout: 1_000 })
  db.exec('PRAGMA journal_mode = WAL; CREATE TABLE rows (text TEXT); PRAGMA wal_checkpoint(TRUNCATE)')
  copyFileSync(file, `${file}.backup`)
  const insert = db.command('INSERT INTO rows VALUES (?)')
  await db.write(() => void insert('x'.repeat(30_000)))
  db.exec('PRAGMA wal_checkpoint(PASSIVE)')
  const writes = new ForeignWrites(file)
  t.after(() => {
    db.close()
    writes.close()
  })
  // Of a change that takes no page, the first one is not written.
  await db.write(() => void insert('y'))
  assert.equal(writes.find(), null)
  cp(`${file}.backup`, file)
  const [moved] = await db.read(() => db.prepare('PRAGMA wal_checkpoint(PASSIVE)').all())
  assert.ok(Number(moved!.checkpointed) > 0)
  assert.match(writes.find()!, /gatehouse\.db was overwritten while it was open/)
})

test('a database that another program makes smaller by VACUUM is not overwritten', async t => {
  const file = temporaryFile(t)
  const store = await openStore(`sqlite:${file}`, { commandTimeout: 2_000 })
  t.after(() => store.close())
  const other = new DatabaseSync(file)
  t.after(() => other.close())
  const move = 'PRAGMA wal_checkpoint(TRUNCATE)'
  other.exec(`CREATE TABLE large (bytes BLOB); INSERT INTO large VALUES (randomblob(1000000)); ${move}`)
  await store.accounts.insert(account())
  const { size } = statSync(file)
  const writes = new ForeignWrites(file)
  t.after(() => writes.close())
  other.exec(`DROP TABLE large; ${move}`)
  assert.equal(writes.find(), null)
  other.exec('VACUUM')
  assert.equal(writes.find(), null)
  other.exec(move)
  assert.ok(statSync(file).size < size - 900_000)
  assert.equal(writes.find(), null)
  await store.accounts.insert(account())
})

test('what SQLite writes for other processes is none, however often it moves pages', async t => {
  const file = temporaryFile(t)
  const store = await openStore(`sqlite:${file}`, { commandTimeout: 2_000 })
  t.after(() => store.close())
  const child = fork(new URL('foreign-writer.ts', import.meta.url), [file])
  const ended = once(child, 'exit')
  const writes = new ForeignWrites(file)
  t.after(() => writes.close())
  let [looks, isOver] = [0, false]
  const written = new Set<bigint>()
  void ended.then(() => {
    isOver = true
  })
  while (!isOver) {
    for (let i = 0; i < 100; i++) assert.equal(writes.find(), null)
    looks++
    written.add(statSync(file, { bigint: true }).mtimeNs)
    await new Promise(setImmediate)
  }
  assert.deepEqual((await ended)[0], 0)
  assert.ok(looks > 20 && written.size > 20, `${looks} looks at ${written.size} states`)
  await store.accounts.insert(account())
})

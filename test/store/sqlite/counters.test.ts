// What is special about counts in a file: that they go when they are over, and wait for no lock of records.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Database } from '../../../src/store/sqlite/database/database.ts'
import { SqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { ManualClock } from '../../help/clock.ts'
import { temporaryFile } from './temporary-file.ts'

const minute = { kind: 'sliding', period: 60_000 } as const
const usual = { window: minute, limit: 5, done: 0, wanted: 1 } as const

test('rows of windows that are over make room', async t => {
  const clock = new ManualClock()
  const file = temporaryFile(t)
  const { counters, close } = await opened(t, file, clock)
  for (let i = 0; i < 40; i++) await counters.spend({ key: `key ${i}`, ...usual })
  clock.advance(62_000)
  await counters.spend({ key: 'another', ...usual })
  close()
  const db = await Database.open(`${file}-counts`, { synchronous: 'NORMAL', timeout: 100 })
  t.after(() => db.close())
  assert.equal(db.prepare('SELECT count(*) AS count FROM counts').get()!.count, 1)
})

test('a flood of keys is swept as fast as it came', async t => {
  const clock = new ManualClock()
  const file = temporaryFile(t)
  const { counters, close } = await opened(t, file, clock)
  for (const flood of ['first', 'second', 'third']) {
    const keys = Array.from({ length: 500 }, (_, i) => `${flood} ${i}`)
    await Promise.all(keys.map(key => counters.spend({ key, ...usual })))
    clock.advance(62_000)
  }
  close()
  const db = await Database.open(`${file}-counts`, { synchronous: 'NORMAL', timeout: 100 })
  t.after(() => db.close())
  assert.equal(db.prepare('SELECT count(*) AS count FROM counts').get()!.count, 500)
})

test('a write of records that takes long keeps no count waiting', async t => {
  const file = temporaryFile(t)
  const { counters } = await opened(t, file, new ManualClock())
  const records = await Database.open(file, { synchronous: 'FULL', timeout: 100 })
  t.after(() => records.close())
  records.exec('BEGIN IMMEDIATE')
  assert.equal((await counters.spend({ key: 'key', ...usual })).count, 1)
  records.exec('ROLLBACK')
})

async function opened(t: { after(end: () => unknown): void }, file: string, clock: ManualClock) {
  const store = await SqliteStore.open(file, { commandTimeout: 250, clock })
  t.after(() => store.close())
  return { counters: store.counters, close: () => void store.close() }
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JoinedChanges, SqliteChanges } from '../../../src/store/sqlite/changes.ts'
import { Database } from '../../../src/store/sqlite/database/database.ts'
import { migrate } from '../../../src/store/sqlite/database/migrate.ts'
import type { Change } from '../../../src/store/contract/store.ts'
import { ManualClock } from '../../help/clock.ts'

async function start(t: { after(end: () => void): void }) {
  const db = await Database.open(':memory:', { synchronous: 'FULL', timeout: 100 })
  await migrate(db)
  const clock = new ManualClock(0)
  const reader = new SqliteChanges(db, clock)
  const writer = new SqliteChanges(db, clock)
  t.after(() => {
    reader.close()
    writer.close()
    db.close()
  })
  const told: Change[] = []
  reader.follow(change => told.push(change))
  const write = (count: number) =>
    db.write(() => {
      for (let i = 0; i < count; i++) writer.note(writer.nextVersion(), 'token', 'a', String(i))
    })
  return { db, clock, reader, told, write }
}

test('changes are told once, as long as all of them are remembered', async t => {
  const { reader, told, write } = await start(t)
  await write(1000)
  await reader.tell()
  await reader.tell()
  assert.equal(told.length, 1000)
  assert.ok(told.every(({ kind }) => kind === 'token'))
})

test('when some are no longer remembered, everything may have changed, once', async t => {
  const { reader, told, write } = await start(t)
  await write(1001)
  await reader.tell()
  assert.deepEqual(told, [{ kind: 'everything' }])
  await write(1)
  await reader.tell()
  assert.equal(told.length, 2)
  assert.equal(told[1]!.kind, 'token')
})

test('only so many changes are kept', async t => {
  const { db, write } = await start(t)
  await write(2500)
  assert.equal(db.prepare('SELECT count(*) AS n FROM changes').get()!.n, 1000)
})

test('until when changes are known is a time before they were read, and stands still while they cannot be', async t => {
  const { db, clock, reader } = await start(t)
  clock.advance(300)
  await reader.tell()
  assert.equal(reader.knownUntil, 300)
  db.close()
  clock.advance(300)
  await reader.tell()
  assert.equal(reader.knownUntil, 300)
})

test('changes of two files are known until the earlier time', async t => {
  const [first, second] = [await start(t), await start(t)]
  const joined = new JoinedChanges([first.reader, second.reader])
  for (const { clock, reader, at } of [
    { ...first, at: 500 },
    { ...second, at: 200 },
  ]) {
    clock.advance(at)
    await reader.tell()
  }
  assert.equal(joined.knownUntil, 200)
})

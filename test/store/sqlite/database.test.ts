import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { Database } from '../../../src/store/sqlite/database.ts'
import { SqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { StoreAway } from '../../../src/store/store.ts'
import { gateway } from '../contract-specimens.ts'
import { temporaryFile } from './temporary-file.ts'

const patience = 150

async function openStore(t: TestContext) {
  const file = temporaryFile(t)
  const store = await SqliteStore.open(file, { commandTimeout: patience })
  t.after(() => store.close())
  return { file, store }
}

/** Takes the write lock of a file, as another program would; gives what lets go of it. */
function lock(t: TestContext, file: string): () => void {
  const db = new DatabaseSync(file)
  t.after(() => db.isOpen && db.close())
  db.exec('BEGIN IMMEDIATE')
  return () => db.close()
}

test('a write waits for the lock of another process, while this one goes on', async t => {
  const { file, store } = await openStore(t)
  const release = lock(t, file)
  let turns = 0
  const turning = setInterval(() => turns++, 5)
  t.after(() => clearInterval(turning))
  setTimeout(release, 60)
  assert.equal(await store.gateways.insert(gateway()), true)
  assert.ok(turns >= 3, `the event loop turned ${turns} times`)
  assert.equal(store.isAway, false)
})

test('a file that stays locked is away after the timeout, then at once, until a write succeeds', async t => {
  const { file, store } = await openStore(t)
  const kept = gateway()
  await store.gateways.insert(kept)
  const release = lock(t, file)
  const began = performance.now()
  await assert.rejects(store.gateways.insert(gateway()), StoreAway)
  const waited = performance.now() - began
  assert.ok(waited >= patience && waited < patience + 500, `waited ${waited} ms`)
  assert.equal(store.isAway, true)
  const again = performance.now()
  await assert.rejects(store.gateways.insert(gateway()), StoreAway)
  assert.ok(performance.now() - again < patience / 2, 'the second fails at once')
  assert.deepEqual((await store.gateways.get(kept.account, kept.id))?.record, kept, 'reads go on')
  release()
  assert.equal(await store.gateways.insert(gateway()), true)
  assert.equal(store.isAway, false)
})

test('a file that is free again is found so without a command', async t => {
  const { file, store } = await openStore(t)
  const release = lock(t, file)
  await assert.rejects(store.gateways.remove('a', 'b'), StoreAway)
  release()
  while (store.isAway) await new Promise(resolve => setTimeout(resolve, 20))
})

test('a full disk is away, and the write undone', async t => {
  const db = await Database.open(':memory:', { synchronous: 'NORMAL', patience })
  t.after(() => db.close())
  db.exec('CREATE TABLE kept (text TEXT); PRAGMA max_page_count = 10')
  const insert = db.command('INSERT INTO kept VALUES (?)')
  const filling = db.write(() => {
    for (let i = 0; i < 100; i++) insert('x'.repeat(4000))
  })
  await assert.rejects(filling, StoreAway)
  assert.equal(db.isAway, true)
  assert.equal(await db.read(() => db.prepare('SELECT count(*) AS n FROM kept').get()!.n), 0)
  await db.write(() => insert('x'))
  assert.equal(db.isAway, false)
})

test('a mistake in a statement is thrown as it is, and the write undone', async t => {
  const db = await Database.open(':memory:', { synchronous: 'NORMAL', patience })
  t.after(() => db.close())
  db.exec('CREATE TABLE kept (id INTEGER PRIMARY KEY)')
  const insert = db.command('INSERT INTO kept VALUES (1)')
  const twice = db.write(() => {
    insert()
    insert()
  })
  await assert.rejects(twice, { code: 'ERR_SQLITE_ERROR' })
  assert.equal(db.isAway, false)
  assert.equal(await db.read(() => db.prepare('SELECT count(*) AS n FROM kept').get()!.n), 0)
})

test('what waits when the file is closed rejects', async t => {
  const { file, store } = await openStore(t)
  lock(t, file)
  const waiting = assert.rejects(store.gateways.insert(gateway()), StoreAway)
  await store.close()
  await waiting
})

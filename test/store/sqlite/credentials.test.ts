// What credentials leave in the file of SQLite: nothing for long once they have expired.
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { SqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { ManualClock } from '../../help/clock.ts'
import { authorizationEvent, credential, hex } from '../contract-specimens.ts'
import { temporaryFile } from './temporary-file.ts'

const day = 86_400_000

/** Opens a store whose clock the test moves, and what counts the rows of its file. */
async function start(t: TestContext) {
  const file = temporaryFile(t)
  const clock = new ManualClock(10_000)
  const store = await SqliteStore.open(file, { commandTimeout: 2_000, clock })
  t.after(() => store.close())
  const db = new DatabaseSync(`${file}-credentials`)
  t.after(() => db.close())
  const count = (table: string) => Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()!.n)
  return { clock, db, store, count }
}

test('expired credentials are removed when others are put, a bounded number at a time', async t => {
  const { clock, store, count } = await start(t)
  const make = (expiresAt: number) => credential('session', { createdAt: 0, expiresAt })
  const put = () => store.credentials.put(make(99_000))
  await store.credentials.putAll(Array.from({ length: 120 }, (_, i) => make(20_000 + i)))
  clock.advance(20_000)
  for (const left of [71, 22, 3]) {
    await put()
    assert.equal(count('credentials'), left)
  }
})

test('a put and a consumption note nothing for others, a removal does', async t => {
  const { db, store, count } = await start(t)
  const kept = credential('authorization_code', { data: null, expiresAt: 90_000 })
  await store.credentials.put(kept)
  await store.credentials.consume(kept.kind, kept.digest, 1)
  assert.equal(count('changes'), 0)
  await store.credentials.remove(kept.kind, kept.digest)
  assert.equal(count('changes'), 1)
  assert.equal(db.prepare('PRAGMA page_size').get()!.page_size, 4096)
})

test('events whose time is over go when others come', async t => {
  const { clock, store, count } = await start(t)
  const old = Array.from({ length: 30 }, () => authorizationEvent({ client: hex(16), at: clock.now() }))
  for (const event of old) await store.authorizationEvents.append(event)
  clock.advance(31 * day)
  await store.authorizationEvents.append(authorizationEvent({ at: clock.now() }))
  assert.equal(count('authorization_events'), 11)
  await store.authorizationEvents.append(authorizationEvent({ at: clock.now() }))
  assert.equal(count('authorization_events'), 2)
})

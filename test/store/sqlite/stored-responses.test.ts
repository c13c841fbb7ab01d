import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Degradation } from '../../../src/store/contract/degradation.ts'
import { SqliteMarks } from '../../../src/store/sqlite/marks.ts'
import { Trust } from '../../../src/store/contract/trust.ts'
import { SqliteResponses } from '../../../src/store/sqlite/stored-responses.ts'
import { Database } from '../../../src/store/sqlite/database/database.ts'
import { migrate } from '../../../src/store/sqlite/database/migrate.ts'
import { SqliteAnswers } from '../../../src/store/sqlite/answers/answers.ts'
import { SqliteCounters } from '../../../src/store/sqlite/counters.ts'
import { SqliteTallies } from '../../../src/store/sqlite/tallies.ts'
import { credentialMigrations } from '../../../src/store/sqlite/database/schema.ts'
import { SqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { ManualClock } from '../../help/clock.ts'
import { storedResponse, oauthClient, token } from '../contract-specimens.ts'

const memory = { synchronous: 'FULL', timeout: 100 } as const

async function start(t: TestContext) {
  const db = await Database.open(':memory:', memory)
  t.after(() => db.close())
  await migrate(db)
  const clock = new ManualClock(1_000)
  const responses = new SqliteResponses(db, clock)
  const insert = (times: readonly number[]) =>
    db.write(() => {
      for (const expiresAt of times) responses.insertWithin(storedResponse({ expiresAt }))
    })
  const left = () =>
    db
      .prepare('SELECT expires_at FROM stored_responses ORDER BY expires_at')
      .all()
      .map(row => row.expires_at)
  return { db, clock, responses, insert, left }
}

test('a sweep removes expired records only', async t => {
  const { db, responses, insert, left } = await start(t)
  await insert([998, 1_002, 1_000, 1_001, 999])
  await db.write(() => responses.sweepWithin())
  assert.deepEqual(left(), [1_001, 1_002])
})

test('one write sweeps only so many, the oldest first, and the next ones go on', async t => {
  const { db, responses, insert, left } = await start(t)
  await insert(Array.from({ length: 50 }, (_, i) => i))
  await db.write(() => responses.sweepWithin())
  assert.deepEqual(
    left(),
    Array.from({ length: 30 }, (_, i) => i + 20),
  )
  for (let i = 0; i < 2; i++) await db.write(() => responses.sweepWithin())
  assert.deepEqual(left(), [])
})

/** Opens a whole store, as one does that keeps all in memory. */
async function openStore(t: TestContext) {
  const db = await Database.open(':memory:', memory)
  await migrate(db)
  const clock = new ManualClock(1_000)
  const credentials = await Database.open(':memory:', memory)
  await migrate(credentials, credentialMigrations)
  const counters = await SqliteCounters.open(':memory:', 250, clock)
  const tallies = await SqliteTallies.open(':memory:', 250, clock)
  const answers = await SqliteAnswers.open(':memory:', 250, clock, async () => true)
  const files = { records: db, logs: db, credentials, budgets: credentials, counters, tallies, answers }
  const degradation = new Degradation()
  const trusted = { degradation, trust: new Trust(degradation), marks: new SqliteMarks(files.records) }
  const store = new SqliteStore('sqlite::memory:', { ...files, ...trusted }, clock)
  t.after(() => store.close())
  return { db, clock, store }
}

test('a response that has expired makes room also where it could not be swept yet', async t => {
  const { clock, store } = await openStore(t)
  const last = storedResponse({ expiresAt: 3_000 })
  const early = Array.from({ length: 30 }, () => storedResponse({ expiresAt: 2_000 }))
  for (const response of [last, ...early]) await store.oauthClients.insert(oauthClient(), { response })
  clock.advance(5_000)
  const next = { ...last, fingerprint: 'another', expiresAt: 9_000 }
  assert.equal(await store.oauthClients.insert(oauthClient(), { response: next }), true)
  assert.deepEqual(await store.responses.get(next.account, next.key), next)
})

test('any write of a record sweeps', async t => {
  const { db, clock, store } = await openStore(t)
  await store.oauthClients.insert(oauthClient(), { response: storedResponse({ expiresAt: 2_000 }) })
  const count = () => db.prepare('SELECT count(*) AS n FROM stored_responses').get()!.n
  await store.tokens.insert(token())
  assert.equal(count(), 1)
  clock.advance(1_000)
  await store.tokens.insert(token())
  assert.equal(count(), 0)
})

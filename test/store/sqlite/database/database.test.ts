import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { StoreMetrics } from '../../../../src/metrics/counters/store-metrics.ts'
import { Database } from '../../../../src/store/sqlite/database/database.ts'
import { SqliteStore } from '../../../../src/store/sqlite/sqlite-store.ts'
import { StoreBusy, StoreDegraded, StoreUnreachable } from '../../../../src/store/contract/store.ts'
import { gateway } from '../../contract-specimens.ts'
import { temporaryFile } from '../temporary-file.ts'
import { HaltingClock } from '../../../help/clock.ts'
import { until } from '../../../help/until.ts'

/** Ms; a write of records waits for twenty times as long. */
const timeout = 50
const writeTimeout = 20 * timeout

async function openStore(t: TestContext) {
  const file = temporaryFile(t)
  const metrics = new StoreMetrics()
  const store = await SqliteStore.open(file, { commandTimeout: timeout, metrics })
  t.after(() => store.close())
  return { file, store, metrics }
}

async function openNumbers(t: TestContext) {
  const db = await Database.open(':memory:', { synchronous: 'NORMAL', timeout })
  t.after(() => db.close())
  db.exec('CREATE TABLE numbers (number INTEGER UNIQUE)')
  const insert = db.command('INSERT INTO numbers VALUES (?)')
  const all = db.prepare('SELECT number FROM numbers ORDER BY rowid')
  const kept = () => db.read(() => all.all().map(({ number }) => number))
  return { db, insert, kept }
}

/** Takes the write lock of a file, as another program would; gives what lets go of it. */
function lock(t: TestContext, file: string): () => void {
  const db = new DatabaseSync(file)
  t.after(() => db.isOpen && db.close())
  db.exec('BEGIN IMMEDIATE')
  return () => db.close()
}

test('the file is checked once for all writes of a transaction, and none of them is kept if that fails', async t => {
  let checks = 0
  let fault: Error | null = null
  const check = (isWrite: boolean) => {
    if (!isWrite) return
    checks++
    if (fault !== null) throw fault
  }
  const db = await Database.open(':memory:', { synchronous: 'NORMAL', timeout, check })
  t.after(() => db.close())
  db.exec('CREATE TABLE numbers (number INTEGER)')
  const insert = db.command('INSERT INTO numbers VALUES (?)')
  const both = () => Promise.allSettled([1, 2].map(number => db.write(() => insert(number))))
  checks = 0
  assert.deepEqual(
    (await both()).map(({ status }) => status),
    ['fulfilled', 'fulfilled'],
  )
  assert.equal(checks, 1)
  fault = new StoreDegraded({ code: 'file_replaced', message: 'replaced', remedy: 'put it back' })
  for (const result of await both()) assert.ok(result.status === 'rejected' && result.reason === fault)
  const { count } = await db.read(() => db.prepare('SELECT count(*) AS count FROM numbers').get()!)
  assert.equal(count, 2)
})

test('a glance has its result at once, and never throws: what fails once is tried again as any read', async t => {
  const { db, insert } = await openNumbers(t)
  await db.write(() => insert(7))
  const all = db.prepare('SELECT number FROM numbers')
  assert.deepEqual(
    db.glance(() => all.all().length),
    1,
  )
  const busy = Object.assign(new Error('database is locked'), { errcode: 5 })
  let tries = 0
  const second = db.glance(() => {
    if (++tries < 3) throw busy
    return all.all().length
  })
  assert.ok(second instanceof Promise)
  assert.deepEqual([await second, tries, db.isUnreadable], [1, 3, false])
  const always = () => {
    throw busy
  }
  await assert.rejects(async () => db.glance(always), StoreBusy)
  assert.equal(db.isUnreadable, true)
  assert.equal(
    db.glance(() => all.all().length),
    1,
  )
  assert.equal(db.isUnreadable, false)
  db.close()
  await assert.rejects(async () => db.glance(() => all.all()), StoreUnreachable)
})

test('a write waits for the lock of another process, while this one goes on', async t => {
  const { file, store } = await openStore(t)
  const release = lock(t, file)
  let turns = 0
  const turning = setInterval(() => ++turns === 3 && release(), 5)
  t.after(() => clearInterval(turning))
  assert.equal(await store.gateways.insert(gateway()), true)
  assert.equal(store.refusal, null)
})

test('a file that stays locked refuses writes after a time, then at once, until a write succeeds', async t => {
  const { file, store, metrics } = await openStore(t)
  const kept = gateway()
  await store.gateways.insert(kept)
  const release = lock(t, file)
  const began = performance.now()
  await assert.rejects(store.gateways.insert(gateway()), StoreBusy)
  const waited = performance.now() - began
  assert.ok(waited >= writeTimeout && waited < 60 * writeTimeout, `waited ${waited} ms`)
  const refusal = 'SQLite refuses them: database is locked'
  assert.deepEqual([store.isUnreachable, store.refusal], [false, refusal])
  const clock = new HaltingClock(t)
  const again = clock.monotonic()
  await assert.rejects(store.gateways.insert(gateway()), StoreBusy)
  assert.ok(clock.monotonic() - again < 0.75 * writeTimeout, 'the second fails at once')
  assert.deepEqual([metrics.refusedWrites.locked.value >= 2, metrics.queuedWrites.value], [true, 0])
  assert.deepEqual((await store.gateways.get(kept.account, kept.id))?.record, kept, 'reads go on')
  release()
  assert.equal(await store.gateways.insert(gateway()), true)
  assert.equal(store.refusal, null)
})

test('a file whose only writes are tallies tells that it refuses them', async t => {
  const { file, store } = await openStore(t)
  const release = lock(t, `${file}-counts`)
  const tally = {
    kind: 'budget',
    scope: 'a',
    name: 'b',
    slot: 0,
    count: 1,
    last: 0,
    occurrences: [],
  } as const
  await assert.rejects(store.tallies.add([tally]), StoreUnreachable)
  assert.equal(store.refusal, 'SQLite refuses them: database is locked')
  release()
  await until(() => store.refusal === null)
})

test('a file that is free again is found so without a command, and waited for as ever', async t => {
  const { file, store } = await openStore(t)
  const release = lock(t, file)
  await assert.rejects(store.gateways.remove('a', 'b'), StoreUnreachable)
  release()
  await until(() => store.refusal === null)
  setTimeout(lock(t, file), 5 * timeout)
  assert.equal(await store.gateways.insert(gateway()), true)
})

test('a lock that others hold for longer than a command may take is waited for, and the file is not away', async t => {
  const { file, store } = await openStore(t)
  for (let i = 0; i < 3; i++) {
    const release = lock(t, file)
    const writing = store.gateways.insert(gateway())
    await new Promise(resolve => setTimeout(resolve, 5 * timeout))
    assert.equal(store.refusal, null)
    release()
    assert.equal(await writing, true)
  }
})

test('more writes than may wait are refused at once, and written are all others', async t => {
  const { file, store, metrics } = await openStore(t)
  const release = lock(t, file)
  const account = gateway().account
  const write = (i: number) => store.gateways.insert(gateway({ account, id: `g${i}` }))
  const waiting = Array.from({ length: 1_000 }, (_, i) => write(i))
  await assert.rejects(write(1_000), StoreBusy)
  assert.deepEqual([metrics.refusedWrites.queue_full.value, metrics.queuedWrites.value], [1, 1_000])
  release()
  assert.ok((await Promise.all(waiting)).every(Boolean))
  assert.equal((await store.gateways.list(account, { offset: 0, limit: 1 })).total, 1_000)
  assert.equal(metrics.queuedWrites.value, 0)
})

test('writes that share a transaction are each done or undone as a whole, in order', async t => {
  const { db, insert, kept } = await openNumbers(t)
  const expected: number[] = []
  let next = 0
  const write = fc.record({ fails: fc.boolean(), size: fc.integer({ min: 0, max: 3 }) })
  const turns = fc.array(fc.array(write, { maxLength: 20 }), { maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(turns, async turns => {
      for (const writes of turns) {
        const outcomes = writes.map(({ fails, size }) => {
          const numbers = Array.from({ length: size }, () => next++)
          if (!fails) expected.push(...numbers)
          const done = db.write(() => {
            for (const number of numbers) insert(number)
            if (fails) throw new RangeError('a bug')
            return numbers
          })
          return fails ? assert.rejects(done, RangeError) : done.then(found => assert.equal(found, numbers))
        })
        await Promise.all(outcomes)
      }
      assert.deepEqual(await kept(), expected)
    }),
    { numRuns: 50 },
  )
})

test('lines written before the file is closed are in it', async t => {
  const { file, store } = await openStore(t)
  const kept = gateway()
  const writing = store.gateways.insert(kept)
  await store.close()
  assert.equal(await writing, true)
  const later = await SqliteStore.open(file, { commandTimeout: timeout })
  t.after(() => later.close())
  assert.deepEqual((await later.gateways.get(kept.account, kept.id))?.record, kept)
})

test('if the disk is full, all writes of a shared transaction are undone', async t => {
  const { db, insert, kept } = await openNumbers(t)
  db.exec('CREATE TABLE texts (text TEXT); PRAGMA max_page_count = 10')
  const fill = db.command('INSERT INTO texts VALUES (?)')
  const before = db.write(() => insert(1))
  const filling = db.write(() => {
    for (let i = 0; i < 100; i++) fill('x'.repeat(4000))
  })
  await Promise.all([before, filling].map(write => assert.rejects(write, StoreUnreachable)))
  assert.equal(db.isUnreachable, true)
  assert.deepEqual(await kept(), [])
  await db.write(() => insert(2))
  assert.deepEqual([await kept(), db.isUnreachable], [[2], false])
})

test('a full disk makes the store unreachable, and the write is undone', async t => {
  const db = await Database.open(':memory:', { synchronous: 'NORMAL', timeout })
  t.after(() => db.close())
  db.exec('CREATE TABLE kept (text TEXT); PRAGMA max_page_count = 10')
  const insert = db.command('INSERT INTO kept VALUES (?)')
  const filling = db.write(() => {
    for (let i = 0; i < 100; i++) insert('x'.repeat(4000))
  })
  const message = 'store refuses writes (SQLITE_FULL)'
  await assert.rejects(filling, { name: 'StoreUnreachable', message, reason: 'SQLITE_FULL', isUndone: true })
  assert.deepEqual([db.isUnreachable, db.fault, db.isUnreadable], [true, 'database or disk is full', false])
  assert.equal(await db.read(() => db.prepare('SELECT count(*) AS n FROM kept').get()!.n), 0)
  await db.write(() => insert('x'))
  assert.equal(db.isUnreachable, false)
})

test('a mistake in a statement is thrown as it is, and the write undone', async t => {
  const db = await Database.open(':memory:', { synchronous: 'NORMAL', timeout })
  t.after(() => db.close())
  db.exec('CREATE TABLE kept (id INTEGER PRIMARY KEY)')
  const insert = db.command('INSERT INTO kept VALUES (1)')
  const twice = db.write(() => {
    insert()
    insert()
  })
  await assert.rejects(twice, { code: 'ERR_SQLITE_ERROR' })
  assert.equal(db.isUnreachable, false)
  assert.equal(await db.read(() => db.prepare('SELECT count(*) AS n FROM kept').get()!.n), 0)
})

test('pending writes are rejected when the file is closed', async t => {
  const { file, store } = await openStore(t)
  lock(t, file)
  const waiting = assert.rejects(store.gateways.insert(gateway()), StoreUnreachable)
  await store.close()
  await waiting
})

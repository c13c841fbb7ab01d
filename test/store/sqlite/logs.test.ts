import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Database } from '../../../src/store/sqlite/database.ts'
import { SqliteLogs } from '../../../src/store/sqlite/logs.ts'
import { migrate } from '../../../src/store/sqlite/migrate.ts'
import { gateway, logEntries, logQuery } from '../contract-specimens.ts'

const tables = ['logs', 'log_payloads', 'log_ids', 'log_books']
const forever = { most: 1_000_000, strategy: 'STOP_INSERTING' } as const

/** Opens logs of one gateway, whose key may be any. */
async function start(t: TestContext, key = 1) {
  const db = await Database.open(':memory:', { synchronous: 'NORMAL', patience: 100 })
  t.after(() => db.close())
  await migrate(db)
  const owner = gateway({ account: 'a' })
  const insert = db.command(`INSERT INTO gateways VALUES (?, 'a', 'default', 0, 1, '{}')`)
  insert(key)
  const logs = new SqliteLogs(db)
  const rows = () => tables.map(table => db.prepare(`SELECT count(*) AS n FROM ${table}`).get()!.n)
  return { db, logs, owner, rows }
}

test('what makes room for others leaves no trace', async t => {
  const { logs, owner, rows } = await start(t)
  const limit = { most: 100, strategy: 'DELETE_OLDEST' } as const
  for (let i = 0; i < 20; i++) await logs.append('a', 'default', logEntries(owner, 30), limit)
  assert.deepEqual(rows(), [100, 100, 4, 1])
})

test('what is removed by a filter leaves no trace either', async t => {
  const { logs, owner, rows } = await start(t)
  for (let i = 0; i < 3; i++) await logs.append('a', 'default', logEntries(owner, 10), forever)
  await logs.remove('a', 'default', logQuery({ limit: 3 }))
  assert.deepEqual(rows(), [27, 27, 3, 1])
  await logs.remove('a', 'default', logQuery())
  assert.deepEqual(rows(), [0, 0, 0, 1])
})

test('a limit that is lowered by much is kept, bit by bit', async t => {
  const { logs, owner, rows } = await start(t)
  await logs.append('a', 'default', logEntries(owner, 7000), forever)
  await logs.append('a', 'default', logEntries(owner, 1), { most: 10, strategy: 'DELETE_OLDEST' })
  assert.deepEqual(rows(), [10, 10, 2, 1])
})

test('the entries of a gateway that is gone are swept, and no others', async t => {
  const { db, logs, owner, rows } = await start(t)
  await logs.append('a', 'default', logEntries(owner, 5000), forever)
  db.exec(`INSERT INTO gateways VALUES (2, 'a', 'other', 0, 2, '{}')`)
  await logs.append('a', 'other', logEntries(owner, 3), forever)
  await logs.sweep()
  assert.deepEqual(rows(), [5003, 5003, 2, 2])
  db.exec('DELETE FROM gateways WHERE key = 1')
  await logs.sweep()
  assert.deepEqual(rows(), [3, 3, 1, 1])
})

test('keys that no number of JavaScript can hold are kept apart', async t => {
  const key = 2 ** 22 + 1
  const { db, logs, owner } = await start(t, key)
  db.exec(`INSERT INTO gateways VALUES (${key + 1}, 'a', 'other', 0, 2, '{}')`)
  const [first, second] = [logEntries(owner, 5), logEntries({ ...owner, id: 'other' }, 5)]
  await logs.append('a', 'default', first, forever)
  await logs.append('a', 'other', second, forever)
  assert.deepEqual((await Array.fromAsync(logs.entries('a', 'default'))).flat(), first)
  assert.deepEqual((await Array.fromAsync(logs.entries('a', 'other'))).flat(), second)
  assert.deepEqual(await logs.get('a', 'other', second[3]!.id), second[3])
  const limit = { most: 2, strategy: 'DELETE_OLDEST' } as const
  await logs.append('a', 'default', [first[0]!], limit)
  assert.equal((await logs.list('a', 'default', logQuery())).total, 2)
  assert.equal((await logs.list('a', 'other', logQuery())).total, 5)
})

test('a list over many entries lets the process go on', async t => {
  const { logs, owner } = await start(t)
  const entries = logEntries(owner, 25_000, i => ({
    duration: (i * 7919) % 25_000,
    request: null,
    response: null,
  }))
  await logs.append('a', 'default', entries, forever)
  let turns = 0
  const turning = setInterval(() => turns++, 1)
  t.after(() => clearInterval(turning))
  const query = logQuery({ orderBy: 'duration', descending: true, offset: 10, limit: 3 })
  const { items, total } = await logs.list('a', 'default', query)
  assert.equal(total, 25_000)
  assert.deepEqual(
    items.map(({ duration }) => duration),
    [24_989, 24_988, 24_987],
  )
  assert.ok(turns > 0)
})

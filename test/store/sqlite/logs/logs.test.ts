import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { batchOf } from '../../../../src/store/log-batch/batch.ts'
import { Database } from '../../../../src/store/sqlite/database/database.ts'
import { SqliteLogs } from '../../../../src/store/sqlite/logs/logs.ts'
import { migrate } from '../../../../src/store/sqlite/database/migrate.ts'
import { migrations } from '../../../../src/store/sqlite/database/schema.ts'
import type { LogEntry } from '../../../../src/store/records/records.ts'
import type { LogLimit } from '../../../../src/store/contract/store.ts'
import { gateway, logEntries, logQuery } from '../../contract-specimens.ts'

const forever = { maxEntries: 1_000_000, strategy: 'STOP_INSERTING' } as const

/** Opens the logs of two gateways. */
async function start(t: TestContext) {
  const db = await Database.open(':memory:', { synchronous: 'NORMAL', timeout: 100 })
  t.after(() => db.close())
  await migrate(db)
  const owner = gateway({ account: 'a' })
  for (const [key, id] of ['default', 'other'].entries())
    db.exec(`INSERT INTO gateways VALUES (${key + 1}, 'a', '${id}', 0, 1, '{}')`)
  const logs = new SqliteLogs(db)
  const append = (entries: readonly LogEntry[], limit: LogLimit = forever, id = 'default') =>
    logs.append('a', id, batchOf(entries), limit)
  const sizes = () =>
    ['log_entries', 'log_bodies', 'log_counts', 'log_windows', 'log_sums'].map(
      table => db.prepare(`SELECT count(*) AS count FROM ${table}`).get()!.count,
    )
  return { db, logs, owner, append, sizes }
}

test('entries that are removed or make room leave no trace', async t => {
  const { logs, owner, append, sizes } = await start(t)
  const limit = { maxEntries: 300, strategy: 'DELETE_OLDEST' } as const
  const entries = logEntries(owner, 2_000)
  for (let i = 0; i < 20; i++) await append(entries.slice(i * 100, i * 100 + 100), limit)
  assert.deepEqual(sizes().slice(0, 3), [300, 3, 1])
  const windows = new Set(entries.slice(1_700).map(({ createdAt }) => Math.floor(createdAt / 60_000)))
  assert.equal(sizes()[3], windows.size + 2)
  assert.equal(await logs.get('a', 'default', entries[1_699]!.id), null)
  assert.deepEqual(await logs.get('a', 'default', entries[1_700]!.id), entries[1_700])
  assert.equal(await logs.remove('a', 'default', logQuery({ limit: 1_000 })), 300)
  assert.deepEqual(sizes(), [0, 0, 1, 0, 0])
})

test('batches of any size are stored whole, in their order', async t => {
  const { logs, owner, append } = await start(t)
  const entries = logEntries(owner, 200)
  let end = 0
  for (const size of [1, 15, 16, 17, 31, 32, 33, 55])
    assert.equal(await append(entries.slice(end, (end += size))), size)
  assert.deepEqual((await Array.fromAsync(logs.entries('a', 'default'))).flat(), entries)
})

test('a limit that is lowered by much is kept, bit by bit', async t => {
  const { logs, owner, append, sizes } = await start(t)
  const entries = logEntries(owner, 7_004)
  await append(entries.slice(0, 7_000))
  assert.equal(await append(entries.slice(7_000), { maxEntries: 2, strategy: 'DELETE_OLDEST' }), 2)
  assert.deepEqual(sizes().slice(0, 2), [2, 1])
  assert.deepEqual((await Array.fromAsync(logs.entries('a', 'default'))).flat(), entries.slice(7_002))
})

test('a late batch beyond a limit that was lowered by much is not counted as stored', async t => {
  const { owner, append } = await start(t)
  const entries = logEntries(owner, 7_000)
  await append(entries.slice(3_000))
  assert.equal(await append(entries.slice(0, 3_000), { maxEntries: 2, strategy: 'DELETE_OLDEST' }), 0)
})

test('the entries of a gateway that is gone are swept, and no others', async t => {
  const { db, logs, owner, append, sizes } = await start(t)
  for (let i = 0; i < 4; i++) await append(logEntries(owner, 250))
  await append(logEntries({ ...owner, id: 'other' }, 3), forever, 'other')
  await logs.sweep()
  assert.deepEqual(sizes().slice(0, 3), [1_003, 5, 2])
  const since = Math.floor(logEntries(owner, 1)[0]!.createdAt / 60_000) * 60_000
  for (const id of ['default', 'other']) {
    const [window] = await logs.marks('a', id, { since, width: 60_000, count: 1 })
    await logs.keepSum('a', id, { since, width: 60_000, mark: window!.mark }, id)
  }
  assert.equal(sizes()[4], 2)
  db.exec('DELETE FROM gateways WHERE key = 1')
  await logs.sweep()
  assert.deepEqual(sizes(), [3, 1, 1, 3, 1])
})

test('a place in the order of arrival that only another store had leads to the last entries', async t => {
  const { logs, owner, append } = await start(t)
  const entries = logEntries(owner, 5)
  await append(entries)
  for (const end of ['9', `3 ${entries[2]!.id}`]) {
    const { items } = await logs.tail('a', 'default', end, 2)
    assert.deepEqual(
      items.map(({ id }) => id),
      entries.slice(3).map(({ id }) => id),
    )
  }
})

test('entries of processes whose times overlap are listed by time, a page at a time', async t => {
  const { logs, owner, append } = await start(t)
  const entries = logEntries(owner, 3000)
  for (let i = 0; i < 3000; i += 300) {
    const some = entries.slice(i, i + 300)
    await append(some.filter((_, j) => j % 2 === 0))
    await append([...some.filter((_, j) => j % 2 === 1), ...(i === 0 ? entries.slice(2990, 2991) : [])])
  }
  const newest = entries.toReversed()
  newest.splice(9, 0, newest[9]!)
  for (const offset of [0, 5, 1000, 2980]) {
    const query = logQuery({ descending: true, offset, limit: 20 })
    const { items, total } = await logs.list('a', 'default', query)
    assert.equal(total, 3001)
    assert.deepEqual(
      items.map(({ createdAt }) => createdAt),
      newest.slice(offset, offset + 20).map(({ createdAt }) => createdAt),
    )
  }
})

test('the bodies of removed entries are erased, and those beside them stay', async t => {
  const { db, logs, owner, append } = await start(t)
  const entries = logEntries(owner, 20, i => ({
    success: i % 3 > 0,
    request: { text: `request ${i}.`, isCut: false },
    response: { text: `response ${i}.`, isCut: true },
  }))
  await append(entries.slice(0, 12))
  await append(entries.slice(12))
  const failed = { field: 'success', operator: 'eq', values: [false] } as const
  assert.equal(await logs.remove('a', 'default', logQuery({ filters: [failed], limit: 100 })), 7)
  const stored = db.prepare('SELECT CAST(bodies AS TEXT) AS text FROM log_bodies').all()
  const left = entries.filter(({ success }) => success)
  const texts = left.map(({ request, response }) => `${request!.text}${response!.text}`)
  assert.equal(stored.map(({ text }) => text).join(''), texts.join(''))
  for (const entry of left) assert.deepEqual(await logs.get('a', 'default', entry.id), entry)
  assert.deepEqual((await Array.fromAsync(logs.entries('a', 'default'))).flat(), left)
})

test('entries of a file with a row for the bodies of each keep them', async t => {
  const db = await Database.open(':memory:', { synchronous: 'NORMAL', timeout: 100 })
  t.after(() => db.close())
  await migrate(db, migrations.slice(0, 2))
  const owner = gateway({ account: 'a' })
  db.exec("INSERT INTO gateways VALUES (1, 'a', 'default', 0, 1, '{}')")
  const body = { text: 'é', isCut: true }
  const entries = logEntries(owner, 3, i => ({
    request: i === 1 ? null : body,
    response: i === 1 ? null : body,
  }))
  const batch = batchOf(entries)
  const layouts = [[9, 9, -1], null, [9, 9, -1]]
  for (const [i, { createdAt, id }] of entries.entries()) {
    db.command('INSERT INTO log_entries VALUES (?, 1, ?, ?, ?)')(i + 1, createdAt, id, batch.rows[i]!)
    const layout = layouts[i]
    if (layout)
      db.command('INSERT INTO log_bodies VALUES (?, ?, ?, ?, ?)')(i + 1, Buffer.from('éé'), ...layout)
  }
  await migrate(db)
  const logs = new SqliteLogs(db)
  for (const entry of entries) assert.deepEqual(await logs.get('a', 'default', entry.id), entry)
  await logs.append('a', 'default', batchOf(logEntries(owner, 1)), forever)
  assert.equal((await Array.fromAsync(logs.entries('a', 'default'))).flat().length, 4)
})

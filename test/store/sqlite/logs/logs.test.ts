import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { batchOf } from '../../../../src/store/log-batch/writer.ts'
import { Database } from '../../../../src/store/sqlite/database/database.ts'
import { SqliteLogs } from '../../../../src/store/sqlite/logs/logs.ts'
import { migrate } from '../../../../src/store/sqlite/database/migrate.ts'
import type { LogEntry } from '../../../../src/store/records/records.ts'
import type { LogLimit } from '../../../../src/store/contract/store.ts'
import { gateway, logEntries, logQuery } from '../../contract-specimens.ts'

const forever = { most: 1_000_000, strategy: 'STOP_INSERTING' } as const

/** Opens the logs of two gateways. */
async function start(t: TestContext) {
  const db = await Database.open(':memory:', { synchronous: 'NORMAL', patience: 100 })
  t.after(() => db.close())
  await migrate(db)
  const owner = gateway({ account: 'a' })
  for (const [key, id] of ['default', 'other'].entries())
    db.exec(`INSERT INTO gateways VALUES (${key + 1}, 'a', '${id}', 0, 1, '{}')`)
  const logs = new SqliteLogs(db)
  const append = (entries: readonly LogEntry[], limit: LogLimit = forever, id = 'default') =>
    logs.append('a', id, batchOf(entries), limit)
  const sizes = () =>
    db
      .prepare('SELECT count FROM log_segments ORDER BY key')
      .all()
      .map(row => row.count)
  const books = () =>
    db
      .prepare('SELECT count FROM log_books ORDER BY gateway')
      .all()
      .map(row => row.count)
  return { db, logs, owner, append, sizes, books }
}

/** Makes entries that come so many seconds after those that `logEntries` makes first. */
const later = (owner: ReturnType<typeof gateway>, count: number, seconds: number) =>
  logEntries(owner, seconds + count).slice(seconds)

test('what makes room for others leaves no trace', async t => {
  const { logs, owner, append, sizes, books } = await start(t)
  const limit = { most: 300, strategy: 'DELETE_OLDEST' } as const
  const entries = logEntries(owner, 2000)
  for (let i = 0; i < 20; i++) await append(entries.slice(i * 100, i * 100 + 100), limit)
  assert.deepEqual(sizes(), [100, 100, 100])
  await append(later(owner, 110, 2000), limit)
  assert.deepEqual([sizes(), books()], [[100, 100, 110], [300]])
  assert.equal(await logs.get('a', 'default', entries[1709]!.id), null, 'what is hidden is not found')
  assert.deepEqual(await logs.get('a', 'default', entries[1810]!.id), entries[1810])
})

test('entries that come one by one share a segment, unless they are large', async t => {
  const { logs, owner, append, sizes } = await start(t)
  const entries = logEntries(owner, 300)
  for (const entry of entries) await append([entry])
  assert.deepEqual(sizes(), [128, 128, 44])
  assert.deepEqual((await Array.fromAsync(logs.entries('a', 'default'))).flat(), entries)
  const large = { text: 'x'.repeat(60_000), isCut: false }
  await append(logEntries(owner, 1, () => ({ request: large })))
  await append(logEntries(owner, 1, () => ({ request: large, response: large })))
  assert.deepEqual(sizes(), [128, 128, 45, 1])
})

test('a gateway that appends shares no segment with another', async t => {
  const { logs, owner, append } = await start(t)
  const other = { ...owner, id: 'other' }
  const [first, second] = [logEntries(owner, 5), logEntries(other, 5)]
  for (let i = 0; i < 5; i++) {
    await append([first[i]!])
    await append([second[i]!], forever, 'other')
  }
  assert.deepEqual((await Array.fromAsync(logs.entries('a', 'default'))).flat(), first)
  assert.deepEqual((await Array.fromAsync(logs.entries('a', 'other'))).flat(), second)
})

test('entries removed by a filter leave no trace, and neither do hidden ones', async t => {
  const { logs, owner, append, sizes, books } = await start(t)
  const limit = { most: 250, strategy: 'DELETE_OLDEST' } as const
  for (let i = 0; i < 3; i++) await append(later(owner, 100, i * 100), limit)
  assert.deepEqual([sizes(), books()], [[100, 100, 100], [250]])
  assert.equal(await logs.remove('a', 'default', logQuery({ limit: 4 })), 4)
  assert.equal((await logs.list('a', 'default', logQuery())).total, 246)
  assert.equal(books()[0], 246)
  assert.equal(await logs.remove('a', 'default', logQuery({ limit: 1000 })), 246)
  assert.deepEqual([sizes(), books()], [[], [0]])
  await append(logEntries(owner, 2))
  assert.equal((await logs.list('a', 'default', logQuery())).items.length, 2)
})

test('a limit that is lowered by much is kept, bit by bit', async t => {
  const { logs, owner, append, sizes } = await start(t)
  for (let i = 0; i < 28; i++) await append(later(owner, 250, i * 250))
  await append(later(owner, 4, 7000), { most: 10, strategy: 'DELETE_OLDEST' })
  assert.deepEqual(sizes(), [250, 4])
  assert.equal((await logs.list('a', 'default', logQuery())).items.length, 10)
})

test('hidden entries of segments that stay long are written away', async t => {
  const { logs, owner, append, sizes, books } = await start(t)
  const limit = { most: 200, strategy: 'DELETE_OLDEST' } as const
  const entries = logEntries(owner, 16_000, () => ({ request: null, response: null }))
  // Each batch has one that stays the longest.
  for (let i = 0; i < 150; i++)
    await append([...entries.slice(i * 100, i * 100 + 100), entries[15_999 - i]!], limit)
  const held = sizes().reduce<number>((sum, size) => sum + Number(size), 0)
  assert.ok(held > 200 && held <= 8 * 200 + 4096, `${held} for 200`)
  assert.deepEqual(books(), [200])
  const { items } = await logs.list('a', 'default', logQuery({ limit: 1000 }))
  assert.deepEqual(
    items.map(({ id }) => id),
    [...entries.slice(14_950, 15_000), ...entries.slice(15_850)].map(({ id }) => id),
  )
})

test('the entries of a gateway that is gone are swept, and no others', async t => {
  const { db, logs, owner, append, sizes, books } = await start(t)
  for (let i = 0; i < 20; i++) await append(logEntries(owner, 250))
  await append(logEntries({ ...owner, id: 'other' }, 3), forever, 'other')
  await logs.sweep()
  assert.equal(sizes().length, 21)
  for (let n = 0; n < 120; n++)
    await logs.keepSum('a', 'default', { since: n, width: 1e15, mark: '1' }, 'x'.repeat(5_000))
  await logs.keepSum('a', 'other', { since: 0, width: 1e15, mark: '1' }, 'other')
  db.exec('DELETE FROM gateways WHERE key = 1')
  await logs.sweep()
  assert.deepEqual([sizes(), books()], [[3], [3]])
  assert.deepEqual(
    db
      .prepare('SELECT sums FROM log_sums')
      .all()
      .map(({ sums }) => sums),
    ['other'],
  )
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

test('a list over many entries lets the process go on', async t => {
  const { logs, owner, append } = await start(t)
  const entries = logEntries(owner, 25_000, i => ({
    duration: (i * 7919) % 25_000,
    request: null,
    response: null,
  }))
  for (let i = 0; i < entries.length; i += 250) await append(entries.slice(i, i + 250))
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

test('an entry among many is found with pauses for the rest of the process, however old it is', async t => {
  const { logs, owner, append } = await start(t)
  const entries = logEntries(owner, 129 * 450, () => ({ request: null, response: null }))
  for (let i = 0; i < entries.length; i += 129) await append(entries.slice(i, i + 129))
  const found = async (entry: LogEntry) => {
    let turns = 0
    let isOver = false
    const count = () => {
      turns++
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    assert.deepEqual(await logs.get('a', 'default', entry.id), entry)
    isOver = true
    return turns
  }
  const [oldest, newest] = [await found(entries[0]!), await found(entries.at(-1)!)]
  assert.ok(oldest >= newest + 2, `${oldest} turns for the oldest, ${newest} for the newest`)
  for (const n of [199, 200, 201, 250, 399, 400, 449]) await found(entries[n * 129 + 7]!)
  assert.equal(await logs.get('a', 'default', 'f'.repeat(16)), null)
})

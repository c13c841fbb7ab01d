import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { Database } from '../../../../src/store/sqlite/database/database.ts'
import { migrate } from '../../../../src/store/sqlite/database/migrate.ts'
import { applicationId, migrations } from '../../../../src/store/sqlite/database/schema.ts'
import { SqliteStore } from '../../../../src/store/sqlite/sqlite-store.ts'
import { gateway } from '../../contract-specimens.ts'
import { temporaryFile } from '../temporary-file.ts'

const options = { commandTimeout: 500 }
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

async function open(t: TestContext, file: string): Promise<SqliteStore> {
  const store = await SqliteStore.open(file, options)
  t.after(() => store.close())
  return store
}

/** Makes the folder of a file, and the file by SQL. */
function makeFile(file: string, sql: string): void {
  mkdirSync(dirname(file))
  const db = new DatabaseSync(file)
  db.exec(sql)
  db.close()
}

test('the file, its companions and its folder are for their owner only', async t => {
  const file = temporaryFile(t)
  const store = await open(t, file)
  await store.gateways.insert(gateway())
  assert.equal(modeOf(dirname(file)), '700')
  assert.deepEqual(readdirSync(dirname(file)).toSorted(), [
    'gatehouse.db',
    'gatehouse.db-answers',
    'gatehouse.db-answers-shm',
    'gatehouse.db-answers-wal',
    'gatehouse.db-counts',
    'gatehouse.db-counts-shm',
    'gatehouse.db-counts-wal',
    'gatehouse.db-credentials',
    'gatehouse.db-credentials-shm',
    'gatehouse.db-credentials-wal',
    'gatehouse.db-shm',
    'gatehouse.db-wal',
  ])
  for (const name of readdirSync(dirname(file))) assert.equal(modeOf(join(dirname(file), name)), '600', name)
})

test('the mode of a folder that was there is left as it is', async t => {
  const file = temporaryFile(t)
  mkdirSync(dirname(file), { mode: 0o755 })
  await open(t, file)
  assert.equal(modeOf(dirname(file)), '755')
})

test('steps are run in order, each once', async t => {
  const db = await Database.open(':memory:', { synchronous: 'FULL', timeout: 100 })
  t.after(() => db.close())
  const steps = [
    'CREATE TABLE a (x); INSERT INTO a VALUES (1)',
    'ALTER TABLE a ADD y; INSERT INTO a VALUES (2, 3)',
  ]
  await migrate(db, steps.slice(0, 1))
  await migrate(db, steps)
  await migrate(db, steps)
  assert.deepEqual(
    db
      .prepare('SELECT * FROM a')
      .all()
      .map(row => ({ ...row })),
    [
      { x: 1, y: null },
      { x: 2, y: 3 },
    ],
  )
})

test('a step that fails leaves the file as it was', async t => {
  const db = await Database.open(':memory:', { synchronous: 'FULL', timeout: 100 })
  t.after(() => db.close())
  await assert.rejects(migrate(db, ['CREATE TABLE a (x)', 'CREATE TABLE a (x)']), /already exists/)
  assert.equal(db.prepare('SELECT count(*) AS n FROM sqlite_schema').get()!.n, 0)
})

test('processes that open a new file together all find it ready', async t => {
  const file = temporaryFile(t)
  const module = JSON.stringify(join(import.meta.dirname, '../../../../src/store/sqlite/sqlite-store.ts'))
  const code = `import { SqliteStore } from ${module}
    const store = await SqliteStore.open(${JSON.stringify(file)}, { commandTimeout: 10_000 })
    console.log(await store.accounts.insert({ id: String(process.pid), name: '', createdAt: 0 }))`
  const run = promisify(execFile)
  const runs = Array.from({ length: 4 }, () => run(process.execPath, ['--input-type=module', '-e', code]))
  for (const { stdout, stderr } of await Promise.all(runs)) {
    assert.deepEqual({ stdout, stderr }, { stdout: 'true\n', stderr: '' })
  }
  assert.equal((await (await open(t, file)).accounts.list()).length, 4)
})

test('a new file that another process makes between two looks at it is taken as it is', async t => {
  const marks = `PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${migrations.length}`
  const made = `BEGIN IMMEDIATE; ${migrations.join(';')}; ${marks}; COMMIT`
  for (const looks of [1, 2]) {
    const file = temporaryFile(t)
    makeFile(file, '')
    const db = await Database.open(file, { synchronous: 'FULL', timeout: 100 })
    const other = new DatabaseSync(file)
    t.after(() => {
      db.close()
      other.close()
    })
    const prepare = db.prepare.bind(db)
    let left = looks
    t.mock.method(db, 'prepare', (sql: string) => {
      if (left-- === 0)
        try {
          other.exec(made)
        } catch (error) {
          // The first has the lock to make the file itself.
          assert.match(String(error), /database is locked/)
        }
      return prepare(sql)
    })
    await migrate(db)
    assert.equal(db.prepare('SELECT count(*) AS n FROM accounts').get()!.n, 0)
  }
})

test('a new file that another process reads is made once that has read', async t => {
  const file = temporaryFile(t)
  makeFile(file, '')
  const reader = new DatabaseSync(file)
  reader.exec('BEGIN; SELECT count(*) FROM sqlite_schema')
  setTimeout(() => reader.close(), 100)
  assert.deepEqual(await (await open(t, file)).accounts.list(), [])
})

test('a newer file is refused with both numbers and what to do, and left as it is', async t => {
  const file = temporaryFile(t)
  const store = await open(t, file)
  await store.close()
  const db = new DatabaseSync(file)
  db.exec('PRAGMA user_version = 99')
  db.close()
  await assert.rejects(SqliteStore.open(file, options), {
    message: `${file} cannot be used as the store: it was written by a newer version: its schema is 99, and this version supports up to ${migrations.length}. Start the newer version, or use another file`,
  })
})

test("another program's database is refused, and left as it is", async t => {
  const file = temporaryFile(t)
  makeFile(file, 'CREATE TABLE theirs (x)')
  await assert.rejects(SqliteStore.open(file, options), {
    message: `${file} cannot be used as the store: it holds the data of another program`,
  })
  const db = new DatabaseSync(file)
  t.after(() => db.close())
  assert.equal(db.prepare('SELECT count(*) AS n FROM sqlite_schema').get()!.n, 1)
  assert.equal(db.prepare('PRAGMA journal_mode').get()!.journal_mode, 'delete')
})

test('a file that is no database, a folder, and a folder that may not be written are refused by a sentence', async t => {
  const file = temporaryFile(t)
  mkdirSync(dirname(file))
  writeFileSync(file, 'text, and more of it than a header: '.repeat(100))
  await assert.rejects(
    SqliteStore.open(file, options),
    /cannot be used as the store: file is not a database$/,
  )
  await assert.rejects(SqliteStore.open(dirname(file), options), /cannot be used as the store: EISDIR/)
  if (process.getuid?.() === 0) return
  chmodSync(dirname(file), 0o500)
  t.after(() => chmodSync(dirname(file), 0o700))
  await assert.rejects(SqliteStore.open(join(dirname(file), 'new.db'), options), /the store: EACCES/)
  assert.equal(existsSync(join(dirname(file), 'new.db')), false)
})

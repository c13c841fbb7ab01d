import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { batchOf } from '../../src/store/log-batch/batch.ts'
import { openStore } from '../../src/store/open.ts'
import { firstStart, logEntries, logQuery } from './contract-specimens.ts'
import { temporaryFile } from './sqlite/temporary-file.ts'

const options = { commandTimeout: 500 }
const door = JSON.stringify(join(import.meta.dirname, '../../src/store/open.ts'))

test('sqlite: and a path is a file, made with its folder', async t => {
  const file = temporaryFile(t)
  const store = await openStore(`sqlite:${file}`, options)
  t.after(() => store.close())
  assert.equal(store.location, `sqlite:${file}`)
  assert.ok(existsSync(file))
  assert.deepEqual(await store.durability(), [])
})

test('a relative path is one from the working folder, and a sign of percent stands for itself', async t => {
  const file = temporaryFile(t).replace('gatehouse.db', 'a%20b.db')
  const store = await openStore(`sqlite:${relative(process.cwd(), file)}`, options)
  t.after(() => store.close())
  assert.equal(store.location, `sqlite:${file}`)
})

test('sqlite::memory: is a store that ends with the process, and says so', async t => {
  const store = await openStore('sqlite::memory:', options)
  t.after(() => store.close())
  const first = firstStart()
  assert.equal(await store.bootstrap(first), true)
  const { account, id } = first.gateway
  const entries = logEntries(first.gateway, 3)
  assert.equal(
    await store.logs.append(account, id, batchOf(entries), { maxEntries: 2, strategy: 'DELETE_OLDEST' }),
    2,
  )
  assert.equal((await store.logs.list(account, id, logQuery())).total, 2)
  assert.equal(store.location, 'sqlite::memory:')
  assert.deepEqual(await store.durability(), [
    'Everything is kept in memory and lost when the process stops.',
  ])
})

test('a file that must exist is neither made nor filled, nor is its folder made', async t => {
  const file = temporaryFile(t)
  const mustExist = { ...options, mustExist: true }
  await assert.rejects(openStore(`sqlite:${file}`, mustExist), { message: `file ${file} not found` })
  assert.ok(!existsSync(dirname(file)))
  mkdirSync(dirname(file))
  writeFileSync(file, '')
  await assert.rejects(openStore(`sqlite:${file}`, mustExist), {
    message: `${file} is an empty file, not a store`,
  })
  assert.equal(statSync(file).size, 0)
  await (await openStore(`sqlite:${file}`, options)).close()
  await (await openStore(`sqlite:${file}`, mustExist)).close()
})

test('a URL of an unknown store is refused in a sentence that does not quote it', async () => {
  const urls = [
    '',
    'data.db',
    'mysql://root:hunter2@db/x',
    'hunter2',
    'redis:hunter2',
    'Sqlite:x',
    'file:hunter2',
  ]
  for (const url of urls) {
    await assert.rejects(openStore(url, options), {
      message:
        'the store URL must begin with sqlite:, redis://, rediss://, redis+sentinel:// or redis+cluster://',
    })
  }
})

test('a URL of SQLite that names no file, a host, a folder or parameters is refused by a sentence', async () => {
  const refused: [url: string, sentence: RegExp][] = [
    ['sqlite:', /names no file: use sqlite:PATH$/],
    ['sqlite://host/gatehouse.db', /must not have a host: use sqlite:PATH/],
    ['sqlite:data/', /names a directory/],
    ['sqlite:data.db?mode=ro', /must not have parameters/],
    ['sqlite:data.db#x', /must not have parameters/],
    ['sqlite:data\0.db', /must not have parameters/],
  ]
  for (const [url, sentence] of refused) await assert.rejects(openStore(url, options), sentence)
})

test('opening a file loads nothing of Redis, warns of nothing, and the store holds no process back', async t => {
  const code = `import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context) } })
    const { openStore } = await import(${door})
    await openStore(${JSON.stringify(`sqlite:${temporaryFile(t)}`)}, { commandTimeout: 500 })
    console.log(JSON.stringify(loaded))`
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code])
  const loaded: string[] = JSON.parse(stdout)
  assert.ok(loaded.some(url => url.endsWith('/sqlite-store.ts')))
  assert.deepEqual(
    loaded.filter(url => url.includes('redis')),
    [],
  )
  assert.equal(stderr, '')
})

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createLogger } from '../../../src/log/log.ts'
import { StoreKeeper } from '../../../src/process/store/store-keeper.ts'
import { openStore } from '../../../src/store/open.ts'
import { quickFolder } from '../../help/quick-folder.ts'
import { startRedis } from '../../help/redis.ts'
import { until } from '../../help/until.ts'
import { token } from '../../store/contract-specimens.ts'

async function start(t: TestContext) {
  const folder = quickFolder(t, 'keeper')
  const { GATEHOUSE_DATA: before } = process.env
  process.env.GATEHOUSE_DATA = folder
  t.after(() => {
    if (before === undefined) delete process.env.GATEHOUSE_DATA
    else process.env.GATEHOUSE_DATA = before
  })
  const lines: { readonly msg: string }[] = []
  const log = createLogger('info', { write: line => lines.push(JSON.parse(line)) })
  const path = join(folder, 'store.json')
  const open = async (url: string) => {
    const store = await openStore(url, { commandTimeout: 4_000 })
    const keeper = new StoreKeeper(log)
    await keeper.open(store)
    const close = async () => {
      await keeper.close()
      await store.close()
    }
    t.after(close)
    return { store, close }
  }
  const memory = () => JSON.parse(readFileSync(path, 'utf8'))
  return { folder, path, open, memory, lines }
}

test('a store of an earlier version is adopted without a word, by a machine that remembers none', async t => {
  const redis = await startRedis(t)
  const earlier = await openStore(redis.url, { commandTimeout: 4_000 })
  const kept = token()
  await earlier.tokens.insert(kept)
  await earlier.close()
  await redis.ask('DEL', '{gatehouse}:mark')
  const { open, memory, lines } = await start(t)
  const { store } = await open(redis.url)
  assert.deepEqual([store.degradation.reasons, lines], [[], []])
  assert.deepEqual((await store.tokens.get(kept.account, kept.id))?.record, kept)
  assert.equal(memory().identity, (await store.mark())!.identity)
})

test('what was seen is kept at the end and within a second, and a start on another store in its place is not trusted', async t => {
  const { folder, open, memory } = await start(t)
  const url = `sqlite:${join(folder, 'one.db')}`
  const { store, close } = await open(url)
  await store.tokens.insert(token())
  await until(() => memory().generation === 1)
  await store.tokens.insert(token())
  await store.tokens.list('0', { offset: 0, limit: 1 })
  await close()
  const { identity, generation } = memory()
  assert.equal(generation, 2)
  for (const name of readdirSync(folder).filter(name => name.startsWith('one.db')))
    renameSync(join(folder, name), join(folder, name.replace('one', 'two')))
  const other = await open(url)
  assert.equal(other.store.degradation.reasons[0]?.code, 'store_empty')
  await assert.rejects(other.store.accounts.list(), { name: 'StoreDegraded' })
  await other.close()
  assert.deepEqual([memory().identity, memory().generation], [identity, generation])
  const moved = await open(`sqlite:${join(folder, 'two.db')}`)
  assert.deepEqual(moved.store.degradation.reasons, [])
  assert.deepEqual([memory().identity, memory().generation], [identity, generation])
})

test('a store at another location is trusted only if it is the known one, moved or copied', async t => {
  const { folder, open, memory } = await start(t)
  const first = await open(`sqlite:${join(folder, 'one.db')}`)
  for (let i = 0; i < 3; i++) await first.store.tokens.insert(token())
  await first.close()
  const { identity } = memory()
  const copy = await openStore(`sqlite:${join(folder, 'copy.db')}`, { commandTimeout: 4_000 })
  await copy.continueAs({ identity, generation: 1, last: '', isBehind: false })
  await copy.close()
  const older = await open(`sqlite:${join(folder, 'copy.db')}`)
  await assert.rejects(older.store.accounts.list(), { name: 'StoreDegraded' })
  assert.equal(older.store.degradation.reasons[0]?.code, 'store_older')
  await older.close()
  const other = await open(`sqlite:${join(folder, 'other.db')}`)
  assert.deepEqual([other.store.degradation.reasons, await other.store.accounts.list()], [[], []])
  assert.notEqual(memory().identity, identity)
})

test('a memory that is damaged has no store trusted, and what is accepted afterwards is', async t => {
  const { folder, path, open, memory, lines } = await start(t)
  const url = `sqlite:${join(folder, 'one.db')}`
  const { store, close } = await open(url)
  await store.tokens.insert(token())
  await close()
  const accepted = readFileSync(path, 'utf8')
  writeFileSync(path, accepted.slice(0, 40))
  const { store: doubted } = await open(url)
  assert.equal(doubted.trust.isDoubted, true)
  assert.ok(lines.some(({ msg }) => msg === 'memory of the store unusable'))
  assert.equal(readFileSync(path, 'utf8'), accepted.slice(0, 40))
  writeFileSync(path, accepted)
  await until(() => !doubted.trust.isDoubted)
  assert.equal(memory().identity, (await doubted.mark())!.identity)
})

test('a store that lost a change before it was kept can be accepted as it is', async t => {
  const redis = await startRedis(t)
  const { path, open, memory } = await start(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { store } = await open(redis.url)
  const [accepted, mark] = [readFileSync(path), String(await redis.ask('GET', '{gatehouse}:mark'))]
  await store.tokens.insert(token())
  await redis.ask('SET', '{gatehouse}:mark', mark)
  await assert.rejects(store.accounts.list(), {
    name: 'StoreDegraded',
    message: /the last change is missing/,
  })
  await until(() => memory().isBehind)
  assert.equal(memory().generation, 1)
  writeFileSync(path, accepted)
  await until(() => {
    t.mock.timers.tick(1_000)
    return !store.trust.isDoubted
  })
  assert.deepEqual(readFileSync(path), accepted)
})

test('a store that is accepted while it is looked at stays accepted', async t => {
  const redis = await startRedis(t)
  const { path, open, memory } = await start(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { store } = await open(redis.url)
  const [accepted, mark] = [readFileSync(path), String(await redis.ask('GET', '{gatehouse}:mark'))]
  await store.tokens.insert(token())
  await store.accounts.list()
  t.mock.timers.tick(1_000)
  await until(() => memory().generation === 1)
  await redis.ask('SET', '{gatehouse}:mark', mark)
  const oldest = store.accounts.oldest.bind(store.accounts)
  t.mock.method(store.accounts, 'oldest', async () => {
    t.mock.restoreAll()
    // The look has found nothing to doubt yet, and then finds that a change is missing.
    writeFileSync(path, accepted)
    return oldest()
  })
  t.mock.timers.tick(1_000)
  await until(() => store.trust.seen?.generation === 0)
  assert.deepEqual(readFileSync(path), accepted)
})

test('a folder that cannot be written to is told once, and that it can be again; a store in memory is not kept', async t => {
  const { folder, path, open, memory, lines } = await start(t)
  await open('sqlite::memory:')
  assert.equal(existsSync(path), false)
  const redis = await startRedis(t)
  const { store } = await open(redis.url)
  rmSync(folder, { recursive: true })
  writeFileSync(folder, '')
  for (let i = 0; i < 3; i++) await store.tokens.insert(token())
  await until(() => lines.length > 0)
  rmSync(folder)
  await until(() => lines.length > 1)
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['memory of the store cannot be written', 'memory of the store written again'],
  )
  assert.equal(memory().generation, 3)
})

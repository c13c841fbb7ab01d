import assert from 'node:assert/strict'
import { copyFileSync, existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openStore } from '../../../../src/store/open.ts'
import { type Store, StoreDegraded } from '../../../../src/store/contract/store.ts'
import { account, credential } from '../../contract-specimens.ts'
import { temporaryFile } from '../temporary-file.ts'

async function opened(t: TestContext, file: string, joins: string | null = null): Promise<Store> {
  const store = await openStore(`sqlite:${file}`, { commandTimeout: 2_000, joins })
  t.after(() => store.close())
  return store
}

const degraded = (store: Store) =>
  new Promise<void>(resolve => {
    if (store.degradation.reasons.length > 0) resolve()
    const unfollow = store.degradation.follow(() => {
      unfollow()
      resolve()
    })
  })

const removals = {
  'the database': ['', /gatehouse\.db was removed/],
  'the log of its writes': ['-wal', /gatehouse\.db-wal was removed/],
  'the index of that log': ['-shm', /gatehouse\.db-shm was removed/],
  'the database of the credentials': ['-credentials', /gatehouse\.db-credentials was removed/],
  'the log of the credentials': ['-credentials-wal', /gatehouse\.db-credentials-wal was removed/],
  'the counts': ['-counts', /gatehouse\.db-counts was removed/],
} as const

for (const [name, [suffix, message]] of Object.entries(removals))
  test(`without ${name}, no change is confirmed any more, and the reason names the file`, async t => {
    const file = temporaryFile(t)
    const store = await opened(t, file)
    await store.accounts.insert(account())
    rmSync(`${file}${suffix}`)
    for (const write of [
      () => store.accounts.insert(account()),
      () => store.credentials.put(credential('session')),
    ])
      await assert.rejects(write, (error: StoreDegraded) => {
        assert.ok(error instanceof StoreDegraded)
        assert.match(error.message, message)
        assert.match(error.remedy, /restore a backup/)
        return true
      })
    assert.equal((await store.accounts.list()).length, 1)
    assert.equal(existsSync(`${file}${suffix}`), false)
  })

test('a file that was replaced is noticed within seconds, without a write, and trusted again once it is back', async t => {
  const file = temporaryFile(t)
  const store = await opened(t, file)
  renameSync(file, `${file}.aside`)
  copyFileSync(`${file}.aside`, file)
  await degraded(store)
  assert.match(store.degradation.reasons[0]!.message, /gatehouse\.db was replaced while it was open/)
  const over = new Promise<void>(resolve => store.degradation.follow(resolve))
  renameSync(`${file}.aside`, file)
  await over
  assert.deepEqual(store.degradation.reasons, [])
  assert.equal(await store.accounts.insert(account()), true)
})

test('what was confirmed before the log of writes was removed outlives the process', async t => {
  const file = temporaryFile(t)
  const store = await opened(t, file)
  const confirmed: string[] = []
  let refused = 0
  for (let i = 0; i < 40; i++) {
    if (i === 20) for (const suffix of ['-wal', '-shm']) rmSync(`${file}${suffix}`)
    const owner = account()
    try {
      await store.accounts.insert(owner)
      confirmed.push(owner.id)
    } catch (error) {
      assert.ok(error instanceof StoreDegraded)
      refused++
    }
  }
  assert.deepEqual([confirmed.length, refused], [20, 20])
  // As after kill -9: nobody closes the database.
  copyFileSync(file, `${file}-after`)
  const after = await opened(t, `${file}-after`)
  const found = (await after.accounts.list()).map(({ id }) => id)
  assert.deepEqual(found.toSorted(), confirmed.toSorted())
})

test('a process that joins opens the same files, and neither makes a file nor opens another one', async t => {
  const file = temporaryFile(t)
  const store = await opened(t, file)
  const joined = await opened(t, file, store.openFiles)
  await store.accounts.insert(account())
  assert.equal((await joined.accounts.list()).length, 1)
  for (const suffix of ['-wal', '-shm']) rmSync(`${file}${suffix}`)
  const left = readdirSync(dirname(file)).toSorted()
  await assert.rejects(
    opened(t, file, store.openFiles),
    /removed or replaced while the gateway had them open/,
  )
  assert.deepEqual(readdirSync(dirname(file)).toSorted(), left)
  renameSync(file, `${file}.aside`)
  await assert.rejects(opened(t, file, store.openFiles), /removed or replaced/)
  assert.equal(existsSync(file), false)
  writeFileSync(file, '')
  await assert.rejects(opened(t, file, store.openFiles), /removed or replaced/)
})

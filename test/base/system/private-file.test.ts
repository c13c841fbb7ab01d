import assert from 'node:assert/strict'
import { chown, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makePrivateFile, writeNew } from '../../../src/base/system/private-file.ts'

test('a new file is for its owner alone, and one that is there stays', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'whole-file-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'key')
  await writeNew(path, 'first')
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  await assert.rejects(writeNew(path, 'second'), { code: 'EEXIST' })
  assert.equal(await readFile(path, 'utf8'), 'first')
})

test('a missing file is made for its owner alone, and one that is there keeps its content', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'whole-file-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'store')
  makePrivateFile(path)
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  await writeFile(path, 'content')
  makePrivateFile(path)
  assert.equal(await readFile(path, 'utf8'), 'content')
  assert.throws(() => makePrivateFile(folder), { code: 'EISDIR' })
  assert.throws(() => makePrivateFile(join(path, 'a')), { code: 'ENOTDIR' })
})

test('what root makes in the folder of another user is theirs', {
  skip: process.geteuid?.() !== 0,
}, async t => {
  const folder = await mkdtemp(join(tmpdir(), 'whole-file-'))
  t.after(() => rm(folder, { recursive: true }))
  const [uid, gid] = [12_345, 23_456]
  await chown(folder, uid, gid)
  await writeNew(join(folder, 'key'), 'secret')
  makePrivateFile(join(folder, 'store'))
  for (const name of ['key', 'store']) {
    const stats = await stat(join(folder, name))
    assert.deepEqual([stats.uid, stats.gid, stats.mode & 0o777], [uid, gid, 0o600], name)
  }
})

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeNew } from '../../../src/base/system/private-file.ts'

test('a new file is for its owner alone, and one that is there stays', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'whole-file-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'key')
  await writeNew(path, 'first')
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  await assert.rejects(writeNew(path, 'second'), { code: 'EEXIST' })
  assert.equal(await readFile(path, 'utf8'), 'first')
})

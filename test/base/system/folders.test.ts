import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeFolder, makeFolderSync } from '../../../src/base/system/folders.ts'

const ways = { makeFolder, makeFolderSync: async (path: string, mode?: number) => makeFolderSync(path, mode) }

for (const [name, make] of Object.entries(ways)) {
  test(`${name}: a folder is made with its parents, and one that is there stays`, async t => {
    const root = mkdtempSync(join(tmpdir(), 'folders-'))
    t.after(() => rmSync(root, { recursive: true }))
    await make(join(root, 'a/b/c'), 0o700)
    for (const path of ['a', 'a/b', 'a/b/c']) assert.equal(statSync(join(root, path)).mode & 0o777, 0o700)
    await make(join(root, 'a/b/c'))
    symlinkSync(join(root, 'a'), join(root, 'link'))
    await make(join(root, 'link'))
    await Promise.all([make(join(root, 'x/y/z')), make(join(root, 'x/y/z'))])
    await make('/')
  })

  test(`${name}: what is no folder, and what leads nowhere, is a failure`, async t => {
    const root = mkdtempSync(join(tmpdir(), 'folders-'))
    t.after(() => rmSync(root, { recursive: true }))
    writeFileSync(join(root, 'file'), '')
    symlinkSync(join(root, 'missing'), join(root, 'dangling'))
    await assert.rejects(make(join(root, 'file')), { code: 'EEXIST' })
    await assert.rejects(make(join(root, 'file/a')), { code: 'ENOTDIR' })
    await assert.rejects(make(join(root, 'dangling')), { code: 'EEXIST' })
    await assert.rejects(make(''), { code: 'ENOENT' })
  })

  // In a process of its own: what these paths did was to compute forever.
  test(`${name}: a folder that takes nothing is a failure`, { skip: process.platform !== 'linux' }, () => {
    const script = `
      import { mkdtempSync, rmdirSync } from 'node:fs'
      import { ${name} } from ${JSON.stringify(import.meta.resolve('../../../src/base/system/folders.ts'))}
      const folder = mkdtempSync(${JSON.stringify(join(tmpdir(), 'folders-'))})
      process.chdir(folder)
      rmdirSync(folder)
      for (const path of ['/proc/a', '/proc/a/b', 'data', 'data/a/b', './data']) {
        try {
          await ${name}(path)
        } catch (failure) {
          console.log(path, failure.code)
        }
      }`
    const { stdout, signal } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      timeout: 20_000,
    })
    assert.equal(signal, null)
    assert.equal(stdout, '/proc/a ENOENT\n/proc/a/b ENOENT\ndata ENOENT\ndata/a/b ENOENT\n./data ENOENT\n')
  })
}

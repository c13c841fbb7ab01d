import { deepEqual, equal, match } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFileSync, closeSync, constants, openSync, readdirSync, readFileSync, readSync } from 'node:fs'
import { renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { FileDestination } from '../../src/config/model/log-export-config.ts'
import type { Batch } from '../../src/log-export/outbox.ts'
import { RotatingFile } from '../../src/log-export/rotating-file.ts'
import { quickFolder } from '../help/quick-folder.ts'

function open(t: TestContext, changes: Partial<FileDestination> = {}) {
  const folder = quickFolder(t, 'rotated')
  const path = join(folder, 'calls.ndjson')
  const clock = { now: Date.now() }
  const config: FileDestination = { kind: 'file', path, maxSize: 100, maxAge: 0, keep: 2, ...changes }
  return { folder, path, clock, file: new RotatingFile(config, () => clock.now++) }
}

function batch(text: string): Batch {
  return { id: 'id', file: 'id.ndjson.gz', entries: 1, content: gzipSync(text) }
}

const line = `${'x'.repeat(49)}\n`

test('batches are appended, and only the owner may read them', async t => {
  const { path, file } = open(t)
  equal(await file.deliver(batch('{"a":1}\n')), null)
  equal(await file.deliver(batch('{"a":2}\n')), null)
  equal(readFileSync(path, 'utf8'), '{"a":1}\n{"a":2}\n')
  equal(statSync(path).mode & 0o777, 0o600)
})

test('a file that would become too large is rotated, and the oldest ones are deleted', async t => {
  const { folder, path, file } = open(t)
  for (let i = 0; i < 10; i++) await file.deliver(batch(line))
  writeFileSync(join(folder, 'calls-notes.ndjson'), '')
  await file.deliver(batch(line))
  equal(readFileSync(path, 'utf8'), line)
  const rotated = readdirSync(folder).filter(name => /^calls-2.*Z\.ndjson$/.test(name))
  equal(rotated.length, 2)
  for (const name of rotated) equal(readFileSync(join(folder, name), 'utf8'), line + line)
  equal(readdirSync(folder).includes('calls-notes.ndjson'), true)
})

test('a file that is old enough is rotated though nothing comes', async t => {
  const { folder, path, clock, file } = open(t, { maxAge: 60_000 })
  await file.deliver(batch(line))
  file.tick(clock.now)
  equal(readdirSync(folder).length, 1)
  file.tick(clock.now + 61_000)
  const [name] = readdirSync(folder)
  match(name!, /^calls-.*Z\.ndjson$/)
  file.tick(clock.now + 200_000)
  equal(statSync(path, { throwIfNoEntry: false }), undefined)
})

test('another program may move the file away', async t => {
  const { path, file } = open(t)
  await file.deliver(batch(line))
  renameSync(path, `${path}.1`)
  await file.deliver(batch('{}\n'))
  equal(readFileSync(path, 'utf8'), '{}\n')
})

test('half a line at the end, from a write that was interrupted, is removed', async t => {
  for (const half of ['{"id":', 'y'.repeat(200_000)]) {
    const { path, file } = open(t, { maxSize: 2 ** 30 })
    writeFileSync(path, line)
    appendFileSync(path, half)
    await file.deliver(batch('{}\n'))
    equal(readFileSync(path, 'utf8'), `${line}{}\n`)
  }
  const { path, file } = open(t)
  writeFileSync(path, 'half')
  await file.deliver(batch('{}\n'))
  equal(readFileSync(path, 'utf8'), '{}\n')
})

test('a file that cannot be written is a failure', async t => {
  const { path } = open(t)
  const config: FileDestination = { kind: 'file', path: `${path}/x`, maxSize: 100, maxAge: 0, keep: 2 }
  writeFileSync(path, '')
  const failure = await new RotatingFile(config, Date.now).deliver(batch(line))
  deepEqual([failure?.kind, failure?.isPermanent], ['disk', false])
  match(failure!.message, /ENOTDIR/)
})

test('a pipe or device is refused before anything is written to it', async t => {
  const { path, file } = open(t)
  execFileSync('mkfifo', [path])
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  t.after(() => closeSync(reader))
  for (let attempt = 0; attempt < 2; attempt++)
    match((await file.deliver(batch(line)))!.message, /calls\.ndjson is not a regular file$/)
  equal(readSync(reader, Buffer.alloc(100)), 0)
})

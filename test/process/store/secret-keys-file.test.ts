import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { SecretKeys } from '../../../src/base/secrets/secret-keys.ts'
import type { Config } from '../../../src/config/model/config.ts'
import { loadConfig } from '../../../src/config/load/load.ts'
import { loadSecretKeys } from '../../../src/process/store/secret-keys-file.ts'
import { gatehouse } from '../../help/command.ts'
import { writeConfig } from '../../help/gateway.ts'

const nothing = { key: null, oldKeys: [] }
const fileOf = (folder: string) => join(folder, 'secrets.key')

function dataFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

/** Puts a key file in the folder and gives the failure to load it. */
async function refusal(folder: string, text: string, mode = 0o600): Promise<string> {
  writeFileSync(fileOf(folder), text)
  chmodSync(fileOf(folder), mode)
  const failure = await loadSecretKeys(nothing, folder).then(
    () => assert.fail('it was loaded'),
    (error: Error) => error,
  )
  assert.equal(readFileSync(fileOf(folder), 'utf8'), text)
  return failure.message
}

test('a key is made once, in a folder that may lack, for its owner only', async t => {
  const folder = join(dataFolder(t), 'a', 'b')
  const made = await loadSecretKeys(nothing, folder)
  assert.equal(statSync(fileOf(folder)).mode & 0o777, 0o600)
  assert.deepEqual(readdirSync(folder), ['secrets.key'])
  const text = readFileSync(fileOf(folder), 'latin1')
  assert.match(text, /^[\w-]{43}\n$/)
  assert.equal((await loadSecretKeys(nothing, folder)).currentId, made.currentId)
  assert.equal(readFileSync(fileOf(folder), 'latin1'), text)
  assert.equal(new SecretKeys(Buffer.from(text, 'base64url')).currentId, made.currentId)
})

test('only the process that creates a key learns that it did', async t => {
  const folder = dataFolder(t)
  const made: string[] = []
  const load = () => loadSecretKeys(nothing, folder, path => made.push(path))
  await Promise.all(Array.from({ length: 20 }, load))
  await load()
  assert.deepEqual(made, [fileOf(folder)])
})

test('no two folders get the same key', async t => {
  const keys = await Promise.all([1, 2].map(() => loadSecretKeys(nothing, dataFolder(t))))
  assert.notEqual(keys[0]!.currentId, keys[1]!.currentId)
})

test('processes that start at once agree on one key', async t => {
  const folder = dataFolder(t)
  const loader = new URL('../../../src/process/store/secret-keys-file.ts', import.meta.url).href
  const script = `
    const { loadSecretKeys } = await import(${JSON.stringify(loader)})
    const all = await Promise.all(Array.from({ length: 20 }, () =>
      loadSecretKeys({ key: null, oldKeys: [] }, ${JSON.stringify(folder)})))
    console.log(all.map(keys => keys.currentId).join(' '))`
  const run = () => promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script])
  const outputs = await Promise.all([run(), run(), run()])
  const ids = outputs.flatMap(({ stdout }) => stdout.trim().split(' '))
  assert.equal(ids.length, 60)
  assert.equal(new Set(ids).size, 1)
  assert.deepEqual(readdirSync(folder), ['secrets.key'])
})

test('leftovers of a process that died while creating a key do no harm', async t => {
  const folder = dataFolder(t)
  writeFileSync(`${fileOf(folder)}.0123456789abcdef`, 'half', { mode: 0o600 })
  const { currentId } = await loadSecretKeys(nothing, folder)
  assert.equal((await loadSecretKeys(nothing, folder)).currentId, currentId)
})

test('a file that others can read is refused, with what to do', async t => {
  const folder = dataFolder(t)
  const text = randomBytes(32).toString('hex')
  for (const mode of [0o644, 0o640, 0o604, 0o660, 0o601]) {
    const path = fileOf(folder)
    const message = await refusal(folder, text, mode)
    assert.equal(message, `${path} must be readable only by its owner: run chmod 600 ${path}`)
  }
  chmodSync(fileOf(folder), 0o400)
  assert.ok(await loadSecretKeys(nothing, folder))
})

test('a file that is not a key is refused, stays as it is, and is never shown', async t => {
  const folder = dataFolder(t)
  for (const text of ['', '\n', 'hunter2', randomBytes(31).toString('base64'), '\u00ff'.repeat(60)]) {
    const message = await refusal(folder, text)
    assert.match(message, /secrets\.key must be at least 32 random bytes/)
    if (text.trim() !== '') assert.ok(!message.includes(text))
  }
})

test('anything but a file is refused, and a pipe is not waited for', async t => {
  const folder = dataFolder(t)
  await promisify(execFile)('mkfifo', ['-m', '600', fileOf(folder)])
  await assert.rejects(loadSecretKeys(nothing, folder), { message: `${fileOf(folder)} must be a file` })
  rmSync(fileOf(folder))
  mkdirSync(fileOf(folder), { mode: 0o700 })
  await assert.rejects(loadSecretKeys(nothing, folder), { message: `${fileOf(folder)} must be a file` })
})

test('a folder that cannot be created is reported with its remedy', async t => {
  const file = join(dataFolder(t), 'file')
  writeFileSync(file, '')
  await assert.rejects(
    loadSecretKeys(nothing, file),
    /secrets\.key cannot be read or created \(ENOTDIR\): .*/,
  )
  await assert.rejects(loadSecretKeys(nothing, join(file, 'folder')), /or set secrets\.key$/)
})

test('keys of the configuration need no folder, and an old one still checks', async t => {
  const folder = join(dataFolder(t), 'none')
  const [key, old] = [randomBytes(32), randomBytes(40)]
  const config = { key: key.toString('base64'), oldKeys: [old.toString('hex')] }
  const keys = await loadSecretKeys(config, folder)
  assert.equal(keys.currentId, new SecretKeys(key).currentId)
  assert.ok(keys.knows(new SecretKeys(old).currentId))
  assert.equal(existsSync(folder), false)
})

test('the file of the folder, with its newline, is an old key of the configuration that names it', async t => {
  const folder = dataFolder(t)
  const before = await loadSecretKeys(nothing, folder)
  const place = `secrets: { key: ${'0'.repeat(64)}, old_keys: 'file:${fileOf(folder)}' }`
  const file = writeConfig(t, `zones: []\nai: { hosts: [127.0.0.1] }\n${place}`)
  assert.partialDeepStrictEqual(await gatehouse(['check', '--config', file]), { code: 0, stderr: '' })
  const { config } = loadConfig(file) as { config: Config }
  const keys = await loadSecretKeys(config.secrets, folder)
  assert.equal(keys.currentId, new SecretKeys(Buffer.alloc(32)).currentId)
  assert.ok(keys.knows(before.currentId))
})

test('old keys of the configuration go with the key of the folder', async t => {
  const folder = dataFolder(t)
  const old = randomBytes(32)
  const keys = await loadSecretKeys({ key: null, oldKeys: [old.toString('hex')] }, folder)
  assert.ok(keys.knows(new SecretKeys(old).currentId))
  assert.equal(keys.currentId, (await loadSecretKeys(nothing, folder)).currentId)
})

test('an invalid key of the configuration is not shown', async t => {
  const folder = dataFolder(t)
  await assert.rejects(loadSecretKeys({ key: 'hunter2', oldKeys: [] }, folder), {
    message: 'secrets.key must be at least 32 random bytes in hex, base64 or base64url',
  })
  await assert.rejects(
    loadSecretKeys({ key: null, oldKeys: ['hunter2'] }, folder),
    /^Error: secrets\.old_keys/,
  )
})

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readFirstToken } from '../../../src/process/store/first-token.ts'
import { mintToken } from '../../../src/tokens/token.ts'

const { value } = mintToken()

function file(t: TestContext, content: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'token')
  writeFileSync(path, content)
  return path
}

test('the first token comes from the environment or from a file, and empty variables give none', t => {
  assert.deepEqual(readFirstToken({}), { token: null })
  assert.deepEqual(readFirstToken({ GATEHOUSE_FIRST_TOKEN: '', GATEHOUSE_FIRST_TOKEN_FILE: '' }), {
    token: null,
  })
  assert.deepEqual(readFirstToken({ GATEHOUSE_FIRST_TOKEN: value }), { token: value })
  for (const end of ['', '\n', '\r\n'])
    assert.deepEqual(readFirstToken({ GATEHOUSE_FIRST_TOKEN_FILE: file(t, value + end) }), { token: value })
})

test('no child process inherits it', () => {
  const env = { GATEHOUSE_FIRST_TOKEN: value, GATEHOUSE_FIRST_TOKEN_FILE: '/x', HOME: '/' }
  readFirstToken(env)
  assert.deepEqual(env, { HOME: '/' })
})

test('a mistake is reported in a sentence without the value', t => {
  const wrong = `${value.slice(0, -1)}${value.endsWith('A') ? 'B' : 'A'}`
  const form = 'must be a token as printed by `gatehouse token generate`'
  const variable = `GATEHOUSE_FIRST_TOKEN ${form}`
  const both = { GATEHOUSE_FIRST_TOKEN: value, GATEHOUSE_FIRST_TOKEN_FILE: '/x' }
  for (const text of [wrong, 'hunter2', ` ${value}`, `${value}\n`])
    assert.deepEqual(readFirstToken({ GATEHOUSE_FIRST_TOKEN: text }), { mistake: variable })
  for (const text of [wrong, '', `${value}\n\n`])
    assert.deepEqual(readFirstToken({ GATEHOUSE_FIRST_TOKEN_FILE: file(t, text) }), {
      mistake: `GATEHOUSE_FIRST_TOKEN_FILE ${form}`,
    })
  assert.deepEqual(readFirstToken({ GATEHOUSE_FIRST_TOKEN_FILE: '/nowhere' }), {
    mistake: 'GATEHOUSE_FIRST_TOKEN_FILE: cannot read the file (ENOENT)',
  })
  assert.deepEqual(readFirstToken(both), {
    mistake: 'set GATEHOUSE_FIRST_TOKEN or GATEHOUSE_FIRST_TOKEN_FILE, not both',
  })
})

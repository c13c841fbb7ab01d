import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describe, resolveReferences } from '../../../src/config/file/references.ts'

const readFile = (path: string) => {
  if (path === 'key') return 'secret\n'
  throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
}
const read = (written: string, env: Record<string, string> = {}) =>
  resolveReferences(written, { env, readFile })

test('variables are replaced by their value, or else by their default', () => {
  assert.deepEqual(read('plain'), { value: 'plain' })
  assert.deepEqual(read('a ${B} c', { B: 'b' }), { value: 'a b c' })
  assert.deepEqual(read('${B:-c}', { B: '' }), { value: 'c' })
  assert.deepEqual(read('${B:-}'), { value: '' })
  assert.deepEqual(read('${B:-c}', { B: 'b' }), { value: 'b' })
})

test('an unset variable or invalid reference is a flaw that names the variable and no value', () => {
  assert.deepEqual(read('${B}', { B: '' }), {
    flaw: 'refers to ${B}, which is unset or empty and has no default',
  })
  for (const inherited of ['constructor', 'toString', '__proto__'])
    assert.match((read(`\${${inherited}}`) as { flaw: string }).flaw, /^refers to \$\{\w+\}, which is unset/)
  for (const odd of ['${}', '${1}', '${A', '${a b}'])
    assert.match((read(odd, { A: 'a' }) as { flaw: string }).flaw, /^contains a malformed reference/, odd)
})

test('a file is replaced by its text without the last line end', () => {
  assert.deepEqual(read('file:key'), { value: 'secret' })
  assert.deepEqual(read('file:${K}', { K: 'key' }), { value: 'secret' })
  assert.deepEqual(read('file:${K}', { K: 'other' }), {
    flaw: 'refers to the file ${K}, which cannot be read (ENOENT)',
  })
})

test('a value is called by where it comes from', () => {
  assert.equal(describe('${KEY:-secret}'), 'the value of ${KEY}')
  assert.equal(describe('file:key'), 'the content of key')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldId } from '../../../src/http1/fields/fields.ts'
import { nobody, TrailerFields } from '../../../src/http2/frames/trailer-fields.ts'
import { type HeaderField, pseudo } from '../../../src/http2/hpack/decoder.ts'

function line(name: string, more: Partial<HeaderField> = {}): HeaderField {
  return { name, value: 'v', id: fieldId(name), pseudo: pseudo.none, isSound: true, size: 34, ...more }
}

function read(...lines: readonly HeaderField[]): readonly [fields: string[] | null, isMalformed: boolean] {
  const section = new TrailerFields()
  for (const one of lines) section.take(one)
  return [section.fields, section.isMalformed]
}

test('fields that may come late are kept in order, and others are left out', () => {
  assert.deepEqual(read(), [null, false])
  assert.deepEqual(read(line('x'), line('content-type'), line('grpc-status', { value: '0' }), line('x')), [
    ['x', 'v', 'grpc-status', '0', 'x', 'v'],
    false,
  ])
})

test('a section is malformed by a field that may not be there, whatever comes after it', () => {
  for (const bad of [
    'connection',
    'keep-alive',
    'proxy-connection',
    'te',
    'transfer-encoding',
    'upgrade',
    'content-length',
  ])
    assert.equal(read(line(bad), line('x'))[1], true, bad)
  assert.equal(read(line('x', { isSound: false }), line('x'))[1], true)
  assert.equal(read(line(':path', { pseudo: pseudo.path }), line('x'))[1], true)
  // The next two known fields after those of a connection.
  for (const good of ['x', 'http2-settings', 'proxy-authenticate'])
    assert.equal(read(line(good))[1], false, good)
})

test('a section that nobody needs is skipped', () => {
  nobody.take(line('connection'))
})

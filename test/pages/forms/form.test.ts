import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isForm, readForm, signInForms } from '../../../src/pages/forms/form.ts'

const read = (text: string) => readForm(Buffer.from(text, 'latin1'))

test('a form is read as browsers write it', () => {
  const form = read('email=ada%40example.com&name=Ada+L%C3%B6ve+%2B&empty=&a.b-c_d*=%26%3D')
  assert.deepEqual(
    [...form!],
    [
      ['email', 'ada@example.com'],
      ['name', 'Ada Löve +'],
      ['empty', ''],
      ['a.b-c_d*', '&='],
    ],
  )
  assert.equal(read('')!.size, 0)
})

test('a body that no browser sends is not read as a form', () => {
  for (const text of [
    'a=1&a=2',
    'a=1&%61=2',
    'a',
    '=1',
    'a=1&',
    '&a=1',
    'a=1=2',
    'a=%',
    'a=%4',
    'a=%zz',
    'a=%ff',
    'a=%c0%80',
    'a=%ed%a0%80',
    'a=%00',
    'a=%0d%0a',
    'a=%7f',
    'a=b c',
    'a=b\n',
    'a=\xe9',
    `a=${'b'.repeat(signInForms.maxBytes)}`,
    Array.from({ length: 201 }, (_, i) => `f${i}=`).join('&'),
  ])
    assert.equal(read(text), null, text)
})

test('the type of a form is that one, in UTF-8', () => {
  for (const type of [
    'application/x-www-form-urlencoded',
    'Application/X-WWW-Form-Urlencoded; charset=UTF-8',
    'application/x-www-form-urlencoded;charset="utf-8"',
  ])
    assert.ok(isForm(type), type)
  for (const type of [
    undefined,
    '',
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded; charset=latin1',
    'application/x-www-form-urlencodedx',
    'application/json',
  ])
    assert.ok(!isForm(type), String(type))
})

test('what a browser writes comes back', () => {
  const text = fc.string({ unit: 'grapheme' }).filter(text => !/[\0-\x08\x0a-\x1f\x7f]/.test(text))
  const name = text.filter(name => name !== '')
  const entries = fc
    .uniqueArray(fc.tuple(name, text), { selector: ([name]) => name })
    .map(entries => entries.map(([name, value]): [string, string] => [name, value]))
  fc.assert(
    fc.property(entries, entries => {
      assert.deepEqual([...read(new URLSearchParams(entries).toString())!], entries)
    }),
  )
})

test('whatever comes, it is read as the standard reads it, or not at all', () => {
  const piece = fc.constantFrom('a', '=', '&', '%', '+', '%00', '%C3', '%A9', '%26', 'é', ' ', '\0')
  const bytes = fc.oneof(
    fc.uint8Array().map(array => Buffer.from(array)),
    fc.array(piece).map(pieces => Buffer.from(pieces.join(''), 'latin1')),
  )
  fc.assert(
    fc.property(bytes, bytes => {
      const form = readForm(bytes)
      if (form !== null) assert.deepEqual([...form], [...new URLSearchParams(bytes.toString('latin1'))])
    }),
    { numRuns: 2000 },
  )
})

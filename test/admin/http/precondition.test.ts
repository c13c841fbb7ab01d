import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { etagOf, parseIfMatch, unmet, unmetByNone } from '../../../src/admin/http/precondition.ts'

const client = { revision: 7 }
const statusFor = (field: string) => unmet(field, client)?.status ?? null

test('a change passes without If-Match, with *, and with a list that has the tag of the client', () => {
  assert.equal(unmet(null, client), null)
  for (const field of ['*', ' * ', '"7"', '"6", "7"', ',"6",, "7" ,', '"a,b","7"', 'W/"7","7"'])
    assert.equal(statusFor(field), null, field)
})

test('another tag or a weak one is 412 with the current tag', () => {
  for (const field of ['"6"', '"07"', 'W/"7"', '""', '"6","8"']) assert.equal(statusFor(field), 412, field)
  const refusal = unmet('"6"', client)
  assert.equal(refusal?.headers.etag, '"7"')
  assert.equal(JSON.parse(refusal!.body).errors[0].code, 10420)
})

test('what is to be new passes If-None-Match unless there is something with such a tag', () => {
  for (const field of [null, '*', '"7"']) assert.equal(unmetByNone(field, null), null, String(field))
  for (const field of [null, '"6"', 'W/"6","8"', '"aW/","6"'])
    assert.equal(unmetByNone(field, client), null, String(field))
  for (const field of ['*', '"7"', 'W/"7"', '"6", W/"7"']) {
    const refusal = unmetByNone(field, client)
    assert.deepEqual([refusal?.status, refusal?.headers.etag], [412, '"7"'], field)
  }
  for (const field of ['', '7', '*,"7"'])
    for (const current of [client, null]) assert.equal(unmetByNone(field, current)?.status, 400, field)
})

test('an invalid list of tags is 400', () => {
  for (const field of [
    '',
    ' ',
    ',',
    '7',
    '"7',
    '7"',
    '"7""8"',
    '"7" "8"',
    'w/"7"',
    'W/ "7"',
    '*,"7"',
    '"7",*',
    '"7 "',
  ])
    assert.equal(statusFor(field), 400, JSON.stringify(field))
})

test('a list of tags is read completely, whatever is between them; weak ones are skipped', () => {
  const tag = fc.stringMatching(/^"[!#-~]{0,8}"$/)
  const space = fc.constantFrom('', ' ', '\t', ' , ')
  const members = fc.array(fc.tuple(fc.boolean(), tag, space, space), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(members, list => {
      const field = list.map(([isWeak, tag, before, after]) => `${before}${isWeak ? 'W/' : ''}${tag}${after}`)
      const strong = list.filter(([isWeak]) => !isWeak).map(([, tag]) => tag)
      assert.deepEqual(parseIfMatch(field.join(',')), strong)
    }),
  )
})

test('any text is read or refused, in linear time', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('"', ',', ' ', 'W', '/', 'a', '\t') }), text => {
      const read = parseIfMatch(text)
      assert.ok(read === null || read === '*' || read.every(tag => text.includes(tag)))
    }),
    { numRuns: 2_000 },
  )
  assert.equal(parseIfMatch(`${' '.repeat(8_000)}x`), null)
  assert.equal(parseIfMatch(`${' ,\t'.repeat(3_000)}"`), null)
})

test('the tag of a client is its revision, in quotes', () => {
  assert.deepEqual(etagOf({ revision: 12 }), { etag: '"12"' })
  assert.deepEqual(etagOf({ revision: 'c0ffee' }), { etag: '"c0ffee"' })
})

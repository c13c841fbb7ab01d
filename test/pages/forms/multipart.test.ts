import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { boundaryOf, readMultipart } from '../../../src/pages/forms/multipart.ts'

const rules = { maxBytes: 100_000, fields: 20, hasLines: true }

/** Writes a form with files as the browser of this runtime does. */
async function written(entries: readonly (readonly [string, string | File])[]) {
  const data = new FormData()
  for (const [name, value] of entries) data.append(name, value)
  const response = new Response(data)
  const boundary = boundaryOf(response.headers.get('content-type')!)
  return { boundary: boundary!, body: Buffer.from(await response.arrayBuffer()) }
}

test('a form is read as it is written, files as text', async () => {
  const { body, boundary } = await written([
    ['form_token', 'abc'],
    ['name "x"', 'two\nlines'],
    ['page', new File(['<h1>Grüße</h1>\r\n\0'], 'page.html', { type: 'text/html' })],
    ['none', new File([], '')],
  ])
  assert.deepEqual(
    [...readMultipart(body, boundary, rules)!],
    [
      ['form_token', 'abc'],
      ['name "x"', 'two\nlines'],
      ['page', '<h1>Grüße</h1>\r\n\0'],
      ['none', ''],
    ],
  )
  assert.equal(readMultipart(body, boundary, { ...rules, fields: 3 }), null)
  assert.equal(readMultipart(body, boundary, { ...rules, maxBytes: body.length - 1 }), null)
  assert.equal(readMultipart(body, boundary, { ...rules, hasLines: false }), null)
})

test('a body that no browser sends is not read as a form', () => {
  const part = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'
  assert.equal(readMultipart(Buffer.from(`${part}--b--\r\n`), 'b', rules)!.get('a'), '1')
  for (const text of [
    '',
    part,
    `${part}${part}--b--`,
    `x${part}--b--`,
    `${part}--b--x`,
    `${part.replace('form-data', 'attachment')}--b--`,
    `${part.replace('name="a"', 'name=a')}--b--`,
    `${part.replace('\r\n\r\n', '\r\nContent-Transfer-Encoding: base64\r\n\r\n')}--b--`,
    `${part.replaceAll('\r\n', '\n')}--b--`,
    `${part.replace('1', '\0')}--b--`,
  ])
    assert.equal(readMultipart(Buffer.from(text), 'b', rules), null, JSON.stringify(text))
  assert.equal(readMultipart(Buffer.from(`${part.replace('1', '\xff')}--b--`, 'latin1'), 'b', rules), null)
  for (const type of [
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/mixed; boundary=b',
    `multipart/form-data; boundary=${'b'.repeat(71)}`,
  ])
    assert.equal(boundaryOf(type), null, type)
})

test('whatever is typed comes back, and no bytes make it fail in another way than by none', async () => {
  const word = fc.string({ unit: 'grapheme', maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.tuple(fc.stringMatching(/^[a-z.]{1,8}$/), word), {
        selector: ([name]) => name,
        maxLength: 5,
      }),
      async pairs => {
        const { body, boundary } = await written(pairs.map(([name, value]) => [name, new File([value], 'f')]))
        assert.deepEqual([...(pairs.length === 0 ? [] : readMultipart(body, boundary, rules)!)], pairs)
      },
    ),
    { numRuns: 100 },
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
      readMultipart(Buffer.from(bytes), 'b', rules)
      readMultipart(Buffer.concat([Buffer.from('--b\r\n'), bytes, Buffer.from('\r\n--b--')]), 'b', rules)
    }),
  )
})

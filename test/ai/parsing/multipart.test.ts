import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { boundaryOf, modelInForm } from '../../../src/ai/parsing/multipart.ts'

const part = (head: string, content: string) => `--b\r\n${head}\r\n\r\n${content}\r\n`
const named = (name: string, content: string) =>
  part(`Content-Disposition: form-data; name="${name}"`, content)
const read = (text: string) => {
  const found = modelInForm(Buffer.from(text), 'b')
  return typeof found === 'string' ? found : found.model
}

test('the model is found wherever it is in the form', () => {
  const file = part(
    'Content-Disposition: form-data; name="file"; filename="a; name=model.wav"\r\nContent-Type: audio/wav',
    'x\r\n--c',
  )
  equal(read(`${file}${named('model', 'openai/whisper-1')}--b--\r\n`), 'openai/whisper-1')
  equal(read(`${named('model', '')}${file}--b--`), '')
  equal(read(`${part('Content-Disposition: form-data; name=model', 'a')}--b--`), 'a')
})

test('a form has up to 1,000 parts, with heads of up to 16 KiB', () => {
  const parts = named('x', '').repeat(999)
  equal(read(`${parts}${named('model', 'a')}--b--`), 'a')
  equal(read(`${parts}${named('model', 'a')}${named('x', '')}--b--`), 'form')
  // The line ends around a head count.
  const head = 'Content-Disposition: form-data; name="model"\r\nX:'.padEnd(16 * 1024 - 6, 'x')
  equal(read(`${part(head, 'a')}--b--`), 'a')
  equal(read(`${part(`${head}x`, 'a')}--b--`), 'form')
})

test('a form that another reader could understand differently is refused', () => {
  const model = named('model', 'a')
  for (const text of [
    '',
    '--b--x',
    '--b--xx',
    `${model}--b`,
    `x\r\n${model}--b--`,
    `xxx${model.slice(3)}--b--`,
    `--bxx${model.slice(5)}--b--`,
    '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\n--b--',
    `${model}--b--\r\nmore`,
    `${part('Content-Disposition: form-data; name="model"; name="x"', 'a')}--b--`,
    `${part("Content-Disposition: form-data; name*=utf-8''model", 'a')}--b--`,
    `${part('Content-Disposition: form-data; name="mo\\del"', 'a')}--b--`,
    `${named('mo%22del', 'a')}--b--`,
    `${part('Content-Disposition: attachment; name="model"', 'a')}--b--`,
    `${part('Content-Disposition: form-data; name="model"\r\nContent-Disposition: form-data; name="x"', 'a')}--b--`,
    `${part('Content-Disposition: form-data; filename="model"', 'a')}--b--`,
    `${part('Content-Disposition: form-data; name="model"\r\nContent-Transfer-Encoding: base64', 'a')}--b--`,
    `${part('Content-Disposition: form-data; name="model"\r\n folded', 'a')}--b--`,
  ])
    equal(read(text), 'form', JSON.stringify(text))
  equal(read(`${named('x', 'a')}--b--`), 'missing')
  equal(read(`${model}${model}--b--`), 'repeated')
  equal(read(`${model}${named('Model', 'b')}--b--`), 'repeated')
  equal(read(`${named('Model', 'b')}--b--`), 'repeated')
})

test('a boundary is read from a type with nothing else', () => {
  equal(boundaryOf('multipart/form-data; boundary=abc'), 'abc')
  equal(boundaryOf('Multipart/Form-Data;boundary="a b"'), 'a b')
  for (const type of [
    'text/plain',
    'multipart/form-data',
    'multipart/form-data; boundary=a; boundary=b',
    'multipart/form-data; boundary="a ',
    'multipart/form-data; boundary="a "',
    'multipart/form-data; boundary=a&b',
  ])
    equal(boundaryOf(type), null)
})

test('whatever the parts contain, the model is that of its part, and readers of FormData agree', async () => {
  const parts = fc.array(fc.record({ name: fc.stringMatching(/^[a-z]{1,8}$/), content: fc.uint8Array() }), {
    maxLength: 6,
  })
  await fc.assert(
    fc.asyncProperty(parts, fc.string({ unit: 'grapheme' }), fc.nat(6), async (parts, model, at) => {
      const form = new FormData()
      const all = parts.filter(({ name }) => name !== 'model')
      all.forEach(({ name, content }, i) => {
        if (i === at) form.append('model', model)
        form.append(name, new Blob([content]), 'a.bin')
      })
      if (at >= all.length) form.append('model', model)
      const request = new Request('http://x/', { method: 'POST', body: form })
      const boundary = boundaryOf(request.headers.get('content-type')!)!
      const bytes = Buffer.from(await request.arrayBuffer())
      const found = modelInForm(bytes, boundary)
      const again = await new Response(bytes, { headers: request.headers }).formData()
      deepEqual(typeof found === 'string' ? found : found.model, again.get('model'))
    }),
  )
})

test('no bytes make the reader fail', () => {
  const pieces = fc.constantFrom(
    '--b',
    '\r\n',
    '--',
    'Content-Disposition: form-data; name="model"',
    'x',
    '"',
    ';',
    '\r\n\r\n',
  )
  fc.assert(
    fc.property(fc.array(pieces), all => {
      const found = modelInForm(Buffer.from(all.join('')), 'b')
      if (typeof found !== 'string') equal(found.start <= found.end, true)
    }),
  )
})

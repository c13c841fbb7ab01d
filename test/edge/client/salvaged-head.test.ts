import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { salvage } from '../../../src/edge/client/salvaged-head.ts'

const salvaged = (text: string) => salvage(Buffer.from(text, 'latin1'))

test('the response to a bad request has the format that it accepts', () => {
  const head = salvaged('HEAD /a?b HTTP/9.9\nhost:  site.test \nACCEPT : text/markdown\t\r\n\r\n')
  assert.deepEqual(
    [head.method, head.target, head.host, head.accept],
    ['HEAD', '/a?b', 'site.test', 'text/markdown'],
  )
  assert.equal(head.keepAlive, false)
})

test('nothing is read from a head that makes no sense', () => {
  for (const text of ['', '\x16\x03\x01', 'get / HTTP/1.1\r\n', '/ GET\r\nX-Host: a\r\nXAccept: b\r\n']) {
    const head = salvaged(text)
    assert.deepEqual([head.method, head.target, head.host, head.accept], ['', '', null, null])
  }
})

test('any bytes are accepted, and nothing that could break a response', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.string().map(text => Buffer.from(`\nHost: ${text}\nAccept:${text}`)),
  )
  fc.assert(
    fc.property(bytes, bytes => {
      const { method, target, host, accept } = salvage(Buffer.from(bytes))
      assert.match(`${method}${target}${host}${accept}`, /^[ -~]*$/)
    }),
  )
})

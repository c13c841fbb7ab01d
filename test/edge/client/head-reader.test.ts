import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { HeadReader } from '../../../src/edge/client/head-reader.ts'
import { RequestHead } from '../../../src/http1/heads/request-head.ts'

const limits = { headerSection: 1024, headers: 100, url: 256 }
const head = 'GET /a HTTP/1.1\r\nHost: site.test\r\nX-A: 1\r\n\r\n'
const read = (reader: HeadReader, bytes: string) => reader.read(Buffer.from(bytes, 'latin1'), limits)

test('a head is found at its end, wherever packets were cut before', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: head.length - 1 }), { maxLength: 5 }), cuts => {
      const reader = new HeadReader()
      for (const cut of cuts.sort((a, b) => a - b)) {
        assert.equal(read(reader, head.slice(0, cut)), null)
        assert.equal(reader.hasBegun, true)
      }
      const found = read(reader, `${head}GET`)
      assert.ok(found instanceof RequestHead)
      assert.deepEqual([found.target, reader.end], ['/a', head.length])
      assert.equal(reader.hasBegun, false)
    }),
  )
})

test('empty lines before a head are skipped, a few of them', () => {
  for (const lines of ['\r\n', '\r\n\r\n\r\n\r\n']) {
    const reader = new HeadReader()
    assert.equal(read(reader, lines), null)
    assert.equal(reader.hasBegun, false)
    assert.ok(read(reader, lines + head) instanceof RequestHead)
  }
  assert.equal(read(new HeadReader(), '\r\n'.repeat(5) + head), 'bad_request')
})

test('a head that can no longer be valid is refused before its end', () => {
  for (const [bytes, fault] of [
    ['GET /a HTTP/1.1\r\nX: \0', 'bad_request'],
    ['GET /a HTTP/1.1\n', 'bad_request'],
    ['GET /a HTTP/1.1\r\nX: 1\n', 'bad_request'],
    ['GET a HTTP/2.0\r\n', 'http_version_not_supported'],
    ['hello\r\n', 'bad_request'],
    [`GET /${'x'.repeat(1024)}`, 'uri_too_long'],
    [`GET /a HTTP/1.1\r\nX: ${'x'.repeat(1024)}`, 'http_headers_exceed_limit'],
  ] as const)
    assert.equal(read(new HeadReader(), bytes), fault, JSON.stringify(bytes.slice(0, 40)))
})

test('a head whose target is too long is read to its end, wherever packets were cut before', () => {
  const long = head.replace('/a', `/${'x'.repeat(400)}`)
  for (let cut = 1; cut < long.length; cut++) {
    const reader = new HeadReader()
    assert.equal(read(reader, long.slice(0, cut)), null)
    assert.equal(read(reader, long), 'uri_too_long')
  }
})

test('a fault is seen in whichever packet it comes', () => {
  const bad = 'GET /a HTTP/1.1\r\nHost: site.test\r\nX-A: 1\nX-B: 2\r\n\r\n'
  const lf = bad.indexOf('1\nX') + 2
  for (let cut = 1; cut < lf; cut++) {
    const reader = new HeadReader()
    assert.equal(read(reader, bad.slice(0, cut)), null)
    assert.equal(read(reader, bad.slice(0, lf)), 'bad_request')
  }
})

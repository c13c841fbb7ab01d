// Requests that two readers could understand differently: refused, the connection closed, and not a byte of them at an origin.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeOf, startEdge } from '../help/edge.ts'
import { ok, startResponder } from '../help/origin.ts'
import { chunks, request } from '../help/raw.ts'

const behind = request('GET /behind')
const get = (line: string, fields = '') => `${line}\r\nHost: site.test\r\n${fields}\r\n`
const framed = (...fields: string[]) => `${request('POST /', ...fields)}5\r\nhello\r\n0\r\n\r\n`

/** What is refused before anything is sent on: bytes by name, and the code of the error. */
const refused: Record<string, readonly [bytes: string, code: number]> = {
  'a length and chunks': [framed('Content-Length: 5', 'Transfer-Encoding: chunked'), 400],
  'chunks and a length': [framed('Transfer-Encoding: chunked', 'Content-Length: 5'), 400],
  'two lengths': [framed('Content-Length: 5', 'Content-Length: 15'), 400],
  'the same length twice': [framed('Content-Length: 15', 'Content-Length: 15'), 400],
  'a list of lengths': [framed('Content-Length: 15, 15'), 400],
  'a signed length': [framed('Content-Length: +15'), 400],
  'a negative length': [framed('Content-Length: -1'), 400],
  'a hexadecimal length': [framed('Content-Length: 0xf'), 400],
  'a length with a fraction': [framed('Content-Length: 15.0'), 400],
  'an empty length': [framed('Content-Length:'), 400],
  'a length beyond 2^53': [framed('Content-Length: 9007199254740993'), 400],
  'a length beyond 2^64': [framed('Content-Length: 18446744073709551631'), 400],
  'two codings': [framed('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'), 400],
  'chunked twice in a list': [framed('Transfer-Encoding: chunked, chunked'), 400],
  'a coding before chunks': [framed('Transfer-Encoding: gzip, chunked'), 501],
  'a coding after chunks': [framed('Transfer-Encoding: chunked, identity'), 400],
  'a coding that frames nothing': [framed('Transfer-Encoding: identity'), 400],
  'a coding with a parameter': [framed('Transfer-Encoding: chunked;q=1'), 400],
  'a quoted coding': [framed('Transfer-Encoding: "chunked"'), 400],
  'a coding with a control character': [framed('Transfer-Encoding: \x0bchunked'), 400],
  'an empty coding': [framed('Transfer-Encoding:'), 400],
  'chunks in HTTP/1.0': [framed('Transfer-Encoding: chunked').replace('HTTP/1.1', 'HTTP/1.0'), 400],
  'a folded field': [get('GET / HTTP/1.1', 'X-A: 1\r\n 2\r\n'), 400],
  'a folded first field': ['GET / HTTP/1.1\r\n Host: site.test\r\n\r\n', 400],
  'a folded coding': [framed('Transfer-Encoding:\r\n chunked'), 400],
  'a bare LF after the request line': ['GET / HTTP/1.1\nHost: site.test\r\n\r\n', 400],
  'a bare LF after a field': [get('GET / HTTP/1.1', 'X-A: 1\n'), 400],
  'a bare LF in a field': [get('GET / HTTP/1.1', 'X-A: 1\nTransfer-Encoding: chunked\r\n'), 400],
  'bare LFs alone': ['GET / HTTP/1.1\nHost: site.test\n\n', 400],
  'a bare CR in a field': [get('GET / HTTP/1.1', 'X-A: 1\rX-B: 2\r\n'), 400],
  'a bare CR in the request line': ['GET / HTTP/1.1\rHost: site.test\r\n\r\n', 400],
  'a NUL in a field': [get('GET / HTTP/1.1', 'X-A: 1\x002\r\n'), 400],
  'a NUL in a name': [get('GET / HTTP/1.1', 'X\x00A: 1\r\n'), 400],
  'a NUL in the target': [get('GET /\x00 HTTP/1.1'), 400],
  'a DEL in a field': [get('GET / HTTP/1.1', 'X-A: 1\x7f2\r\n'), 400],
  'a space before a colon': [framed('Transfer-Encoding : chunked'), 400],
  'a tab before a colon': [framed('Content-Length\t: 5'), 400],
  'a space in a name': [get('GET / HTTP/1.1', 'X A: 1\r\n'), 400],
  'a name of no characters': [get('GET / HTTP/1.1', ': 1\r\n'), 400],
  'a line without a colon': [get('GET / HTTP/1.1', 'X-A\r\n'), 400],
  'a name beyond ASCII': [get('GET / HTTP/1.1', 'X-\xe9: 1\r\n'), 400],
  'two Hosts': [get('GET / HTTP/1.1', 'Host: other.test\r\n'), 400],
  'the same Host twice': [get('GET / HTTP/1.1', 'Host: site.test\r\n'), 400],
  'no Host': ['GET / HTTP/1.1\r\nX-A: 1\r\n\r\n', 400],
  'no field at all': ['GET / HTTP/1.1\r\n\r\n', 400],
  'an empty Host': ['GET / HTTP/1.1\r\nHost:\r\n\r\n', 1048],
  'a Host with a path': ['GET / HTTP/1.1\r\nHost: site.test/x\r\n\r\n', 1048],
  'a Host with a user': ['GET / HTTP/1.1\r\nHost: a@site.test\r\n\r\n', 1048],
  'a Host with a space': ['GET / HTTP/1.1\r\nHost: site.test x\r\n\r\n', 1048],
  'a Host with a comma': ['GET / HTTP/1.1\r\nHost: site.test, other.test\r\n\r\n', 1048],
  'a Host with a bad port': ['GET / HTTP/1.1\r\nHost: site.test:80x\r\n\r\n', 1048],
  'a Host with an encoding': ['GET / HTTP/1.1\r\nHost: site%2etest\r\n\r\n', 1048],
  'a Host with an open bracket': ['GET / HTTP/1.1\r\nHost: [::1\r\n\r\n', 1048],
  'an absolute target for another host': [get('GET http://other.test/ HTTP/1.1'), 400],
  'an absolute target for another port': [get('GET http://site.test:81/ HTTP/1.1'), 400],
  'an absolute target with a user': ['GET http://a@site.test/ HTTP/1.1\r\nHost: a@site.test\r\n\r\n', 1048],
  'a target of another scheme': [get('GET ftp://site.test/ HTTP/1.1'), 400],
  'a target that is no path': [get('GET index.html HTTP/1.1'), 400],
  'a target of another method': [get('GET * HTTP/1.1'), 400],
  'an authority as target': [get('GET site.test:80 HTTP/1.1'), 400],
  'a target with a fragment': [get('GET /a#b HTTP/1.1'), 400],
  'no target': [get('GET  HTTP/1.1'), 400],
  'a target with a space': [get('GET /a b HTTP/1.1'), 400],
  'two spaces before the version': [get('GET /  HTTP/1.1'), 400],
  'a tab as separator': [get('GET\t/\tHTTP/1.1'), 400],
  'a space before the method': [get(' GET / HTTP/1.1'), 400],
  'a space behind the version': [get('GET / HTTP/1.1 '), 400],
  'a method that is no token': [get('GE(T / HTTP/1.1'), 400],
  'no version': [get('GET /'), 400],
  'HTTP/0.9': ['GET /\r\n\r\n', 400],
  'HTTP/2.0': [get('GET / HTTP/2.0'), 505],
  'HTTP/1.2 with both framings': [
    'POST / HTTP/1.2\r\nHost: site.test\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  'HTTP/3.7': [get('GET / HTTP/3.7'), 505],
  'a version of two digits': [get('GET / HTTP/1.10'), 400],
  'a version in lower case': [get('GET / http/1.1'), 400],
  'the preface of HTTP/2': ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505],
  'a TLS handshake': ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', 400],
  'a request line of LFs': ['\n\nGET / HTTP/1.1\r\nHost: site.test\r\n\r\n', 400],
}

for (const [what, [bytes, code]] of Object.entries(refused)) {
  test(`${what}: refused, closed, and never seen by the origin`, async t => {
    const origin = await startResponder(t, ok())
    const edge = await startEdge(t, [origin.url])
    const client = await edge.connect()
    await client.send(bytes + behind)
    const answer = await client.response()
    assert.equal(answer.status, code === 1048 ? 400 : code)
    assert.equal(edge.metrics.errors[code], 1)
    assert.equal(answer.field('connection'), 'close')
    assert.equal(await client.rest(), '', 'what stood behind it was never served')
    assert.equal(await client.ending, 'FIN')
    assert.equal(origin.bytesReceived, 0)
  })
}

/** Chunked bodies that break in the middle: an origin may have begun to read, but never gets a whole request of them. */
const broken: Record<string, string> = {
  'a size with a sign': '+5\r\nhello\r\n0\r\n\r\n',
  'a size with 0x': '0x5\r\nhello\r\n0\r\n\r\n',
  'a size that is no number': 'five\r\nhello\r\n0\r\n\r\n',
  'a size of no digits': '\r\nhello\r\n0\r\n\r\n',
  'a size beyond 2^64': '10000000000000005\r\nhello\r\n0\r\n\r\n',
  'a size with a space before it': ' 5\r\nhello\r\n0\r\n\r\n',
  'a size with a space behind it': '5 \r\nhello\r\n0\r\n\r\n',
  'a size with an underscore': '1_0\r\n0123456789abcdef\r\n0\r\n\r\n',
  'a size that ends with a bare LF': '5\nhello\r\n0\r\n\r\n',
  'a size that ends with a bare CR': '5\rhello\r\n0\r\n\r\n',
  'an extension that ends with a bare LF': '5;a\nhello\r\n0\r\n\r\n',
  'an extension with a NUL': '5;a\x00\r\nhello\r\n0\r\n\r\n',
  'a chunk longer than its size': '5\r\nhello!\r\n0\r\n\r\n',
  'a chunk that ends with a bare LF': '5\r\nhello\n0\r\n\r\n',
  'a trailer that is no field': '5\r\nhello\r\n0\r\nGET / HTTP/1.1\r\n\r\n',
  'a trailer that frames': '5\r\nhello\r\n0\r\nContent-Length: 5\r\n\r\n',
  'a folded trailer': '5\r\nhello\r\n0\r\nX-A: 1\r\n 2\r\n\r\n',
  'a trailer that ends with a bare LF': '5\r\nhello\r\n0\r\nX-A: 1\n\r\n',
}

for (const [what, body] of Object.entries(broken)) {
  test(`${what}: the body is refused, and the origin never has a whole request`, async t => {
    const origin = await startResponder(t, ok())
    const edge = await startEdge(t, [origin.url])
    const client = await edge.connect()
    await client.send(
      request('POST /', 'Transfer-Encoding: chunked', 'Accept: application/json') + body + behind,
    )
    assert.equal(codeOf(await client.response()), 400)
    assert.equal(await client.rest(), '')
    if (origin.wires.length > 0) await origin.wires[0]!.ending
    assert.equal(origin.requests.length, 0)
  })
}

test('a request cut anywhere into packets is the same request', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url])
  const bytes = `${request('POST /', 'Transfer-Encoding: chunked')}${chunks('hello', 'you')}0\r\nX-T: 1\r\n\r\n`
  const client = await edge.connect()
  for (let cut = 1; cut < bytes.length; cut += 3) {
    await client.send(bytes.slice(0, cut))
    await client.send(bytes.slice(cut))
    assert.equal((await client.response()).status, 200)
    assert.equal(origin.requests.at(-1)!.text, 'helloyou')
  }
})

test('empty lines before a request are skipped, as a few clients send them', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  for (const lines of ['\r\n', '\r\n\r\n']) {
    await client.send(`${lines}${request('GET /')}`)
    assert.equal((await client.response()).status, 200)
  }
})

test('an absolute target for the same host means its path', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url])
  await edge.ask(request('GET http://site.test/a?b'))
  await edge.ask(request('GET HTTP://SITE.test?b'))
  assert.deepEqual(
    origin.requests.map(({ target }) => target),
    ['/a?b', '/?b'],
  )
})

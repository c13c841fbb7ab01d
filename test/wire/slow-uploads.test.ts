// Clients that take their time to send a body: they hold no connection to an origin before there is something to send on it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { startEdge } from '../help/edge.ts'
import { ok, startResponder } from '../help/origin.ts'
import { chunks, request } from '../help/raw.ts'

const json = 'Accept: application/json'
const limited = { transport: { connections: 2, queue: { size: 10, timeout: 1_000 } } }
const chunkedHead = request('POST /slow', 'Transfer-Encoding: chunked', json)
const longHead = request('POST /slow', 'Content-Length: 1000000', json)

const uploads: Record<string, string> = {
  'a head with chunks to come': chunkedHead,
  'a head and the size of a chunk': `${chunkedHead}ffff\r\n`,
  'a head and one small chunk': `${chunkedHead}${chunks('x')}`,
  'a head with a long body to come': longHead,
  'a head and the beginning of a long body': `${longHead}${'x'.repeat(60_000)}`,
  'a head with a short body to come': request('POST /slow', 'Content-Length: 5', json),
  'a head with chunks to come, and waits to be invited': request(
    'POST /slow',
    'Transfer-Encoding: chunked',
    'Expect: 100-continue',
  ),
}

for (const [what, bytes] of Object.entries(uploads)) {
  test(`clients that send ${what} take no connection from others`, async t => {
    const origin = await startResponder(t, ok('served'))
    const edge = await startEdge(t, [origin.url], limited)
    for (let i = 0; i < 5; i++) await (await edge.connect()).send(bytes)
    assert.equal((await edge.ask(request('GET /', json))).text, 'served')
    assert.deepEqual(
      origin.requests.map(({ target }) => target),
      ['/'],
    )
    assert.equal(origin.wires.length, 1)
  })
}

test('a small body in chunks reaches the origin as one, with its trailers', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(chunkedHead)
  for (const piece of ['a', 'bc', 'd']) await client.send(chunks(piece))
  assert.equal(origin.wires.length, 0)
  await client.send('0\r\nX-Sum: 4\r\n\r\n')
  await client.response()
  const [received] = origin.requests
  assert.deepEqual([received!.text, received!.trailers], ['abcd', ['X-Sum: 4']])
  assert.deepEqual(
    [received!.field('transfer-encoding'), received!.field('content-length')],
    ['chunked', null],
  )
})

test('a body arrives whole, however long it is and in whatever pieces it is sent', async t => {
  const origin = await startResponder(t, ({ body }) => ok(`${body.length} ${body.readUInt8(0)}`))
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  const around = (length: number) => fc.integer({ min: length - 2, max: length + 2 })
  const length = fc.oneof(fc.integer({ min: 1, max: 200_000 }), around(65_536), around(131_072))
  await fc.assert(
    fc.asyncProperty(
      fc.array(length, { minLength: 1, maxLength: 3 }),
      fc.boolean(),
      fc.array(fc.integer({ min: 1, max: 100_000 }), { maxLength: 6 }),
      async (parts, isChunked, cuts) => {
        const texts = parts.map((part, i) => String(i).repeat(part))
        const whole = texts.join('')
        const bytes = isChunked
          ? `${request('POST /', 'Transfer-Encoding: chunked')}${chunks(...texts)}0\r\n\r\n`
          : `${request('POST /', `Content-Length: ${whole.length}`)}${whole}`
        let at = 0
        for (const cut of cuts) {
          await client.send(bytes.slice(at, at + cut))
          at += cut
        }
        await client.send(bytes.slice(at))
        assert.equal((await client.response()).text, `${whole.length} 48`)
        assert.equal(origin.requests.at(-1)!.text, whole)
      },
    ),
    { numRuns: 60 },
  )
})

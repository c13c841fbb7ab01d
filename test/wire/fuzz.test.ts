// Valid requests, mutated at random, against an origin that reads as naively as many do: whatever the gateway sends on, both agree on where it ends.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import { type EdgeSettings, startEdge } from '../help/edge.ts'
import { ok, startOrigin } from '../help/origin.ts'
import { chunks, type Message, post, request, type Wire } from '../help/raw.ts'
import { thorough } from '../help/thorough.ts'

const valid = [
  request('GET /a?b=c', 'Cookie: a=1'),
  post('/a', 'hello'),
  `${request('POST /a', 'Transfer-Encoding: chunked')}${chunks('hello', 'GET / HTTP/1.1')}0\r\nX-T: 1\r\n\r\n`,
  `${request('PUT http://site.test/a', 'Content-Length: 5', 'Connection: keep-alive, X-A', 'X-A: 1')}hello`,
  request('HEAD /a', 'Connection: close'),
  request('OPTIONS *', 'Expect: 100-continue'),
  request('GET /a', 'Connection: Upgrade', 'Upgrade: websocket'),
  `GET /a HTTP/1.0\r\nHost: site.test\r\nConnection: keep-alive\r\n\r\n`,
]

/** What hostile bytes are made of, beside single bytes. */
const pieces = [
  '\r\n',
  '\n',
  '\r',
  '\r\n\r\n',
  ' ',
  '\t',
  '\0',
  ':',
  ',',
  '0\r\n\r\n',
  '5\r\nhello\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: 0\r\n',
  'Content-Length: 44\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding : chunked\r\n',
  'Transfer-Encoding:\x0bchunked\r\n',
  'transfer_encoding: chunked\r\n',
  'Connection: Content-Length, Transfer-Encoding\r\n',
  'Expect: 100-continue\r\n',
  'Host: other.test\r\n',
  ' folded\r\n',
  'HTTP/1.1',
  request('GET /smuggled'),
]

const mutation = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  drop: fc.integer({ min: 0, max: 12 }),
  put: fc.oneof(
    fc.constantFrom(...pieces),
    fc.string({
      unit: fc.integer({ min: 0, max: 255 }).map(code => String.fromCharCode(code)),
      maxLength: 3,
    }),
  ),
})

const hostile = fc
  .tuple(
    fc.array(fc.constantFrom(...valid), { minLength: 1, maxLength: 3 }),
    fc.array(mutation, { minLength: 1, maxLength: 4 }),
  )
  .map(([requests, mutations]) => mutations.reduce(mutate, requests.join('')))

function mutate(bytes: string, { at, drop, put }: { at: number; drop: number; put: string }): string {
  const from = Math.floor(at * bytes.length)
  return bytes.slice(0, from) + put + bytes.slice(from + drop)
}

/** Reads requests as many origins do: the first framing field that it finds, LF or CRLF, spaces wherever. */
async function readNaively(wire: Wire, seen: Message[]): Promise<void> {
  for (;;) {
    const message = await wire.head()
    seen.push(message)
    const framing =
      message.lines.find(line => /^(content[-_]length|transfer[-_]encoding)\s*:/i.test(line)) ?? ''
    if (/chunked/i.test(framing)) await wire.until('0\r\n')
    if (/chunked/i.test(framing)) while ((await wire.until('\r\n')) !== '\r\n') {}
    else await wire.bytes(Number.parseInt(framing.split(':')[1] ?? '0', 10) || 0)
    await wire.send(/^HEAD /.test(message.startLine) ? 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n' : ok())
  }
}

const impatient: EdgeSettings = {
  client: { headerTimeout: 200, keepAlive: 200 },
  timeouts: { idle: 200, response: 400 },
}

test('mutated requests never make gateway and origin disagree', async t => {
  const seen: Message[] = []
  const origin = await startOrigin(t, wire => readNaively(wire, seen))
  const edge = await startEdge(t, [origin.url], impatient)
  const agree = async (bytes: string): Promise<void> => {
    seen.length = edge.accesses.length = 0
    const client = await edge.connect()
    client.socket.end(bytes, 'latin1')
    await client.ending
    client.leave()
    assert.equal((await edge.ask(request('GET /plain'))).status, 200)
    assert.equal(seen.at(-1)!.target, '/plain')
    const asked = edge.accesses.filter(({ origin }) => origin !== null)
    assert.ok(seen.length <= asked.length, 'the origin sees no more requests than the gateway')
    for (const message of seen) {
      assert.ok(
        asked.some(({ ray }) => ray === message.field('svc-ray')),
        message.startLine,
      )
      assert.ok(message.all('content-length').length + message.all('transfer-encoding').length < 2)
    }
  }
  await fc.assert(fc.asyncProperty(hostile, agree), {
    numRuns: thorough(300, 120),
    interruptAfterTimeLimit: 15_000,
  })
})

test('mutated requests never hold a connection beyond its timeouts', async t => {
  const origin = await startOrigin(t, wire => readNaively(wire, []))
  const edge = await startEdge(t, [origin.url], impatient)
  const lastsTooLong = async (bytes: string): Promise<boolean> => {
    const client = await edge.connect()
    void client.send(bytes)
    const isOver = await Promise.race([client.ending.then(() => true), wait(20_000, false)])
    client.leave()
    return !isOver
  }
  await fc.assert(
    fc.asyncProperty(fc.array(hostile, { minLength: 60, maxLength: 60 }), async batch => {
      const held = await Promise.all(batch.map(lastsTooLong))
      assert.deepEqual(
        batch.filter((_, i) => held[i]),
        [],
      )
    }),
    { numRuns: 3, endOnFailure: true },
  )
})

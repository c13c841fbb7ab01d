// An origin that dies after its head was relayed: the client sees the truncation, never a clean end.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startEdge } from '../help/edge.ts'
import { startOrigin } from '../help/origin.ts'
import { chunks, request, type Wire } from '../help/raw.ts'

/** Starts an edge before an origin that sends these bytes, waits until the client has them, and then does as told. */
async function startDying(t: Parameters<typeof startEdge>[0], sent: string, die: (wire: Wire) => unknown) {
  const { promise: arrived, resolve } = Promise.withResolvers<void>()
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send(sent)
    await arrived
    await die(wire)
  })
  const edge = await startEdge(t, [origin.url], { timeouts: { idle: 200 } })
  return { edge, arrived: resolve }
}

const deaths: Record<string, (wire: Wire) => unknown> = {
  closes: wire => wire.leave(),
  resets: wire => wire.reset(),
  'falls silent': wire => wire.ending,
}

const framings = {
  'with a length': 'Content-Length: 1000\r\n\r\nbegin',
  'in chunks': `Transfer-Encoding: chunked\r\n\r\n${chunks('begin')}`,
  'within a chunk': 'Transfer-Encoding: chunked\r\n\r\nfff\r\nbegin',
}

for (const [death, die] of Object.entries(deaths)) {
  for (const [framing, rest] of Object.entries(framings)) {
    test(`an origin that ${death} in a response ${framing} resets the client`, async t => {
      const { edge, arrived } = await startDying(t, `HTTP/1.1 200 OK\r\n${rest}`, die)
      const client = await edge.connect()
      await client.send(request('GET /'))
      await client.until('begin')
      arrived()
      assert.equal(await client.ending, 'RST')
      assert.doesNotMatch(client.unread, /0\r\n\r\n/)
      assert.equal(edge.accesses[0]!.aborted, false)
      assert.equal(edge.metrics.errors[death === 'falls silent' ? 524 : 520], 1)
    })
  }
}

test("an origin that resets in a response framed by the connection's end resets the client", async t => {
  for (const version of ['HTTP/1.1', 'HTTP/1.0']) {
    const { edge, arrived } = await startDying(t, 'HTTP/1.1 200 OK\r\n\r\nbegin', wire => wire.reset())
    const client = await edge.connect()
    await client.send(`GET / ${version}\r\nHost: site.test\r\n\r\n`)
    await client.until('begin')
    arrived()
    assert.equal(await client.ending, 'RST')
  }
})

test('an HTTP/1.0 client sees the truncation of a chunked response', async t => {
  const { edge, arrived } = await startDying(t, `HTTP/1.1 200 OK\r\n${framings['in chunks']}`, wire =>
    wire.leave(),
  )
  const client = await edge.connect()
  await client.send('GET / HTTP/1.0\r\nHost: site.test\r\n\r\n')
  await client.until('begin')
  arrived()
  assert.equal(await client.ending, 'RST')
})

test('an origin whose chunks turn to garbage in mid-response resets the client', async t => {
  const { edge, arrived } = await startDying(t, `HTTP/1.1 200 OK\r\n${framings['in chunks']}`, wire =>
    wire.send('what?\r\n'),
  )
  const client = await edge.connect()
  await client.send(request('GET /'))
  await client.until('begin')
  arrived()
  assert.equal(await client.ending, 'RST')
  assert.equal(edge.metrics.errors[502], 1)
})

test('a pipelined request after a broken response gets no response', async t => {
  const { edge, arrived } = await startDying(t, 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nbegin', wire =>
    wire.leave(),
  )
  const client = await edge.connect()
  await client.send(request('GET /').repeat(2))
  await client.until('begin')
  arrived()
  assert.equal(await client.ending, 'RST')
  assert.equal(client.unread, '')
})

test('a client gets the valid bytes before garbage, even if both came in one packet', async t => {
  const { edge, arrived } = await startDying(t, `HTTP/1.1 200 OK\r\n${framings['in chunks']}`, wire =>
    wire.send(`${chunks('sound')}what?\r\n`),
  )
  const client = await edge.connect()
  await client.send(request('GET /'))
  await client.until('begin')
  arrived()
  await client.until('sound')
  assert.equal(await client.ending, 'RST')
})

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { misdeeds } from '../../../src/process/demo/misdeeds.ts'
import { DemoOrigin } from '../../../src/process/demo/origin.ts'

async function startOrigin(t: TestContext): Promise<string> {
  const origin = new DemoOrigin()
  t.after(() => origin.close())
  return (await origin.listen()).DEMO_ORIGIN
}

/** Sends a GET and returns every byte of the answer, or null when the connection was reset. */
async function raw(origin: string, path: string): Promise<string | null> {
  const { port } = new URL(origin)
  const socket = connect(Number(port), '127.0.0.1').setEncoding('latin1')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: demo\r\nConnection: close\r\n\r\n`)
  return socket.toArray().then(
    pieces => pieces.join(''),
    () => null,
  )
}

test('the front page links to every misdeed, and to the other zones at the port that it was asked at', async t => {
  const origin = await startOrigin(t)
  const page = await (await fetch(origin)).text()
  assert.ok(page.includes(`href="http://down.localhost:${new URL(origin).port}/"`))
  for (const { example } of misdeeds)
    assert.ok(page.includes(`href="${example.replaceAll('&', '&#38;')}"`), example)
})

test('echo returns the request as it arrived', async t => {
  const origin = await startOrigin(t)
  const response = await fetch(`${origin}/echo?x=1`, {
    method: 'PUT',
    body: 'hello',
    headers: { 'x-mark': 'a' },
  })
  const { method, url, headers, body } = (await response.json()) as {
    method: string
    url: string
    headers: Record<string, string>
    body: string
  }
  assert.deepEqual([method, url, headers['x-mark'], body], ['PUT', '/echo?x=1', 'a', 'hello'])
})

test('responses are slow, large, chunked or of any status, as requested', async t => {
  const origin = await startOrigin(t)
  assert.equal(await (await fetch(`${origin}/slow?ms=1`)).text(), 'This took 1 ms.\n')
  assert.equal((await (await fetch(`${origin}/big?bytes=3000000`)).arrayBuffer()).byteLength, 3_000_000)
  const status = await fetch(`${origin}/status/503`)
  assert.deepEqual([status.status, status.headers.get('retry-after')], [503, '7'])
  assert.equal((await fetch(`${origin}/status/banana`)).status, 400)
  assert.match((await raw(origin, '/chunked'))!, /piece 1\n[\s\S]*piece 5\n[\s\S]*\r\n0\r\n\r\n$/)
})

test('a target that names no page, not even a URL, is not found and ends nothing', async t => {
  const origin = await startOrigin(t)
  for (const target of ['//', '///', '//:0/', 'http://', '/nowhere'])
    assert.match((await raw(origin, target))!, /^HTTP\/1\.1 404 /, target)
})

test('a stream waits for a client that does not read', async t => {
  const stream = misdeeds.find(({ path }) => path === '/sse')!
  const server = createServer({ highWaterMark: 1 })
  t.after(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').setEncoding('latin1')
  client.write('GET / HTTP/1.1\r\nHost: demo\r\nConnection: close\r\n\r\n')
  const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse]
  response.cork()
  const end = stream.commit(response, request, new URL('http://demo/sse?n=9&ms=0')) as Promise<void>
  assert.equal(await Promise.race([end, wait(50, 'waits')]), 'waits')
  response.uncork()
  assert.match((await client.toArray()).join(''), /id: 9\n/)
})

test('responses break as promised', async t => {
  const origin = await startOrigin(t)
  assert.equal(await raw(origin, '/reset'), null)
  assert.match((await raw(origin, '/truncate'))!, /content-length: 1000\r\n[\s\S]*thousand byt$/i)
  assert.match((await raw(origin, '/garbage'))!, /^220 /)
  assert.ok((await raw(origin, '/huge-headers'))!.length > 300_000)
})

test('event streams end, or are cut before their last chunk', async t => {
  const origin = await startOrigin(t)
  const whole = (await raw(origin, '/sse?n=2&ms=1'))!
  assert.match(whole, /text\/event-stream/)
  assert.match(whole, /id: 2\ndata: \{"event": 2\}\n\n\r\n0\r\n\r\n$/)
  assert.doesNotMatch((await raw(origin, '/sse-cut'))!, /\r\n0\r\n\r\n$/)
})

for (const size of [0, 5, 200, 70_000]) {
  test(`the WebSocket echoes ${size} bytes, replies to a ping and closes properly`, async t => {
    const socket = new WebSocket(`${(await startOrigin(t)).replace('http', 'ws')}/ws`)
    const heard = Promise.withResolvers<string>()
    const pong = Promise.withResolvers<string>()
    const closed = Promise.withResolvers<number>()
    socket.on('open', () => {
      socket.ping('still there?')
      socket.send('x'.repeat(size))
    })
    socket.on('pong', data => pong.resolve(String(data)))
    socket.on('message', data => heard.resolve(String(data)))
    socket.on('close', code => closed.resolve(code))
    assert.equal(await pong.promise, 'still there?')
    assert.equal(await heard.promise, 'x'.repeat(size))
    socket.close(1000)
    assert.equal(await closed.promise, 1000)
  })
}

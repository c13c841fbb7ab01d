// Shutting down and changing the configuration, under way.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { Edge, edgeConfig, startEdge } from '../help/edge.ts'
import { ok, startOrigin, startResponder } from '../help/origin.ts'
import { chunks, post, request } from '../help/raw.ts'
import { until } from '../help/until.ts'

test('a drain finishes running requests, closes idle connections and refuses new ones', async t => {
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
  const { promise: go, resolve } = Promise.withResolvers<void>()
  const origin = await startResponder(t, async ({ target }) => {
    if (target === '/slow') {
      ask()
      await go
    }
    return ok(target)
  })
  const edge = await startEdge(t, [origin.url])
  const idle = await edge.connect()
  await idle.send(request('GET /idle'))
  await idle.response()
  const silent = await edge.connect()
  const busy = await edge.connect()
  await busy.send(request('GET /slow'))
  await asked
  const drained = edge.plane.drain(5_000)
  assert.equal(await idle.ending, 'FIN')
  assert.equal(await silent.ending, 'FIN')
  idle.leave()
  silent.leave()
  const [refusal] = await once(connect(edge.port, '127.0.0.1'), 'error')
  assert.equal(refusal.code, 'ECONNREFUSED')
  resolve()
  const answer = await busy.response()
  assert.deepEqual([answer.text, answer.field('connection')], ['/slow', 'close'])
  assert.equal(await busy.ending, 'FIN')
  busy.leave()
  await drained
  assert.equal(edge.metrics.clientConnections.value, 0)
  for (const wire of origin.wires) await wire.ending
})

test('a drain lets a request finish that has only begun its body', async t => {
  const origin = await startResponder(t, ({ body }) => ok(`${body.length}`))
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(`${request('POST /', 'Transfer-Encoding: chunked')}${chunks('x'.repeat(100_000))}`)
  await origin.wire()
  const drained = edge.plane.drain(5_000)
  await until(() => edge.plane.isDraining)
  await client.send(`${chunks('llo')}0\r\n\r\n`)
  const answer = await client.response()
  assert.deepEqual([answer.text, answer.field('connection')], ['100003', 'close'])
  client.leave()
  await drained
})

test('a client that reconnects after a drain closed its connection is refused', async t => {
  const origin = await startResponder(t, ok('x'))
  const edge = await startEdge(t, [origin.url])
  const comeBack = () =>
    new Promise<string>(resolve => {
      const socket = connect(edge.port, '127.0.0.1', () => {
        socket.destroy()
        resolve('connected')
      })
      socket.on('error', error => resolve((error as NodeJS.ErrnoException).code!))
    })
  const returns = Array.from({ length: 16 }, async () => {
    const client = await edge.connect()
    for (;;) {
      await client.send(request('GET /'))
      if ((await client.response()).field('connection') !== 'close') continue
      const met = await comeBack()
      client.leave()
      return met
    }
  })
  await until(() => origin.requests.length > 100)
  const drained = edge.plane.drain(5_000)
  assert.deepEqual(new Set(await Promise.all(returns)), new Set(['ECONNREFUSED']))
  await drained
})

test('a drain cuts what is left when the grace is over', async t => {
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks('begin')}`)
    await wire.ending
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(request('GET /'))
  await client.until('begin')
  await edge.plane.drain(150)
  assert.doesNotMatch(await client.rest().catch(() => ''), /0\r\n\r\n/)
  await (await origin.wire()).ending
})

test('a drain without connections is over at once', async t => {
  const edge = await startEdge(t, ['http://127.0.0.1:1'])
  await edge.plane.drain(60_000)
})

test('a reload applies to the next request, and running ones end as they began', async t => {
  const { promise: go, resolve } = Promise.withResolvers<void>()
  const before = await startResponder(t, async ({ text }) => {
    await go
    return ok(`before ${text}`, 'Keep-Alive: timeout=3600')
  })
  const after = await startResponder(t, ok('after'))
  const edge = await startEdge(t, [before.url])
  const old = await edge.connect()
  await old.send(post('/', 'hello'))
  await before.wire()
  edge.reload(edgeConfig([after.url]))
  assert.equal((await edge.ask(request('GET /'))).text, 'after')
  resolve()
  const start = Date.now()
  assert.equal((await old.response()).text, 'before hello')
  await (await before.wire()).ending
  // Idle connections to it are kept for a minute.
  assert.ok(Date.now() - start < 30_000, 'no connection is kept to an origin that nobody names')
  await old.send(request('GET /'))
  assert.equal((await old.response()).text, 'after')
})

test('a reload keeps the connections of origins that it does not change', async t => {
  const origin = await startResponder(t, ok('hi'))
  const edge = await startEdge(t, [origin.url])
  await edge.ask(request('GET /'))
  edge.reload(edgeConfig([origin.url], { zone: { name: 'renamed' } }))
  await edge.ask(request('GET /'))
  assert.equal(origin.wires.length, 1)
  assert.deepEqual(
    edge.accesses.map(({ zone }) => zone),
    ['site', 'renamed'],
  )
})

test('a configuration that does not build changes nothing', async t => {
  const origin = await startResponder(t, ok('hi'))
  const edge = await startEdge(t, [origin.url])
  assert.throws(() => edge.reload(edgeConfig(['http://127.0.0.1:1'], { trustedProxies: ['nonsense'] })))
  assert.equal((await edge.ask(request('GET /'))).text, 'hi')
})

test('listening on a port that is taken fails, and leaves none open', async t => {
  const edge = await startEdge(t, ['http://127.0.0.1:1'])
  const config = edgeConfig([])
  const listen = [...config.listen, { host: '127.0.0.1', port: edge.port, tls: false }]
  const { plane } = new Edge(t, { ...config, listen })
  t.after(() => plane.destroy())
  await assert.rejects(plane.listen({ reusePort: false }), { code: 'EADDRINUSE' })
})

test('a request that a shutdown cuts off is logged, and not as one whose client left', async t => {
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.ending
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(request('GET /'))
  await origin.wire()
  edge.plane.destroy()
  const [entry] = edge.accesses
  assert.deepEqual([entry?.status, entry?.aborted], [0, false])
})

test("a response that the end of the grace cuts off looks truncated, even where the connection's end marks its length", async t => {
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhalf')
    await wire.ending
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send('GET / HTTP/1.0\r\nHost: site.test\r\n\r\n')
  await client.until('half')
  await edge.plane.drain(50)
  assert.equal(await client.ending, 'RST')
})

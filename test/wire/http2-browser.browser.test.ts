// A real browser over HTTP/2 and TLS: a page, what it fetches in each encoding, and a WebSocket on the same connection (RFC 8441).

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { WebSocketServer } from 'ws'
import { launchBrowser, trusting } from '../help/browser.ts'
import { Authority } from '../help/certificates.ts'
import { everyCoding, usualCompression } from '../help/codings.ts'
import { Edge, edgeConfig, listenAt } from '../help/edge.ts'
import { until } from '../help/until.ts'

test('a browser opens a page, and a WebSocket on the connection that it has for it', async t => {
  const origin = createServer((_, response) =>
    response.setHeader('Content-Type', 'text/html').end(`<p>hello${' again'.repeat(20_000)}`),
  )
  const sockets = new WebSocketServer({ server: origin })
  sockets.on('connection', socket => socket.on('message', data => socket.send(`back: ${data}`)))
  origin.listen(0, '127.0.0.1')
  await once(origin, 'listening')
  t.after(() => {
    for (const socket of sockets.clients) socket.terminate()
    origin.close()
    origin.closeAllConnections()
  })
  const identity = new Authority().issue(['site.test'])
  const plain = edgeConfig([`http://127.0.0.1:${(origin.address() as AddressInfo).port}`])
  const [zone] = plain.zones
  const routes = everyCoding.map(coding => ({
    ...zone!.routes[0]!,
    path: `/${coding}`,
    compression: { ...usualCompression, encodings: [coding] },
  }))
  const config = {
    ...plain,
    zones: [{ ...zone!, routes: [...zone!.routes, ...routes] }],
    listen: [{ host: '127.0.0.1', port: 0, tls: true }],
    tls: { certificates: [identity], minVersion: 'TLSv1.2' } as const,
  }
  const edge = await listenAt(t, new Edge(t, config))
  const browser = await launchBrowser(trusting(identity))
  t.after(() => browser.close())
  const page = await browser.newPage()
  await page.goto(`https://site.test:${edge.port}/`)
  const fetched = await page.evaluate(
    paths =>
      Promise.all(
        paths.map(async path => {
          const response = await fetch(path)
          return [response.headers.get('content-encoding'), (await response.text()).length]
        }),
      ),
    ['/', ...everyCoding.map(coding => `/${coding}`)],
  )
  assert.deepEqual(
    fetched,
    [null, ...everyCoding].map(coding => [coding, 120_008]),
  )
  const heard = await page.evaluate(
    url =>
      new Promise(resolve => {
        const socket = new WebSocket(url)
        socket.onopen = () => socket.send('hello')
        socket.onmessage = ({ data }) => resolve(data)
        socket.onerror = () => resolve('failed')
      }),
    `wss://site.test:${edge.port}/socket`,
  )
  assert.equal(heard, 'back: hello')
  assert.equal(edge.metrics.webSockets.value, 1)
  assert.equal(edge.metrics.clientConnections.value, 1)
  await browser.close()
  await until(() => edge.metrics.webSockets.value === 0)
  assert.deepEqual(new Set(edge.accesses.map(({ version }) => version)), new Set(['2']))
})

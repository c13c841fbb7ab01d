// Clients that keep TLS busy and send nothing to HTTP: they are cut, whatever they wait for, and honest ones are not, however small their pieces.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { test, type TestContext } from 'node:test'
import { connect } from 'node:tls'
import { Authority } from '../help/certificates.ts'
import { Edge, edgeConfig, listenAt } from '../help/edge.ts'
import { ok, startResponder } from '../help/origin.ts'
import { request, Wire } from '../help/raw.ts'
import { TlsRecords } from '../help/tls-records.ts'
import { until } from '../help/until.ts'

const authority = new Authority()
const site = authority.issue(['site.test'])

async function start(t: TestContext) {
  const origin = await startResponder(t, ({ target }) => (target === '/' ? ok('hello') : undefined))
  const config = {
    ...edgeConfig([origin.url]),
    listen: [{ host: '127.0.0.1', port: 0, tls: true }],
    tls: { certificates: [site], minVersion: 'TLSv1.3' } as const,
  }
  const edge = await listenAt(t, new Edge(t, config))
  const transport = connectTcp(edge.port, '127.0.0.1')
  await once(transport, 'connect')
  const socket = connect({
    socket: transport,
    ca: authority.certificate,
    servername: 'site.test',
    ciphers: 'TLS_AES_128_GCM_SHA256',
  })
  t.after(() => socket.destroy())
  let secret = Buffer.alloc(0)
  socket.on('keylog', line => {
    const [, hex] = /^CLIENT_TRAFFIC_SECRET_0 \S+ (\S+)/.exec(String(line)) ?? []
    if (hex !== undefined) secret = Buffer.from(hex, 'hex')
  })
  const wire = new Wire(socket)
  await once(socket, 'secureConnect')
  await until(() => edge.metrics.tlsHandshakes.full.value === 1)
  return { origin, edge, transport, wire, records: new TlsRecords(secret) }
}

for (const text of ['', request('GET /silent')])
  test(`a client that updates its keys on and on is cut, ${text === '' ? 'between requests' : 'during one'}`, {
    timeout: 60_000,
  }, async t => {
    const { origin, edge, transport, wire, records } = await start(t)
    if (text !== '') transport.write(records.data(text))
    await until(() => text === '' || origin.requests.length === 1)
    transport.on('error', () => {})
    let isOpen = true
    const ending = wire.ending.finally(() => {
      isOpen = false
    })
    // What came before the edge looked first is not told from the request.
    while (isOpen) {
      const updates = Array.from({ length: 15_000 }, () => records.keyUpdate())
      if (transport.write(Buffer.concat(updates))) await new Promise(resolve => setImmediate(resolve))
      else await Promise.race([ending, once(transport, 'drain').catch(() => {})])
    }
    await until(() => edge.metrics.clientConnections.value === 0)
  })

test('a body in records of one byte, and keys that are updated among them, are taken', async t => {
  const { origin, transport, wire, records } = await start(t)
  const length = 20_000
  const pieces = [records.data(`POST / HTTP/1.1\r\nHost: site.test\r\nContent-Length: ${length}\r\n\r\n`)]
  for (let i = 0; i < length; i++) {
    pieces.push(records.data('x'))
    if (i % 100 === 0) pieces.push(records.keyUpdate())
  }
  transport.write(Buffer.concat(pieces))
  assert.equal((await wire.response()).text, 'hello')
  assert.equal(origin.requests[0]!.body.length, length)
})

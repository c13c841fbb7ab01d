// Connections that a load balancer opens for its clients, with the PROXY protocol before HTTP and before TLS.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { type TestContext, test } from 'node:test'
import { connect } from 'node:tls'
import type { AccessCondition, AccessRule } from '../../src/config/model/access-config.ts'
import { Authority } from '../help/certificates.ts'
import { Edge, type EdgeSettings, edgeConfig, listenAt } from '../help/edge.ts'
import { ok, startResponder } from '../help/origin.ts'
import { proxyHeader, tlv } from '../help/proxy-header.ts'
import { request, Wire } from '../help/raw.ts'
import { until } from '../help/until.ts'

const balancer = '127.0.0.1'
const stranger = '127.0.0.2'
const authority = new Authority()
const site = authority.issue(['site.test'])

async function start(t: TestContext, settings: EdgeSettings = {}, tls = false) {
  const origin = await startResponder(t, async ({ target }) => {
    if (target === '/busy') await new Promise(() => {})
    return ok('hello')
  })
  const config = {
    ...edgeConfig([origin.url], { trustedProxies: [balancer], ...settings }),
    listen: [{ host: '0.0.0.0', port: 0, tls, proxyProtocol: true }],
    tls: { certificates: [site], minVersion: 'TLSv1.2' } as const,
  }
  return { origin, edge: await listenAt(t, new Edge(t, config)) }
}

const rule = (condition: AccessCondition): AccessRule => ({ action: 'deny', condition, description: null })
const header = (client: string) => `PROXY TCP4 ${client} 192.0.2.1 56324 443\r\n`

/** Sends a header and a request on a connection of its own. */
async function ask(edge: Edge, head: string | Buffer, ...fields: string[]): Promise<Wire> {
  const wire = await edge.connect(balancer)
  await wire.send(head)
  await wire.send(request('GET /', ...fields))
  return wire
}

test('the announced client is the peer: for origins, logs, and what it says of itself', async t => {
  const { edge, origin } = await start(t)
  for (const [nth, head] of [
    header('203.0.113.7'),
    proxyHeader({ client: '203.0.113.7', extra: tlv(0x02, Buffer.from('site.test')) }),
  ].entries()) {
    const wire = await ask(edge, head, 'X-Forwarded-For: 198.51.100.9')
    assert.equal((await wire.response()).text, 'hello')
    // Behind the header the connection is as any other.
    await wire.send(request('GET /again'))
    assert.equal((await wire.response()).text, 'hello')
    for (const seen of origin.requests.slice(2 * nth)) {
      assert.equal(seen.field('x-forwarded-for'), '203.0.113.7')
      assert.match(seen.field('forwarded')!, /^for=203\.0\.113\.7;/)
    }
    wire.leave()
  }
  await until(() => edge.accesses.length === 4)
  assert.deepEqual(new Set(edge.accesses.map(({ client }) => client)), new Set(['203.0.113.7']))
})

test('an announced client that is a trusted proxy itself is believed, and no other', async t => {
  const { edge, origin } = await start(t, { trustedProxies: [balancer, '203.0.113.0/24'] })
  const wire = await ask(edge, header('203.0.113.7'), 'X-Forwarded-For: 198.51.100.9')
  await wire.response()
  assert.equal(origin.requests[0]!.field('x-forwarded-for'), '198.51.100.9, 203.0.113.7')
})

test('a balancer that speaks for itself is itself; of a client that it does not know, no word is believed', async t => {
  const { edge, origin } = await start(t)
  const own = await ask(edge, proxyHeader({ command: 0 }), 'X-Forwarded-For: 198.51.100.9')
  await own.response()
  assert.equal(origin.requests[0]!.field('x-forwarded-for'), `198.51.100.9, ${balancer}`)
  const unknown = ['PROXY UNKNOWN\r\n', proxyHeader({ family: 0x31, addresses: Buffer.alloc(216) })]
  for (const [nth, head] of unknown.entries()) {
    const wire = await ask(edge, head, 'X-Forwarded-For: 198.51.100.9')
    assert.equal((await wire.response()).status, 200)
    assert.equal(origin.requests[nth + 1]!.field('x-forwarded-for'), balancer)
  }
})

test('rules on addresses judge the announced client', async t => {
  const denied = rule({ kind: 'ip', networks: ['203.0.113.7'] })
  const { edge } = await start(t, { access: { rules: [denied] } })
  assert.equal((await (await ask(edge, header('203.0.113.7'))).response()).status, 403)
  assert.equal((await (await ask(edge, header('203.0.113.8'))).response()).status, 200)
})

test('without a header, with a broken one, and from strangers there is no connection, and each is counted', async t => {
  const { edge, origin } = await start(t)
  const { proxyFailures } = edge.metrics
  for (const [bytes, reason] of [
    [request('GET /'), 'missing'],
    ['PROXY TCP4 203.0.113.7\r\n', 'malformed'],
    [proxyHeader({ client: '203.0.113.7', version: 3 }), 'malformed'],
  ] as const) {
    const before = proxyFailures[reason].value
    const wire = await edge.connect(balancer)
    await wire.send(bytes)
    assert.equal(await wire.ending, 'RST')
    assert.equal(proxyFailures[reason].value, before + 1)
  }
  // Reset at once, it may fail before it is connected.
  const other = connectTcp({ port: edge.port, host: balancer, localAddress: stranger })
  other.write(header('203.0.113.7') + request('GET /'))
  const [error] = (await once(other, 'error')) as [NodeJS.ErrnoException]
  assert.match(error.code!, /^(ECONNRESET|EPIPE)$/)
  assert.equal(proxyFailures.untrusted.value, 1)
  const gone = await edge.connect(balancer)
  await gone.send('PROXY ')
  gone.leave()
  await until(() => proxyFailures.closed.value === 1)
  assert.equal(origin.requests.length, 0)
  assert.equal(edge.metrics.clientConnections.value, 0)
})

test('a header may come in any pieces, and what follows it in the same packet', async t => {
  const { edge } = await start(t)
  for (const head of [Buffer.from(header('203.0.113.7')), proxyHeader({ client: '2001:db8::7' })]) {
    const wire = await edge.connect(balancer)
    wire.socket.setNoDelay(true)
    for (const byte of head.subarray(0, -1)) await wire.send(Buffer.from([byte]))
    await wire.send(Buffer.concat([head.subarray(-1), Buffer.from(request('GET /'))]))
    assert.equal((await wire.response()).text, 'hello')
  }
})

test('a header that does not come ends in time, and a handshake behind it has the rest of that time', async t => {
  const { edge } = await start(t, { client: { handshakeTimeout: 300 } }, true)
  const silent = await edge.connect(balancer)
  const halfway = await edge.connect(balancer)
  await halfway.send(header('203.0.113.7'))
  assert.deepEqual([await silent.ending, await halfway.ending], ['RST', 'RST'])
  assert.deepEqual([edge.metrics.proxyFailures.timeout.value, edge.metrics.tlsFailures.timeout.value], [1, 1])
  assert.equal(edge.metrics.clientConnections.value, 0)
})

test('connections count for the announced client, and not for the balancer', async t => {
  const { edge, origin } = await start(t, { client: { connectionsPerAddress: 2 } })
  const { refusedConnections } = edge.metrics
  const wires: Wire[] = []
  for (const client of ['203.0.113.7', '203.0.113.7', '203.0.113.8', '203.0.113.8']) {
    const wire = await ask(edge, header(client))
    assert.equal((await wire.response()).status, 200)
    // With a request under way none makes room for another.
    await wire.send(request('GET /busy'))
    wires.push(wire)
    await until(() => origin.wires.length === wires.length)
  }
  const refused = await ask(edge, header('203.0.113.7'))
  assert.equal(await refused.ending, 'RST')
  assert.equal(refusedConnections.connections_per_address.value, 1)
  assert.equal(edge.metrics.clientConnections.value, 4)
  wires[0]!.leave()
  await until(() => edge.metrics.clientConnections.value === 3)
  assert.equal((await (await ask(edge, header('203.0.113.7'))).response()).status, 200)
})

test('so they do before their handshake over TLS, and in it', async t => {
  const client = { connectionsPerAddress: 2, handshakeTimeout: 60_000 }
  const { edge } = await start(t, { client }, true)
  const begin = async (address: string) => {
    const wire = await edge.connect(balancer)
    // The first byte of a handshake, of which no other comes.
    await wire.send(`${header(address)}\x16`)
    return wire
  }
  const wires = await Promise.all(Array.from({ length: 3 }, () => begin('203.0.113.7')))
  assert.equal(await Promise.race(wires.map(({ ending }) => ending)), 'RST')
  await begin('203.0.113.8')
  await until(() => edge.metrics.clientConnections.value === 3)
  // One that has said nothing makes room for the next of its address.
  assert.equal(edge.metrics.evictedConnections.silent.value, 1)
})

test('behind the header TLS is as it is elsewhere', async t => {
  const { edge, origin } = await start(t, {}, true)
  const transport = connectTcp(edge.port, balancer)
  await once(transport, 'connect')
  transport.write(proxyHeader({ client: '2001:db8::7' }))
  const socket = connect({ socket: transport, ca: authority.certificate, servername: 'site.test' })
  t.after(() => socket.destroy())
  await once(socket, 'secureConnect')
  const wire = new Wire(socket)
  await wire.send(request('GET /'))
  assert.equal((await wire.response()).text, 'hello')
  const [seen] = origin.requests
  assert.equal(seen!.field('x-forwarded-for'), '2001:db8::7')
  assert.equal(seen!.field('x-forwarded-proto'), 'https')
  assert.equal(edge.metrics.tlsHandshakes.full.value, 1)
  wire.leave()
  await until(() => edge.metrics.clientConnections.value === 0)
})

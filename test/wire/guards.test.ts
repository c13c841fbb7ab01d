// Addresses that no request must reach: those of the gateway itself, and those of private networks where a pool may not.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { NameLookup } from '../../src/edge/resolver/name-lookup.ts'
import { ManualClock } from '../help/clock.ts'
import { type DnsServer, startDns } from '../help/dns.ts'
import { Edge, edgeConfig, listenAt, recordOf, startEdge } from '../help/edge.ts'
import { ok, startResponder } from '../help/origin.ts'
import { type Message, request } from '../help/raw.ts'

const ask = request('GET /', 'Accept: application/json')

/** Asserts that a request was refused as one that the configuration forbids. */
function assertForbidden(answer: Message, code: 1000 | 1002): void {
  const { error_code, error_category, status, retryable } = recordOf(answer)
  assert.deepEqual([error_code, error_category, status, retryable], [code, 'config', 403, false])
}

async function startNamed(t: TestContext): Promise<{ dns: DnsServer; lookup: NameLookup }> {
  const dns = await startDns(t)
  return { dns, lookup: new NameLookup({ servers: [dns.address] }) }
}

/** Starts an edge that listens there and whose zone leads to itself under that host. */
async function startLoop(t: TestContext, listen: string, host: string, lookup?: NameLookup): Promise<Edge> {
  const config = { ...edgeConfig([]), listen: [{ host: listen, port: 0, tls: false }] }
  const edge = await listenAt(t, new Edge(t, config, lookup && { lookup }))
  edge.reload(edgeConfig([`http://${host}:${edge.port}`]))
  return edge
}

for (const [listen, host] of [
  ['127.0.0.1', '127.0.0.1'],
  ['127.0.0.1', '0.0.0.0'],
  ['127.0.0.1', '[::ffff:127.0.0.1]'],
  ['0.0.0.0', '127.0.0.1'],
  ['0.0.0.0', '127.0.0.77'],
  ['::', '127.0.0.1'],
  ['::', '[::1]'],
] as const) {
  test(`an origin at ${host} is 1000 where the gateway listens at ${listen} on its port`, async t => {
    const edge = await startLoop(t, listen, host)
    for (let i = 0; i < 2; i++) assertForbidden(await edge.ask(ask), 1000)
    assert.equal(edge.accesses.length, 2, 'no request came back')
    assert.equal(edge.accesses[0]!.cause, 'GH_OWN_ADDRESS')
    assert.equal(edge.metrics.originConnections.value, 0)
  })
}

test('a name that resolves to the gateway is 1000, until it resolves to another address', async t => {
  const { dns, lookup } = await startNamed(t)
  dns.addresses('origin.test', ['127.0.0.1'])
  const edge = await startLoop(t, '127.0.0.1', 'origin.test', lookup)
  assertForbidden(await edge.ask(ask), 1000)
  await startResponder(t, ok('elsewhere'), edge.port, '127.0.0.2')
  dns.addresses('origin.test', ['127.0.0.1', '127.0.0.2'])
  edge.reload(edgeConfig([]))
  edge.reload(edgeConfig([`http://origin.test:${edge.port}`]))
  assert.equal((await edge.ask(ask)).text, 'elsewhere')
})

test('another port of the gateway’s address is another server', async t => {
  const origin = await startResponder(t, ok('origin'))
  const config = { ...edgeConfig([origin.url]), listen: [{ host: '0.0.0.0', port: 0, tls: false }] }
  const edge = await listenAt(t, new Edge(t, config))
  assert.equal((await edge.ask(ask)).text, 'origin')
})

test('a pool for public addresses refuses others with 1002, without a packet to them', async t => {
  const origin = await startResponder(t, ok('secret'))
  const hosts = ['127.0.0.1', '10.0.0.1', '169.254.169.254', '[::1]', '[fd00::1]', '[::ffff:127.0.0.1]']
  for (const host of hosts) {
    const edge = await startEdge(t, [`http://${host}:${origin.port}`], { transport: { addresses: 'public' } })
    for (let i = 0; i < 2; i++) assertForbidden(await edge.ask(ask), 1002)
    assert.equal(edge.accesses[0]!.cause, 'GH_PROHIBITED_ADDRESS')
  }
  assert.equal(origin.wires.length, 0)
})

test('names are judged by the address that is dialled, each time it changes', async t => {
  const origin = await startResponder(t, ok('secret'))
  const { dns, lookup } = await startNamed(t)
  const clock = new ManualClock()
  dns.addresses('origin.test', ['127.0.0.1', '::1', '192.168.0.1'])
  const edge = await startEdge(t, [`http://origin.test:${origin.port}`], {
    transport: { addresses: 'public', dns: { refresh: 1_000, keep: 0 } },
    lookup,
    clock,
  })
  assertForbidden(await edge.ask(ask), 1002)
  dns.addresses('origin.test', ['127.0.0.2'])
  clock.advance(1_000)
  assertForbidden(await edge.ask(ask), 1002)
  await dns.asked('origin.test', 2, 1)
  assertForbidden(await edge.ask(ask), 1002)
  assert.equal(origin.wires.length, 0)
})

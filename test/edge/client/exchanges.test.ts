import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Exchanges } from '../../../src/edge/client/exchanges.ts'
import { edgeConfig, type EdgeSettings } from '../../help/edge.ts'
import { stepsOver } from '../../help/exchange.ts'
import { request } from '../../help/raw.ts'

function start(t: TestContext, settings: EdgeSettings = {}) {
  const steps = stepsOver(t, [], settings)
  const client = { ...steps.exchange(request('GET /')).client, isTrusted: false }
  const exchanges = new Exchanges({ peer: '192.0.2.1', isAnonymous: false }, steps.plane)
  const of = (host: string) => {
    const { head, requestBody } = steps.exchange(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    return exchanges.of(head, requestBody, client)
  }
  return { plane: steps.plane, exchanges, of, client }
}

test('each request goes by its own Host, and one that is none is no request', t => {
  const { of } = start(t)
  const hosts = ['site.test', 'site.test', 'Other.Test:80', 'site.test', 'no host', 'other.test']
  assert.deepEqual(
    hosts.map(host => of(host)?.host ?? null),
    ['site.test', 'site.test', 'other.test', 'site.test', null, 'other.test'],
  )
})

test('the last request that a connection may serve, and any in a drain, is the last', t => {
  const { plane, of } = start(t, { limits: { requestsPerConnection: 3 } })
  assert.deepEqual(
    [1, 2, 3].map(() => of('site.test')!.keepAlive),
    [true, true, false],
  )
  const other = start(t)
  other.plane.isDraining = true
  assert.equal(other.of('site.test')!.keepAlive, false)
  assert.equal(plane.isDraining, false)
})

test('a reload of the trusted proxies counts for connections that are open', t => {
  const { plane, of } = start(t)
  assert.equal(of('site.test')!.client.isTrusted, false)
  plane.prepare(edgeConfig([], { trustedProxies: ['192.0.2.0/24'] })).commit()
  assert.equal(of('site.test')!.client.isTrusted, true)
})

test('what never became a request has its host where that can be made out, and ends the connection', t => {
  const { exchanges, client } = start(t)
  const x = exchanges.ofBytes(Buffer.from('GET /\u0000 HTTP/1.1\r\nHost: Site.Test\r\n'), client)
  assert.deepEqual([x.host, x.keepAlive, x.requestBody.done], ['site.test', false, true])
  assert.equal(exchanges.ofBytes(Buffer.from('\u0016\u0003\u0001'), client).host, '')
})

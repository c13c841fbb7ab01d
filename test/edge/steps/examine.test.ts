import assert from 'node:assert/strict'
import { test } from 'node:test'
import { examine } from '../../../src/edge/steps/examine.ts'
import { stepsOver } from '../../help/exchange.ts'
import { request } from '../../help/raw.ts'

test('CONNECT and TRACE are refused, and nothing is read after CONNECT', t => {
  const steps = stepsOver(t, [])
  const connect = steps.exchange(request('CONNECT site.test:443'))
  assert.equal(examine(connect)?.error, 'http_connect_not_supported')
  assert.equal(connect.keepAlive, false)
  const trace = steps.exchange(request('TRACE /'))
  assert.equal(examine(trace)?.error, 'method_not_allowed')
  assert.equal(trace.keepAlive, true)
  assert.equal(examine(steps.exchange(request('GET /'))), null)
})

test('only a GET of HTTP/1.1 without a body asks for a WebSocket', t => {
  const steps = stepsOver(t, [])
  const fields = ['Connection: Upgrade', 'Upgrade: h2c, WebSocket']
  for (const [text, upgrade] of [
    [request('GET /', ...fields), 'requested'],
    [request('POST /', ...fields), 'none'],
    [request('GET /', ...fields, 'Content-Length: 1'), 'none'],
    [request('GET /', 'Upgrade: websocket'), 'none'],
    [request('GET /', ...fields).replace('1.1', '1.0'), 'none'],
    [request('GET /', 'Connection: Upgrade', `Upgrade: websocket${', x'.repeat(400)}`), 'none'],
  ] as const) {
    const x = steps.exchange(text)
    assert.equal(examine(x), null)
    assert.equal(x.upgrade, upgrade, text)
  }
})

test('an expectation that is not 100-continue is refused, and so is a way that cannot be read', t => {
  const steps = stepsOver(t, [], { trustedProxies: ['192.0.2.9'], clientAddress: 'forwarded' })
  assert.equal(examine(steps.exchange(request('GET /', 'Expect: 100-Continue'))), null)
  assert.equal(examine(steps.exchange(request('GET /', 'Expect: more')))?.error, 'expectation_failed')
  const torn = request('GET /', 'Forwarded: for="')
  assert.equal(examine(steps.exchange(torn)), null)
  assert.equal(examine(steps.exchange(torn, '192.0.2.9'))?.error, 'bad_request')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dashboardOrigins, pagesUrl, servesDashboard } from '../../../src/process/ports/pages-url.ts'
import { edgeConfig } from '../../help/edge.ts'

test('people sign in at the issuer, else on the host of the dashboard, else at a side port that leads to this machine', () => {
  const config = edgeConfig([])
  const at = (host: string, issuer: string | null = null, dashboard: string | null = null) =>
    pagesUrl(
      { ...config, oauth: { ...config.oauth, issuer }, dashboard: { host: dashboard } },
      { host, port: 8081 },
    )
  assert.equal(at('127.0.0.1'), 'http://127.0.0.1:8081')
  assert.equal(at('::1'), 'http://[::1]:8081')
  assert.equal(at('0.0.0.0'), 'http://localhost:8081')
  assert.equal(at('192.0.2.1'), null)
  assert.equal(at('192.0.2.1', 'https://id.example'), 'https://id.example')
  assert.equal(at('192.0.2.1', null, 'gate.example'), 'https://gate.example')
  assert.equal(at('192.0.2.1', 'https://id.example', 'gate.example'), 'https://id.example')
})

test('a dashboard is published over https, or on loopback at the ports of the edge', () => {
  const listen = [8080, 80].map(port => ({ host: '0.0.0.0', port, tls: false }))
  const of = (host: string | null, publicPort: number | null = null) =>
    dashboardOrigins({ dashboard: { host }, listen, publicPort })
  assert.deepEqual(of(null), [])
  assert.deepEqual(of('gate.example'), ['https://gate.example'])
  assert.deepEqual(of('localhost'), ['http://localhost:8080', 'http://localhost'])
  assert.deepEqual(of('::1'), ['http://[::1]:8080', 'http://[::1]'])
  assert.deepEqual(of('2001:db8::1'), ['https://[2001:db8::1]'])
  assert.deepEqual(of('gate.example', 4443), ['https://gate.example:4443'])
  const secure = [
    ...listen,
    { host: '0.0.0.0', port: 8443, tls: true },
    { host: '::1', port: 443, tls: true },
  ]
  const origins = (host: string, publicPort: number | null = null) =>
    dashboardOrigins({ dashboard: { host }, listen: secure, publicPort })
  assert.deepEqual(origins('gate.example'), ['https://gate.example', 'https://gate.example:8443'])
  assert.deepEqual(origins('localhost').slice(0, 3), [
    'https://localhost:8443',
    'https://localhost',
    'http://localhost:8080',
  ])
  assert.deepEqual(origins('gate.example', 4443), [
    'https://gate.example:4443',
    'https://gate.example:8443',
    'https://gate.example',
  ])
  assert.deepEqual(origins('localhost', 443).slice(0, 3), [
    'https://localhost',
    'https://localhost:8443',
    'http://localhost:8080',
  ])
})

test('the dashboard is on the host that is published for it, and wherever no host of the edge leads to the side port', () => {
  const route = edgeConfig([]).zones[0]!.routes[0]!
  const zoneOf = (host: string, ...owns: readonly ('issuer' | 'dashboard')[]) => ({
    ...edgeConfig([]).zones[0]!,
    hosts: [host],
    routes: [route, ...owns.map(own => ({ ...route, own }))],
  })
  const zones = [
    zoneOf('id.example', 'issuer'),
    zoneOf('gate.example', 'dashboard'),
    zoneOf('both.example', 'issuer', 'dashboard'),
    zoneOf('::1', 'issuer'),
  ]
  const isServed = (origin: string) => servesDashboard({ zones }, origin)
  assert.deepEqual(
    ['https://id.example', 'http://[::1]:8080', 'https://gate.example', 'https://both.example:8443'].map(
      isServed,
    ),
    [false, false, true, true],
  )
  assert.ok(isServed('https://elsewhere.example'))
})

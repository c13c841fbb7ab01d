import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { JwtGateConfig, TokenGateConfig } from '../../../src/config/model/protect-config.ts'
import { apiOf } from '../../../src/oauth/grants/resource-indicator.ts'
import {
  normalResource,
  resourcesIn,
  resourceUrl,
  RouteResources,
} from '../../../src/oauth/grants/route-resources.ts'
import { anyUrl } from '../../help/any-text.ts'
import { zoneTo } from '../../help/edge.ts'
import { thorough } from '../../help/thorough.ts'

const gateFor = (scopes: readonly string[], server: string | null = null): TokenGateConfig => ({
  kind: 'token',
  accepts: { scopes, server, account: null },
  fields: [],
  endsOpen: false,
})
const [open] = zoneTo([]).routes
const orders = {
  ...open!,
  path: '/orders',
  protect: [gateFor(['a.b'], 'one'), gateFor(['a.b', 'a.c'], 'two')],
}
const accepts = { permission: 'Zones Read', account: 'f'.repeat(32) } as const
const byPermission = {
  ...open!,
  path: '/reports',
  protect: [{ kind: 'token', accepts, fields: [], endsOpen: false } as const],
}
const site = {
  ...zoneTo([]),
  hosts: ['site.test', '*.shops.test', '2001:db8::1'],
  routes: [open!, orders, byPermission],
}
const whole = { ...zoneTo([]), hosts: ['whole.test'], isDefault: true, routes: [{ ...orders, path: '/' }] }
const routes = new RouteResources(() => ({ zones: [site, whole], scopes: [] }))

test('a route that access tokens open is a resource at each host that its zone lists', () => {
  const resource = { scopes: ['a.b', 'a.c'], servers: ['one', 'two'], isOurs: true, issuers: [] }
  for (const url of [
    'https://site.test/orders',
    'HTTP://SITE.test:8080/orders',
    'https://one.shops.test/orders',
    'https://[2001:db8::1]/orders',
    'https://whole.test',
    'https://whole.test/',
  ])
    assert.deepEqual(routes.at(url), resource, url)
  for (const url of [
    'https://site.test/',
    'https://site.test/reports',
    'https://site.test/orders/',
    'https://site.test/orders/1',
    'https://site.test/orders?',
    'https://site.test/orders#',
    'https://site.test/ord\ners',
    'https://site.test/x\\..\\orders',
    'https://shops.test/orders',
    'https://elsewhere.test/',
    'https://:secret@site.test/orders',
    'https://user@site.test/orders',
    'ftp://site.test/orders',
    'site.test/orders',
    '',
  ])
    assert.equal(routes.at(url), null, url)
})

test('only MCP clients look for the issuer of a jwt gate, and for its tokens nobody comes to us', () => {
  const jwt = (issuer: string): JwtGateConfig => ({
    kind: 'jwt',
    issuer,
    audiences: ['a'],
    keys: 'https://id.example/k',
    ca: null,
    networks: [],
    algorithms: ['ES256'],
    condition: null,
    fields: [],
    forwardToken: false,
  })
  const mcp = { bodyLimit: 1, origins: [], rules: [], otherwise: 'allow' } as const
  const protect = ['https://id.example/', 'no URL', 'http://id.example', 'https://'].map(jwt)
  const tools = { ...open!, path: '/tools', protect, mcp }
  const both = { ...tools, path: '/both', protect: [...protect, gateFor(['a.b'])] }
  const zone = { ...site, routes: [tools, both, { ...tools, path: '/api', mcp: null }] }
  const described = [...resourcesIn(zone)].map(([path, { issuers, isOurs }]) => [path, isOurs, issuers])
  assert.deepEqual(described, [
    ['/tools', false, ['https://id.example/']],
    ['/both', true, ['https://id.example/']],
  ])
  const ours = new RouteResources(() => ({ zones: [zone], scopes: [] }))
  assert.equal(ours.at('https://site.test/tools'), null)
  assert.equal(ours.at('https://site.test/both')?.isOurs, true)
})

test('a route has the scopes of its gates and of its rules for MCP, and no gates at all open nothing', () => {
  const rules = [{ match: { kind: 'any' }, scopes: ['a.d', 'a.b'] }] as never
  const mcp = { bodyLimit: 1, origins: [], rules, otherwise: 'allow' } as const
  const tools = { ...orders, mcp }
  const { protect: _, ...bare } = { ...tools, path: '/bare' }
  const found = resourcesIn({ ...site, routes: [tools, bare as typeof tools] })
  assert.deepEqual([...found.keys()], ['/orders'])
  assert.deepEqual(found.get('/orders')?.scopes, ['a.b', 'a.c', 'a.d'])
  const apart = { ...orders, protect: [gateFor(['a.b'])] }
  assert.deepEqual(resourcesIn({ ...site, routes: [apart] }).get('/orders')?.servers, [])
})

test('the URL of a resource has its path, but for that of the root', () => {
  assert.equal(resourceUrl(new URL('https://site.test/')), 'https://site.test')
  assert.equal(resourceUrl(new URL('https://site.test:8443/orders?x')), 'https://site.test:8443/orders')
  assert.equal(routes.at('https://site.test/none'), null)
})

test('on an AI host, a route is a resource apart, and the management API stays what it is', () => {
  const places = { issuer: 'https://whole.test', aiHosts: ['site.test'], routes }
  assert.equal(apiOf('https://site.test/orders', places), null)
  assert.equal(apiOf('https://site.test/v1', places), 'ai')
  assert.equal(apiOf('https://whole.test/', places), 'management')
})

test('whatever a client names, it is a route of ours only by its URL, and equal URLs are one resource', () => {
  const near = fc
    .tuple(
      fc.constantFrom('https://', 'http://', 'HTTPS://', 'https:', 'https:\\\\', '//'),
      fc.constantFrom('site.test', 'site.test.', 'a@site.test', 'site.test:1', 'evil.test', 'x.shops.test'),
      fc.array(fc.constantFrom('/', 'orders', '.', '..', '%2f', ';', '?', '#', '\\', ' ', '%6f'), {
        maxLength: 5,
      }),
    )
    .map(([scheme, host, parts]) => `${scheme}${host}${parts.join('')}`)
  fc.assert(
    fc.property(fc.oneof(near, anyUrl, fc.string()), resource => {
      const normal = normalResource(resource)
      if (normal !== null) assert.equal(normalResource(normal), normal)
      if (routes.at(resource) === null) return
      const { hostname, pathname, search, hash, username } = new URL(resource)
      assert.match(hostname, /^(site\.test|[^.].*\.shops\.test|\[2001:db8::1\]|whole\.test)$/, resource)
      assert.equal(pathname, hostname === 'whole.test' ? '/' : '/orders', resource)
      assert.deepEqual([search, hash, username], ['', '', ''])
      assert.deepEqual(routes.at(normal!), routes.at(resource))
    }),
    { numRuns: thorough(1_000, 300) },
  )
})

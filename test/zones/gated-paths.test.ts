import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathReadings } from '../../src/base/path/path-readings.ts'
import type { RouteConfig } from '../../src/config/model/config.ts'
import { GatedPaths } from '../../src/zones/gated-paths.ts'
import { zoneTo } from '../help/edge.ts'
import { gateOf } from '../help/issuer.ts'

const gate = [gateOf('http://127.0.0.1:9')]
const other = [gateOf('http://127.0.0.1:8')]
const route = (path: string, protect: RouteConfig['protect'] = null): RouteConfig => ({
  ...zoneTo([]).routes[0]!,
  ...{ path, protect },
})

test('a path in other letters is behind the gate that the route for it lacks', () => {
  const [root, open] = [route('/'), route('/admin/open')]
  const routes = [root, route('/admin', gate), open, route('/caf%C3%A9', gate), route('/gross', gate)]
  const paths = GatedPaths.of(routes)!
  const behind = (target: string, chosen = root) => paths.behind(pathReadings(target)!, chosen)
  for (const target of [
    '/Admin',
    '/ADMIN/x?a=b',
    '/%41dmin',
    '/x/..%2fAdmin',
    '/%EF%BD%81dmin',
    '/adm%C4%B1n',
    '/ADM%C4%B0N/x',
    '/admi%CC%87n',
    '/ad%E2%80%8Cmin',
    '/%EF%BB%BFadmin.',
    '/adm%C2%ADin',
    '/admin.',
    '/admin.../x',
    '/admin.%20./x',
    '/admin%2e',
    '/admin::$DATA',
    '/admin::$INDEX_ALLOCATION/x',
    '/admin. ::$I30:$INDEX_ALLOCATION/x',
  ])
    assert.equal(behind(target), '/admin', target)
  for (const target of ['/Gro%C3%9F', '/gro%E1%BA%9E/x', '/GROSS'])
    assert.equal(behind(target), '/gross', target)
  for (const target of ['/CAF%C3%89', '/cafe%CC%81/x', '/Caf%c3%a9'])
    assert.equal(behind(target), '/caf%C3%A9', target)
  for (const target of [
    '/',
    '/Administrator',
    '/admin.json',
    '/admin:x',
    '/x/Admin',
    '/.admin',
    '/%FFadmin',
    '/?/Admin',
  ])
    assert.equal(behind(target), null, target)
  assert.equal(behind('/admin/open/ADMIN', open), null)
})

test('rules of an MCP server are a gate', () => {
  const mcp = { bodyLimit: 1, origins: [], rules: [], otherwise: 'deny' } as const
  for (const protect of [null, gate]) {
    const around = route('/', protect)
    const paths = GatedPaths.of([around, { ...route('/mcp', protect), mcp }])
    assert.equal(paths?.behind(['/MCP'], around), '/mcp')
  }
})

test('routes whose gates hold around them need no such care', () => {
  assert.equal(GatedPaths.of([route('/')]), null)
  assert.equal(GatedPaths.of([route('/', gate), route('/open'), route('/more', gate)]), null)
  assert.equal(GatedPaths.of([route('/admin', gate), route('/x')]), null)
  const paths = GatedPaths.of([route('/', gate), route('/more', other)])!
  assert.equal(paths.behind(['/More'], route('/', gate)), '/more')
})

test('a route that is spelled so is meant', () => {
  const [root, own] = [route('/'), route('/Admin')]
  const paths = GatedPaths.of([root, own, route('/admin', gate)])!
  assert.equal(paths.behind(['/Admin/x'], own), null)
  assert.equal(paths.behind(['/ADMIN/x'], root), '/admin')
})

test('long paths take no longer than others', () => {
  const paths = GatedPaths.of([route('/'), route('/admin', gate)])!
  const start = process.threadCpuUsage()
  for (const part of ['.', ' ', '. ', '::$', ':', './', '%20'])
    paths.behind([`/A${part.repeat(16_000)}x`], route('/'))
  assert.ok(process.threadCpuUsage(start).user < 2_000_000)
})

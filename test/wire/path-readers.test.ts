// No spelling of a path slips by a rule: whatever a client writes, where any origin would read a path that a rule protects, the request is refused or counted.

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import type { AccessCondition, AccessRule } from '../../src/config/model/access-config.ts'
import type { RateLimitConfig } from '../../src/config/model/limit-config.ts'
import type { RouteConfig } from '../../src/config/model/config.ts'
import { type EdgeSettings, openAccess, startEdge, zoneTo } from '../help/edge.ts'
import { gateOf } from '../help/issuer.ts'
import { ok, startResponder } from '../help/origin.ts'
import {
  readAsSent,
  readByHttpSys,
  readByNginx,
  readByOldDecoder,
  readByTomcat,
  readByUrl,
  readLoosely,
  readTrimmed,
  readTwice,
} from '../help/path-readers.ts'
import type { Message } from '../help/raw.ts'
import { thorough } from '../help/thorough.ts'

/** Those that take the target as it is have routes too: Express leads all that begins with `/admin/` to what is mounted there. */
const readers = [
  ...[readByUrl, readByNginx, readByTomcat, readByHttpSys, readByOldDecoder],
  ...[readTwice, readTrimmed, readAsSent],
]

test('the readers read paths as documented', () => {
  assert.deepEqual(readByNginx('/a//b/%2e%2e/%41?x/../y'), ['/a/A', '/a//A'])
  assert.deepEqual(readByNginx('/a//../b;c%2fd'), ['/b;c/d', '/a/b;c/d'])
  assert.deepEqual(readByNginx('/..'), [])
  assert.deepEqual(readByNginx('/a/b/..'), ['/a/', '/a/'])
  assert.deepEqual([...new Set(readByTomcat('/a;x/..;/b//c%2fd'))], ['/b/c/d', '/b/c%2fd'])
  assert.deepEqual([...new Set(readByTomcat('/a\\..\\b'))], ['/b'])
  assert.deepEqual(readByOldDecoder('/%c1%a1/..%c0%af%e0%80%ae/b'), ['/b'])
  assert.deepEqual(readByUrl('//x/admin'), ['/admin', '/admin', '//x/admin', '//x/admin'])
})

test('a path that any origin would read as protected is refused', async t => {
  const site = await startSite(t)
  let protectedOnes = 0
  let passed = 0
  await fc.assert(
    fc.asyncProperty(targets, async target => {
      const readings = readers.flatMap(read => read(target))
      const isProtected = readings.some(path => isUnder('/admin', path))
      const isPublic = readings.every(path => isUnder('/public', path))
      if (isProtected) protectedOnes++
      for (const host of ['deny', 'legal', 'expression', 'matches']) {
        const { status } = await site.ask(host, target)
        if (isProtected) assert.notEqual(status, 200, host)
        if (host === 'deny' && status === 200) passed++
      }
      for (const host of ['allow', 'allow-expression'])
        if (!isPublic) assert.notEqual((await site.ask(host, target)).status, 200, host)
      const before = site.counted('limit')
      const limited = await site.ask('limit', target)
      if (isProtected) assert.ok(limited.status !== 200 || site.counted('limit') === before + 1)
      const { text } = await site.ask('route', target)
      if (isProtected) assert.notEqual(text, 'open')
      if (readings.some(path => !isUnder('/admin', path))) assert.notEqual(text, 'admin')
      const meant = [...readings, ...readings.flatMap(readLoosely)]
      if (meant.some(path => isUnder('/admin', path)))
        for (const form of [target, `http://gate.test${target}`, `http://GATE.test:80${target}`])
          assert.ok([400, 401].includes((await site.ask('gate', form)).status), form)
      const rewritten = await site.ask('rewrite', target)
      if (isProtected) assert.ok(rewritten.status !== 200 || site.lastTarget().split('?')[0] === '/denied')
      assert.equal((await site.ask('plain', target)).status, 200)
      assert.equal(site.lastTarget(), target)
    }),
    { numRuns: thorough(500, 70), examples: proven.map(target => [target]) },
  )
  assert.ok(protectedOnes > thorough(100, 15), `${protectedOnes}`)
  assert.ok(passed > thorough(100, 15), `${passed}`)
})

/** Ways by which rules were passed once. */
const proven = [
  '/admin//../users',
  '//x/admin/users',
  '/x//../admin//..',
  '/admin;x/users',
  '/api/..;/admin',
  '/admin/%2e%2e%2fadmin',
  '/%40/../admin',
  '/x%2f..%2fadmin',
  '/\\x/admin',
  '/..;/admin',
  '/admin/../users',
  '/%u0061dmin',
  '/public/%u002e%u002e/admin',
  '/%2561dmin',
  '/public/%252e%252e/admin',
  '/admin%3fx',
  '/admin%23x',
  '/admin%0a',
  '/%09/x/admin',
  '//%09/public/admin',
  '/%20admin%20/x',
  '/ad%0dmin',
  '/public/..%20/admin',
  '/public/../admin%253f/../../public',
  '/ADMIN/users',
  '/%c1%a1dmin',
  '/public/..%c0%afadmin',
  '/public/%e0%80%ae%c0%ae/admin',
  '/public/..%2f%41dmin',
  '/admin./users',
  '/admin::$INDEX_ALLOCATION/users',
]

const targets = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('/admin', '/public', '/', '/x') },
      fc.constantFrom(
        'admin',
        '%61dmin',
        '%u0061dmin',
        '%2561dmin',
        'Admin',
        '%41dmin',
        '%c1%a1dmin',
        '%e0%81%a1dmin',
        '::$DATA',
        'x',
        '.',
        '..',
        '%2e',
        '%2E%2e',
        '?',
        '@',
        '%40',
        '%25',
        '%',
      ),
      fc.constantFrom(
        '//',
        '/..',
        '/../',
        '/./',
        ';',
        ';x=1',
        '%3b',
        '%3f',
        '%23',
        '%253f',
        '%20',
        '%09',
        '%0A',
        '%01',
        '%2f',
        '%2F',
        '\\',
        '%5c',
        '%00',
        '%252e%252e',
        '%252f',
        '%u002f',
        '%c0%af',
        '%c0%ae',
        '%25c0%25af',
        '%f0%80%80%ae',
      ),
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map(pieces => `/${pieces.join('')}`)

function isUnder(prefix: string, path: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`)
}

async function startSite(t: TestContext) {
  const open = await startResponder(t, ok('open'))
  const admin = await startResponder(t, ok('admin'))
  const zone = (name: string, settings: EdgeSettings['zone'], route: Partial<RouteConfig> = {}) =>
    zoneTo([open.url], { route, zone: { name, hosts: [`${name}.test`], ...settings } })
  const guarded = (name: string, condition: AccessCondition, action: AccessRule['action']) => {
    const rules = [{ action, condition, description: null }]
    return zone(name, { access: { ...openAccess, rules, otherwise: action === 'allow' ? 'deny' : 'allow' } })
  }
  const under = (prefix: string): AccessCondition => ({
    kind: 'expression',
    text: `request.path == "${prefix}" || request.path.startsWith("${prefix}/")`,
  })
  const limit = (name: string, when: string): RateLimitConfig => ({
    name,
    limit: 1_000_000,
    period: 60_000,
    key: [],
    when,
    action: 'block',
  })
  const [root] = zoneTo([open.url]).routes
  const [rest] = zoneTo([admin.url], { route: { path: '/admin' } }).routes
  const zones = [
    zone('plain', {}),
    guarded('deny', { kind: 'path', prefixes: ['/admin'] }, 'deny'),
    guarded('legal', { kind: 'path', prefixes: ['/admin'] }, 'legal'),
    guarded('expression', under('/admin'), 'deny'),
    guarded('matches', { kind: 'expression', text: 'request.path.matches("^/admin(/|$)")' }, 'deny'),
    guarded('allow', { kind: 'path', prefixes: ['/public'] }, 'allow'),
    guarded('allow-expression', under('/public'), 'allow'),
    zone('limit', { rateLimits: [limit('limit', (under('/admin') as { text: string }).text)] }),
    zone('route', { routes: [root!, rest!] }),
    zone('gate', { routes: [root!, { ...root!, path: '/admin', protect: [gateOf('http://127.0.0.1:9')] }] }),
    zone(
      'rewrite',
      {},
      {
        rewrite: {
          path: `${(under('/admin') as { text: string }).text} ? "/denied" : request.path`,
          requestHeaders: [],
          responseHeaders: [],
        },
      },
    ),
  ]
  const edge = await startEdge(t, [], { zones })
  let client = await edge.connect()
  const ask = async (host: string, target: string): Promise<Message> => {
    await client.send(`GET ${target} HTTP/1.1\r\nHost: ${host}.test\r\nAccept: application/json\r\n\r\n`)
    const answer = await client.response()
    if (answer.field('connection') === 'close') client = await edge.connect()
    return answer
  }
  const counted = (name: string) => edge.metrics.limits.rule(name).allowed.value
  return { ask, counted, lastTarget: () => open.requests.at(-1)!.target }
}

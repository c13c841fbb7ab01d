import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { redirected, RedirectTrail } from '../../../src/edge/forward/follow-redirect.ts'
import { type EdgeSettings, openAccess } from '../../help/edge.ts'
import { answerHead, stepsOver } from '../../help/exchange.ts'
import { post, request } from '../../help/raw.ts'

const origin = 'http://127.0.0.1:8080'
const get = request('GET /from', 'X-Mine: 1', 'Content-Type: text/plain')

function follow(
  t: TestContext,
  text: string,
  status: number,
  lines: readonly string[],
  settings: EdgeSettings = {},
) {
  const x = stepsOver(t, [origin], settings).located(text)
  return redirected(x, answerHead(`HTTP/1.1 ${status} X`, ...lines))
}

const to = (location: string) => [`Location: ${location}`]

test('method and body go along as the status says', t => {
  const methods = { 301: 'GET', 302: 'GET', 303: 'GET', 307: 'POST', 308: 'POST' }
  for (const [status, method] of Object.entries(methods)) {
    const fields = ['Content-Type: a/b', 'Content-Encoding: gzip', 'Trailer: x', 'Digest: y', 'X-Mine: 1']
    const next = follow(t, post('/from', 'body', ...fields), Number(status), to('/to'))!
    assert.equal(next.method, method)
    assert.equal(next.target, '/to')
    const names = next.fields.filter((_, i) => i % 2 === 0)
    assert.equal(next.ids.length, names.length)
    assert.deepEqual(
      names,
      method === 'GET'
        ? ['Host', 'X-Mine']
        : ['Host', ...fields.map(line => line.split(':')[0]), 'Content-Length'],
    )
    assert.deepEqual([next.contentLength, next.chunked], [method === 'GET' ? -1 : 4, false])
  }
  const chunked = request('POST /from', 'Transfer-Encoding: chunked')
  assert.equal(follow(t, chunked, 303, to('/to'))!.chunked, false)
  assert.equal(follow(t, chunked, 307, to('/to'))!.chunked, true)
  assert.equal(follow(t, post('/from', 'body').replace('POST', 'PUT'), 302, to('/to'))!.method, 'PUT')
  assert.equal(follow(t, post('/from', 'body').replace('POST', 'PUT'), 303, to('/to'))!.method, 'GET')
  assert.equal(follow(t, request('HEAD /from'), 303, to('/to'))!.method, 'HEAD')
  assert.equal(follow(t, get, 303, to('/to'))!.fields.length, 6)
})

test('a response that is not a redirect, or is only for the client, is left alone', t => {
  for (const status of [200, 300, 304, 305, 306, 404]) assert.equal(follow(t, get, status, to('/to')), null)
  for (const lines of [
    [],
    ['Location: /a', 'Location: /b'],
    ['Location: '],
    ['Location: /a b'],
    ['Location: /to', 'Set-Cookie: a=1'],
  ])
    assert.equal(follow(t, get, 302, lines), null, lines.join())
})

test('only what leads back to the same route of the same host is followed', t => {
  for (const [location, target] of [
    ['/to?x=1#y', '/to?x=1'],
    ['to', '/to'],
    ['?x', '/from?x'],
    ['http://site.test/to', '/to'],
    [`${origin}/to`, '/to'],
    ['//site.test/to', '/to'],
    ['https://site.test/to', null],
    ['http://other.test/to', null],
    ['//other.test/to', null],
    ['http://site.test:8080/to', null],
    ['http://user@site.test/to', null],
    ['http://127.0.0.1:8081/to', null],
    ['javascript:1', null],
    ['/cdn-cgi/error/500', null],
    [`/${'x'.repeat(20_000)}`, null],
  ] as const)
    assert.equal(follow(t, get, 302, to(location))?.target ?? null, target, location)
})

test('no redirect leads past a rule, a limit or a rewrite, or into another route', t => {
  const steps = stepsOver(t, [origin])
  const route = steps.located(get).route!.config
  const deny = { action: 'deny', condition: { kind: 'path', prefixes: ['/to'] }, description: null } as const
  const limit = {
    name: 'few',
    limit: 10,
    period: 1_000,
    key: [{ by: 'path' }],
    when: null,
    action: 'block',
  } as const
  const refused: Readonly<Record<string, EdgeSettings>> = {
    rule: { zone: { access: { ...openAccess, rules: [deny] } } },
    limit: { rateLimits: [limit] },
    rewrite: { route: { rewrite: { path: '"/x"', requestHeaders: [], responseHeaders: [] } } },
    route: { zone: { routes: [{ ...route, path: '/to' }, route] } },
  }
  for (const [what, settings] of Object.entries(refused)) {
    assert.equal(follow(t, get, 302, to('/to'), settings), null, what)
    if (what === 'rule' || what === 'route') assert.ok(follow(t, get, 302, to('/else'), settings), what)
  }
})

test('whatever a location contains, the request that follows is valid and for the same host', t => {
  const steps = stepsOver(t, [origin])
  const piece = fc.oneof(
    fc.constantFrom('/', '//', '..', '%2e', '\\', '?', '#', '@', ':', 'http://', 'site.test', '[::1]', 'x'),
    fc.string({
      unit: fc.integer({ min: 0x21, max: 0x7e }).map(code => String.fromCharCode(code)),
      maxLength: 4,
    }),
  )
  const location = fc.array(piece, { minLength: 1, maxLength: 6 }).map(pieces => pieces.join(''))
  fc.assert(
    fc.property(location, fc.constantFrom(301, 303, 307), (location, status) => {
      const x = steps.located(post('/from', 'body'))
      const next = redirected(x, answerHead(`HTTP/1.1 ${status} X`, `Location: ${location}`))
      if (next === null) return
      assert.match(next.target, /^\/[!-~]*$/)
      assert.equal(next.host, 'site.test')
      assert.equal(next.method, status === 307 ? 'POST' : 'GET')
      assert.equal(x.outgoing.target, '/from')
    }),
    { numRuns: 500 },
  )
})

test('a chain of redirects ends: at a visited URL, at the limit, and where a body was streamed', t => {
  const steps = stepsOver(t, [origin])
  const at = (text: string) => steps.exchange(text).head
  const trail = new RedirectTrail(at(request('GET /1')))
  assert.equal(trail.goOn(at(request('GET /1')), 3), false)
  for (const target of ['/2', '/3', '/4']) assert.equal(trail.goOn(at(request(`GET ${target}`)), 3), true)
  assert.equal(trail.goOn(at(request('GET /5')), 3), false)
  const other = new RedirectTrail(at(request('POST /1')))
  assert.equal(other.goOn(at(request('GET /1')), 3), true, 'another method is another request')
  assert.equal(other.goOn(at(request('POST /1')), 3), false)
})

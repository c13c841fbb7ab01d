// Rewrites that can't be done, whoever is to blame: each is told by its code, before an origin hears of the request.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeOf } from '../help/edge.ts'
import { ok } from '../help/origin.ts'
import { request } from '../help/raw.ts'
import { startRewriting } from './rewriting.ts'

const json = 'Accept: application/json'

for (const [rule, why] of [
  ['request.query', 'it is empty'],
  ['"a" + request.path', 'it has no slash at its begin'],
  ['"https://evil.test/"', 'it names a host'],
  ['request.path + " HTTP/1.1\\r\\nX-Injected: 1\\r\\n\\r\\n"', 'it ends the line'],
  ['request.path + "\\n"', 'it ends in a line break'],
  ['request.path + "?x=\\u0000"', 'it has a NUL in its query'],
  ['request.path + "#top"', 'it has a fragment'],
  ['request.path + "/\\u20ac"', 'it has a character that is no byte'],
  ['"/cdn-cgi/error/500"', 'it is ours'],
  ['"/cdn-cgi"', 'it is ours as a whole'],
  ['"//x/%2E%2e/cdn%2dcgi/trace"', 'it is ours in disguise'],
] as const) {
  test(`1035: the new path is refused where ${why}`, async t => {
    const { edge, origin } = await startRewriting(t, { path: rule })
    assert.equal(codeOf(await edge.ask(request('GET /', json))), 1035)
    assert.equal(edge.accesses[0]!.cause, 'rewrite of path')
    assert.equal(origin.wires.length, 0)
  })
}

for (const path of [
  '/../secret',
  '/a/..',
  '/a/%2e%2E/secret',
  '/.%2e?x',
  '/..;x/secret',
  '/..%2fsecret',
  '/%2e%2e%2Fsecret',
  '/x%2f..%2f..%2fsecret',
  '/a%2F..',
  '/..%5csecret',
  '/..\\secret',
  '/a\\..\\..\\secret',
  '/a\\..',
  '/..%00x',
  '/..%3bx',
  '/..%3fx',
  '/..%20/secret',
])
  test(`1035: ${path} does not escape the prefix of a rule`, async t => {
    const { edge, origin } = await startRewriting(t, { path: '"/public" + request.path' })
    assert.equal(codeOf(await edge.ask(request(`GET ${path}`, json))), 1035)
    assert.equal(origin.wires.length, 0)
  })

for (const path of [
  '//x/private',
  '//private',
  '/private;x',
  '/private%2fx',
  '/%70rivate',
  '/\\x/private',
  '/private%3fx',
  '/private%0a',
  '/a//b;c\\d%2fe',
])
  test(`400: ${path} does not bypass the condition of a rule`, async t => {
    const rule = 'request.path.matches("^/private(/|$)") ? "/denied" : request.path'
    const { edge, origin } = await startRewriting(t, { path: rule })
    assert.equal(codeOf(await edge.ask(request(`GET ${path}`, json))), 400)
    assert.equal(edge.accesses[0]!.cause, 'ambiguous path')
    assert.equal(origin.wires.length, 0)
    assert.equal((await edge.ask(request('GET /a//b;c'))).status, 200)
    assert.equal(origin.requests[0]!.target, '/a//b;c')
  })

test('400: a rule that sets a query for one reading alone is not evaded by another', async t => {
  const rule = 'request.path.matches("^/private(/|$)") ? "/x" : "/x?level=low"'
  const { edge, origin } = await startRewriting(t, { path: rule })
  for (const path of ['/private%3fx', '/private;x', '//x/private'])
    assert.equal(codeOf(await edge.ask(request(`GET ${path}`, json))), 400, path)
  assert.equal(origin.wires.length, 0)
})

for (const place of ['request', 'response'] as const)
  test(`400: nothing bypasses the condition of a ${place} header`, async t => {
    const rule = { 'X-Staff': 'request.path.startsWith("/staff/") ? "yes" : "no"' }
    const { edge, origin } = await startRewriting(t, { [place]: rule })
    for (const path of ['/staff//../x', '//x/staff/', '/staff%2fx', '/%73taff/x', '/staff/../x'])
      assert.equal(codeOf(await edge.ask(request(`GET ${path}`, json))), 400, path)
    assert.equal(origin.wires.length, 0)
    assert.equal((await edge.ask(request('GET /staff//x;y'))).status, 200)
  })

for (const path of ['/a..b/..c', '/...', '/a/b..', '/%2ea/x', '/a?/../b', '/a%2fb', '/a\\b'])
  test(`the prefix of a rule holds ${path}`, async t => {
    const { edge, origin } = await startRewriting(t, { path: '"/public" + request.path' })
    assert.equal((await edge.ask(request(`GET ${path}`))).status, 200)
    assert.equal(origin.requests[0]!.target, `/public${path}`)
  })

test('1036: the new path counts with its query, up to the limit', async t => {
  const { edge, origin } = await startRewriting(t, { path: '"/longer" + request.path' }, ok(), {
    limits: { url: 16 },
  })
  assert.equal((await edge.ask(request('GET /123456?8', json))).status, 200)
  assert.equal(origin.requests[0]!.target, '/longer/123456?8')
  assert.equal(codeOf(await edge.ask(request('GET /123456?89', json))), 1036)
})

for (const [what, rules] of [
  ['path', { path: '"/" + request.headers["x-tenant"][0]' }],
  ['request header X-Tenant', { request: { 'X-Tenant': 'request.headers["x-tenant"][0]' } }],
  ['response header X-Tenant', { response: { 'X-Tenant': 'request.headers["x-tenant"][0]' } }],
] as const) {
  test(`1037: an expression that fails is refused before the request is sent, and counted: ${what}`, async t => {
    const { edge, origin } = await startRewriting(t, rules)
    assert.equal(codeOf(await edge.ask(request('GET /', json))), 1037)
    assert.equal(edge.metrics.expressionFailures.rewrite.value, 1)
    assert.equal(edge.accesses[0]!.cause, `rewrite of ${what}`)
    assert.equal(origin.wires.length, 0)
    assert.equal((await edge.ask(request('GET /', 'X-Tenant: a'))).status, 200)
    assert.equal(edge.metrics.expressionFailures.rewrite.value, 1)
  })
}

test('1038: a head that the rules make too large is refused, and one that they leave alone never is', async t => {
  const limits = { headerSection: 600 }
  const { edge } = await startRewriting(t, { request: { 'X-Copy': 'request.query' } }, ok(), { limits })
  assert.equal((await edge.ask(request(`GET /?${'x'.repeat(200)}`))).status, 200)
  assert.equal(codeOf(await edge.ask(request(`GET /?${'x'.repeat(400)}`, json))), 1038)
  const full = `${`GET / HTTP/1.1\r\nHost:site.test\r\nX-Old:1\r\nX:`.padEnd(596, 'x')}\r\n\r\n`
  const same = await startRewriting(t, { request: { 'X-Old': '"1"' } }, ok(), { limits })
  assert.equal((await same.edge.ask(full)).status, 200)
})

for (const [what, value] of [
  ['a line break', '"a\\r\\nX-Injected: " + request.path'],
  ['a bare line feed', '"a\\n" + request.path'],
  ['a NUL', '"a\\u0000"'],
  ['a DEL', '"a\\u007f"'],
  ['a character that is no byte', '"\\u20ac"'],
  ['a line separator', '"\\u2028"'],
  ['more than 8 KiB', 'request.query'],
] as const) {
  test(`1041: no header gets ${what}`, async t => {
    for (const place of ['request', 'response'] as const) {
      const { edge, origin } = await startRewriting(t, { [place]: { 'X-Env': value } })
      assert.equal(codeOf(await edge.ask(request(`GET /?${'x'.repeat(8193)}`, json))), 1041)
      assert.equal(edge.accesses[0]!.cause, `rewrite of ${place} header X-Env`)
      assert.equal(origin.wires.length, 0)
    }
  })
}

test('a value may have 8 KiB, and bytes beyond ASCII unchanged', async t => {
  const { edge, origin } = await startRewriting(t, { request: { 'X-Copy': 'request.query' } })
  const query = `${'x'.repeat(8190)}\xc3\xa9`
  assert.equal((await edge.ask(request(`GET /?${query}`))).status, 200)
  assert.equal(origin.requests[0]!.field('x-copy'), query)
})

test('an encoded line break of the client stays encoded', async t => {
  const rules = { request: { 'X-Copy': 'request.query' }, response: { 'X-Copy': 'request.query' } }
  const { edge, origin } = await startRewriting(t, rules)
  const answer = await edge.ask(request('GET /?%0d%0aX-Injected:%201'))
  assert.equal(origin.requests[0]!.field('x-copy'), '%0d%0aX-Injected:%201')
  assert.equal(answer.field('x-copy'), '%0d%0aX-Injected:%201')
})

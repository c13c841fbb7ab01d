// Whom access rules let in, and with which error others are refused: each code over real sockets.

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { GeoDatabases } from '../../src/access/files/geo.ts'
import { AddressLists } from '../../src/access/files/lists.ts'
import type { AccessCondition, AccessConfig, AccessRule } from '../../src/config/model/access-config.ts'
import { watchedFolder } from '../access/watched-folder.ts'
import { call, startAi } from '../help/ai.ts'
import { codeOf, Edge, edgeConfig, listenAt, openAccess, startEdge } from '../help/edge.ts'
import { mmdb } from '../help/mmdb.ts'
import { ok, startResponder } from '../help/origin.ts'
import { request } from '../help/raw.ts'
import { until } from '../help/until.ts'

const json = 'Accept: application/json'

describe('each kind of rule has its own error', () => {
  const country: AccessCondition = { kind: 'country', countries: ['DE', 'SE'] }
  const cases: readonly [
    code: number,
    condition: AccessCondition,
    fields: readonly string[],
    action?: 'legal',
  ][] = [
    [1005, { kind: 'asn', numbers: [64_500] }, ['X-Forwarded-For: 192.0.2.1']],
    [1006, { kind: 'ip', networks: ['192.0.2.1'] }, ['X-Forwarded-For: 192.0.2.1']],
    [1006, { kind: 'ip', networks: ['192.0.2.1'] }, ['X-Forwarded-For: ::ffff:192.0.2.1']],
    [1006, { kind: 'ip', networks: ['::ffff:192.0.2.1'] }, ['X-Forwarded-For: 192.0.2.1']],
    [1007, { kind: 'ip', networks: ['192.0.2.0/24'] }, ['X-Forwarded-For: 192.0.2.1']],
    [1106, { kind: 'ip', networks: ['2001:db8::1'] }, ['X-Forwarded-For: 2001:DB8:0::1']],
    [1107, { kind: 'ip', networks: ['2001:db8::/32'] }, ['X-Forwarded-For: 2001:db8::1']],
    [1008, { kind: 'list', name: 'bad' }, ['X-Forwarded-For: 192.0.2.1']],
    [1108, { kind: 'list', name: 'bad' }, ['X-Forwarded-For: 2001:db8::1']],
    [1009, country, ['X-Forwarded-For: 192.0.2.1']],
    [1109, country, ['X-Forwarded-For: 2001:db8::1']],
    [1010, { kind: 'user_agent', patterns: ['*Bot/*'] }, ['User-Agent: Some bot/1.0']],
    [1010, { kind: 'user_agent', patterns: [''] }, []],
    [1011, { kind: 'referer', hosts: ['*.evil.test'] }, ['Referer: https://WWW.evil.test/a']],
    [1011, { kind: 'referer_not', hosts: ['site.test'] }, ['Referer: https://other.test/a']],
    [1020, { kind: 'path', prefixes: ['/admin'] }, []],
    [1020, { kind: 'expression', text: 'request.method == "GET" && request.ip == "127.0.0.1"' }, []],
    [1026, { kind: 'path', prefixes: ['/admin'] }, [], 'legal'],
    [1026, { kind: 'ip', networks: ['127.0.0.0/8'] }, [], 'legal'],
    [1039, country, ['X-Forwarded-For: 192.0.2.1'], 'legal'],
    [1052, { kind: 'expression', text: 'request.headers["x-key"][0] == "y"' }, []],
  ]
  for (const [code, condition, fields, action = 'deny'] of cases) {
    test(`${code} for ${action}, ${JSON.stringify(condition)}, ${fields}`, async t => {
      const { ask } = await startGuarded(t, { zone: [rule(condition, action)] })
      assert.equal(codeOf(await ask('/a/../%61dmin/x', ...fields)), code)
    })
  }

  test('1050 where only what a rule allows is admitted', async t => {
    const { ask, edge } = await startGuarded(t, {
      zone: [rule({ kind: 'path', prefixes: ['/public'] }, 'allow')],
      otherwise: 'deny',
    })
    assert.equal((await ask('/public/x')).status, 200)
    assert.equal(codeOf(await ask('/private')), 1050)
    const { allowed, denied } = edge.metrics.access
    assert.deepEqual([allowed.path.value, denied.default.value], [1, 1])
  })
})

test('a method that some origins read as another bypasses no rule', async t => {
  const condition: AccessCondition = { kind: 'expression', text: 'request.method == "POST"' }
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], {
    zone: { access: { ...openAccess, rules: [rule(condition)] } },
  })
  for (const [method, status] of Object.entries({
    POST: 403,
    post: 500,
    posT: 500,
    get: 500,
    GET: 200,
    PURGE: 200,
    purge: 200,
    'M-SEARCH': 200,
  }))
    assert.equal((await edge.ask(request(`${method} /`))).status, status, method)
  assert.deepEqual(
    origin.requests.map(({ startLine }) => startLine.split(' ')[0]),
    ['GET', 'PURGE', 'purge', 'M-SEARCH'],
  )
})

test('a method in a field that some origins take in place of that of the request bypasses no rule', async t => {
  const condition: AccessCondition = { kind: 'expression', text: 'request.method == "DELETE"' }
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], {
    zone: { access: { ...openAccess, rules: [rule(condition)] } },
  })
  for (const [line, status] of [
    ['X-HTTP-Method-Override: DELETE', 500],
    ['x-http-method: delete', 500],
    ['X-Method-Override: PATCH', 500],
    ['X_HTTP_METHOD_OVERRIDE: DELETE', 500],
    ['X-HTTP-Method-Override: post', 200],
    ['X-HTTP-Method-Overrides: DELETE', 200],
    ['X-Other: DELETE', 200],
  ] as const)
    assert.equal((await edge.ask(request('POST /', 'Content-Length: 0', line))).status, status, line)
  assert.equal(origin.requests.length, 3)
})

describe('what the same rules leave alone', () => {
  const passing: readonly [condition: AccessCondition, fields: readonly string[]][] = [
    [{ kind: 'asn', numbers: [64_501] }, ['X-Forwarded-For: 192.0.2.1']],
    [{ kind: 'ip', networks: ['192.0.2.2', '10.0.0.0/8', '2001:db8::/32'] }, ['X-Forwarded-For: 192.0.2.1']],
    [{ kind: 'list', name: 'bad' }, ['X-Forwarded-For: 192.0.2.2']],
    [{ kind: 'country', countries: ['FR'] }, ['X-Forwarded-For: 192.0.2.1']],
    [{ kind: 'user_agent', patterns: ['', '*bot'] }, ['User-Agent: bot/1.0']],
    [{ kind: 'referer', hosts: ['evil.test'] }, ['Referer: https://evil.test.site.test/']],
    [{ kind: 'referer', hosts: ['evil.test'] }, []],
    [{ kind: 'referer_not', hosts: ['site.test'] }, ['Referer: http://u@SITE.test.:8080/?x']],
    [{ kind: 'referer_not', hosts: ['site.test'] }, []],
    [{ kind: 'path', prefixes: ['/administration'] }, []],
    [{ kind: 'expression', text: 'request.path == "/other"' }, []],
  ]
  for (const [condition, fields] of passing) {
    test(`${JSON.stringify(condition)}, ${fields}`, async t => {
      const { ask } = await startGuarded(t, { zone: [rule(condition)] })
      assert.equal((await ask('/admin', ...fields)).status, 200)
    })
  }
})

describe('a path that origins may read in several ways', () => {
  const admin = [
    '/admin%2fsecret',
    '/admin;x=1/secret',
    '/x%2f..%2fadmin',
    '/x/..;/admin',
    '/admin%00',
    '/\\admin',
    '/admin//../users',
    '//x/admin/users',
    '/admin/../x',
  ]
  const climbing = ['/public/..%2fadmin', '/public/..;/admin', '/public/..%5cadmin', '/public/%2e%2e%2fadmin']

  test('is denied, also for legal reasons, where one of them is', async t => {
    const condition: AccessCondition = { kind: 'path', prefixes: ['/admin'] }
    const { ask } = await startGuarded(t, { zone: [rule(condition)] })
    const legal = await startGuarded(t, { zone: [rule(condition, 'legal')] })
    for (const target of [...admin, ...climbing]) {
      assert.equal(codeOf(await ask(target)), 1020, target)
      assert.equal(codeOf(await legal.ask(target)), 1026, target)
    }
    for (const target of ['/x;y/z', '/x%2fadmin', '/x?/../admin', '/x?;%2f..%2fadmin'])
      assert.equal((await ask(target)).status, 200, target)
  })

  test('is allowed only where all of them are', async t => {
    const allow = rule({ kind: 'path', prefixes: ['/public'] }, 'allow')
    const { ask } = await startGuarded(t, { zone: [allow], otherwise: 'deny' })
    for (const target of climbing) assert.equal(codeOf(await ask(target)), 1050, target)
    for (const target of ['/public/a%2fb', '/public/a;b/c'])
      assert.equal((await ask(target)).status, 200, target)
  })

  test('is judged by expressions in every reading', async t => {
    const text = 'request.path == "/admin" || request.path.startsWith("/admin/")'
    const denying = await startGuarded(t, { zone: [rule({ kind: 'expression', text })] })
    for (const target of [...admin, ...climbing])
      assert.equal(codeOf(await denying.ask(target)), 1020, target)
    assert.equal((await denying.ask('/x;y/z//admin')).status, 200)
    const allow = rule({ kind: 'expression', text: 'request.path.startsWith("/public/")' }, 'allow')
    const allowing = await startGuarded(t, { zone: [allow], otherwise: 'deny' })
    for (const target of climbing) assert.equal(codeOf(await allowing.ask(target)), 1050, target)
    assert.equal((await allowing.ask('/public/a;b//c')).status, 200)
  })

  test('is refused where an expression fails for one of them', async t => {
    const text = 'request.path == "/x" || request.headers["x-key"][0] == "y"'
    const { ask } = await startGuarded(t, { zone: [rule({ kind: 'expression', text }, 'allow')] })
    assert.equal((await ask('/x')).status, 200)
    assert.equal(codeOf(await ask('/x;y')), 1052)
  })

  test('is 400 where it is too ambiguous, if a rule looks at it, and otherwise passes as it is', async t => {
    const absurd = '/a//b;c\\d%2fe'
    const guarded = await startGuarded(t, { zone: [rule({ kind: 'path', prefixes: ['/admin'] })] })
    const answer = await guarded.ask(absurd)
    assert.deepEqual([codeOf(answer), answer.field('connection')], [400, 'close'])
    assert.equal(guarded.edge.accesses[0]!.cause, 'ambiguous path')
    const other = await startGuarded(t, { zone: [rule({ kind: 'ip', networks: ['192.0.2.1'] })] })
    assert.equal((await other.ask(absurd)).status, 200)
    assert.equal(other.origin.requests[0]!.target, absurd)
  })

  test('OPTIONS * is treated as a request for /', async t => {
    const { edge } = await startGuarded(t, { zone: [rule({ kind: 'path', prefixes: ['/'] })] })
    assert.equal(codeOf(await edge.ask(request('OPTIONS *', json))), 1020)
  })
})

describe('the order of rules', () => {
  const loopback: AccessCondition = { kind: 'ip', networks: ['127.0.0.0/8'] }
  const everybody: AccessCondition = { kind: 'path', prefixes: ['/'] }

  test('the first rule that matches decides', async t => {
    const { ask } = await startGuarded(t, {
      zone: [rule(loopback, 'allow'), rule(everybody)],
      otherwise: 'deny',
    })
    assert.equal((await ask('/')).status, 200)
    assert.equal(codeOf(await ask('/', 'X-Forwarded-For: 192.0.2.1')), 1020)
  })

  test('the rules of all zones come first, and what they allow no zone denies', async t => {
    const { ask } = await startGuarded(t, {
      all: [rule(loopback, 'allow')],
      zone: [rule(everybody)],
      otherwise: 'deny',
    })
    assert.equal((await ask('/')).status, 200)
    assert.equal(codeOf(await ask('/', 'X-Forwarded-For: 192.0.2.1')), 1020)
  })

  test('a zone cannot allow what the rules of all zones deny', async t => {
    const { ask } = await startGuarded(t, { all: [rule(loopback)], zone: [rule(everybody, 'allow')] })
    assert.equal(codeOf(await ask('/')), 1007)
    assert.equal((await ask('/', 'X-Forwarded-For: 192.0.2.1')).status, 200)
  })
})

test('the rules of all zones apply to AI calls too', async t => {
  const settings = {
    ai: { hosts: ['ai.test'] },
    access: { rules: [rule({ kind: 'ip', networks: ['127.0.0.1'] })] },
  }
  const edge = await startEdge(t, [], settings)
  const answer = await edge.ask(
    `POST /v1/${'0'.repeat(32)}/default/openai/x HTTP/1.1\r\nHost: ai.test\r\n${json}\r\n\r\n`,
  )
  assert.equal(JSON.parse(answer.text).error_code, 1006)
})

test('a call whose token is looked up first is checked against the rules once', async t => {
  const provider = await startResponder(t, ok())
  const allow = rule({ kind: 'ip', networks: ['127.0.0.1'] }, 'allow')
  const ai = await startAi(t, { openai: provider.url }, { access: { rules: [allow] } })
  const { edge } = ai
  const ask = call(
    `${ai.native('openai')}/chat/completions`,
    '{}',
    `svc-aig-authorization: Bearer ${ai.token}`,
  )
  assert.equal((await edge.ask(ask)).status, 200)
  assert.equal(edge.metrics.access.allowed.ip.value, 1)
})

test('the access log names the rule by its id or its position in the file, or the default, with their zone', async t => {
  const deny = (prefix: string) => rule({ kind: 'path', prefixes: [prefix] })
  const rules = [{ ...deny('/api'), id: 'r1' }, deny('/first'), deny('/second')]
  const { ask, edge } = await startGuarded(t, { zone: rules, otherwise: 'deny' })
  for (const target of ['/api', '/first', '/second', '/']) await ask(target)
  assert.deepEqual(
    edge.accesses.map(({ cause }) => cause),
    ['access rule r1 of site', 'access rule 1 of site', 'access rule 2 of site', 'default of site'],
  )
})

test('an expression that fails gives 1052 in a rule that allows too, is counted and named, and breaks nothing', async t => {
  const failing = rule({ kind: 'expression', text: 'request.headers["x-key"][0] == "y"' }, 'allow', 'staff')
  const { ask, edge, origin } = await startGuarded(t, { zone: [failing] })
  assert.equal(codeOf(await ask('/')), 1052)
  assert.equal((await ask('/', 'X-Key: y')).status, 200)
  assert.equal(origin.requests.length, 1)
  assert.equal(edge.metrics.expressionFailures.access.value, 1)
  assert.equal(edge.metrics.access.failed.expression.value, 1)
  assert.equal(edge.metrics.access.allowed.expression.value, 1)
  assert.equal(edge.accesses[0]!.cause, 'access rule 1 of site: staff')
})

test('a database that is broken for an address gives 1052, to rules and expressions on places', async t => {
  const broken = Buffer.from(places)
  broken.set([0x00, 0xf0], broken.indexOf('\xe2\x47country', 0, 'latin1'))
  const conditions: AccessCondition[] = [
    { kind: 'country', countries: ['FR'] },
    { kind: 'asn', numbers: [1] },
    { kind: 'expression', text: 'request.country == "FR"' },
  ]
  for (const condition of conditions) {
    const { ask, edge } = await startGuarded(t, { zone: [rule(condition)] }, broken)
    assert.equal(codeOf(await ask('/', 'X-Forwarded-For: 192.0.2.1')), 1052)
    assert.equal((await ask('/')).status, 200)
    assert.equal(edge.metrics.access.failed[condition.kind].value, 1)
  }
})

test('a refused client gets its response at once and keeps its connection, and the origin gets nothing', async t => {
  const { edge, origin } = await startGuarded(t, { zone: [rule({ kind: 'path', prefixes: ['/admin'] })] })
  const client = await edge.connect()
  await client.send(request('GET /admin', json))
  assert.equal(codeOf(await client.response()), 1020)
  await client.send(request('GET /', json))
  assert.equal((await client.response()).status, 200)
  assert.equal(origin.requests.length, 1)
})

test('previews of errors are not shown to denied clients', async t => {
  const prefixes = ['/cdn-cgi/error/1015', '/other']
  const { ask, edge } = await startGuarded(t, { zone: [rule({ kind: 'path', prefixes })] })
  assert.equal(codeOf(await ask('/cdn-cgi/error/1015')), 1020)
  assert.equal(codeOf(await ask('/cdn-cgi/error/1000')), 1000)
  assert.equal(edge.metrics.access.denied.path.value, 1)
  assert.deepEqual([edge.metrics.errors[1020], edge.metrics.errors[1000]], [1, 0])
})

test('the rules of all zones apply to previews on AI hosts', async t => {
  const rules = [rule({ kind: 'ip', networks: ['127.0.0.1'] })]
  const edge = await startEdge(t, [], { ai: { hosts: ['ai.test'] }, access: { rules } })
  const preview = request('GET /cdn-cgi/error/1015', json).replace('site.test', 'ai.test')
  assert.equal(codeOf(await edge.ask(preview)), 1006)
})

describe('the address of the client', () => {
  const denied = rule({ kind: 'ip', networks: ['127.0.0.9', '192.0.2.1', '10.1.1.1'] })

  async function from(t: TestContext, peer: string, forwardedFor: string | null, trusted: readonly string[]) {
    const origin = await startResponder(t, ok())
    const zone = { access: { ...openAccess, rules: [denied] } }
    const edge = await startEdge(t, [origin.url], { zone, trustedProxies: trusted })
    const client = await edge.connect(peer)
    await client.send(
      request('GET /', json, ...(forwardedFor === null ? [] : [`X-Forwarded-For: ${forwardedFor}`])),
    )
    const answer = await client.response()
    return answer.status === 200 ? 200 : codeOf(answer)
  }

  test('is the address of the peer', async t => assert.equal(await from(t, '127.0.0.9', null, []), 1006))
  test('differs for each peer', async t => assert.equal(await from(t, '127.0.0.8', null, []), 200))
  test('cannot be claimed by an untrusted peer to get in', async t =>
    assert.equal(await from(t, '127.0.0.9', '198.51.100.1', ['127.0.0.1']), 1006))
  test('cannot be claimed by an untrusted peer to lock another out', async t =>
    assert.equal(await from(t, '127.0.0.8', '192.0.2.1', ['127.0.0.1']), 200))
  test('is the one that a trusted peer reports', async t =>
    assert.equal(await from(t, '127.0.0.1', '192.0.2.1', ['127.0.0.1']), 1006))
  test('is the hop before the trusted ones, whatever precedes it', async t => {
    assert.equal(
      await from(t, '127.0.0.1', '192.0.2.1, 198.51.100.1, 10.1.1.1', ['127.0.0.1', '10.0.0.0/8']),
      200,
    )
    assert.equal(
      await from(t, '127.0.0.1', '198.51.100.1, 192.0.2.1, 10.1.1.1', ['127.0.0.1', '10.0.0.0/8']),
      1006,
    )
  })
})

test('a changed list is applied soon, and a broken one leaves the previous one in effect', async t => {
  const { ask, write, errors, metrics } = await startGuarded(t, {
    zone: [rule({ kind: 'list', name: 'bad' })],
  })
  const statusOf = async (address: string) => (await ask('/', `X-Forwarded-For: ${address}`)).status
  assert.equal(await statusOf('198.51.100.7'), 200)
  const path = write('bad.txt', '198.51.100.0/24\n')
  await until(async () => (await statusOf('198.51.100.7')) !== 200)
  assert.equal(await statusOf('192.0.2.1'), 200)
  write('bad.txt', '192.0.2.1\n# good so far\n192.0.2.300\n')
  await until(() => metrics.listReloads.failure.value > 0)
  assert.deepEqual([await statusOf('198.51.100.7'), await statusOf('192.0.2.1')], [403, 200])
  assert.equal(metrics.listReloads.success.value, 1)
  assert.deepEqual(
    errors.map(({ reason }) => reason),
    [`${path}:3: must be an IP address or a CIDR network, one per line`],
  )
})

interface Rules {
  readonly all?: readonly AccessRule[]
  readonly zone?: readonly AccessRule[]
  readonly otherwise?: AccessConfig['otherwise']
}

/** Starts an edge that trusts 127.0.0.1, with a list named bad and a database of a few networks. */
async function startGuarded(
  t: TestContext,
  { all = [], zone = [], otherwise = 'allow' }: Rules,
  database = places,
) {
  const folder = watchedFolder(t)
  const lists = new AddressLists(folder)
  const geo = new GeoDatabases(folder)
  t.after(() => {
    lists.close()
    geo.close()
  })
  const bad = await lists.open([
    { name: 'bad', path: folder.write('bad.txt', '192.0.2.1\r\n\n2001:db8::/32 # all of it\n') },
  ])
  const known = await geo.open([folder.write('geo.mmdb', database)])
  const origin = await startResponder(t, ok())
  const config = edgeConfig([origin.url], {
    access: { rules: all },
    zone: { access: { ...openAccess, rules: zone, otherwise } },
    trustedProxies: ['127.0.0.1'],
  })
  const edge = await listenAt(t, new Edge(t, config, { access: { lists: bad, geo: known } }))
  const ask = (target: string, ...fields: string[]) => edge.ask(request(`GET ${target}`, json, ...fields))
  return { ask, edge, origin, ...folder }
}

const places = mmdb({
  '192.0.2.0/24': { country: { iso_code: 'DE' }, autonomous_system_number: 64_500 },
  '2001:db8::/32': { country: { iso_code: 'SE' } },
})

function rule(
  condition: AccessCondition,
  action: AccessRule['action'] = 'deny',
  description: string | null = null,
): AccessRule {
  return { action, condition, description }
}

for (const target of [
  '/secret',
  '/%73ecret',
  '/./secret',
  '//secret',
  '/x/../secret',
  '/secret?x',
  '/secre%74?x',
]) {
  test(`an expression knows the path of ${target}, however it is written`, async t => {
    const origin = await startResponder(t, ok())
    const rule: AccessRule = {
      action: 'deny',
      condition: { kind: 'expression', text: 'request.path == "/secret"' },
      description: null,
    }
    const edge = await startEdge(t, [origin.url], { access: { rules: [rule] } })
    const ask = `GET ${target} HTTP/1.1\r\nHost: site.test\r\nAccept: application/json\r\n\r\n`
    assert.equal(codeOf(await edge.ask(ask)), 1020)
    assert.equal(origin.requests.length, 0)
  })
}

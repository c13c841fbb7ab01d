// What a gate has decided holds for all that becomes of a request: each attempt and each redirect that is followed says the same of who it is, without what it was proved by; calls of gRPC learn of a refusal in their format.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Metadata, type sendUnaryData, type ServerUnaryCall, type ServiceError, status } from '@grpc/grpc-js'
import type { ForwardGateConfig, IdentityConfig } from '../../src/config/model/protect-config.ts'
import { systemClock } from '../../src/base/clock.ts'
import { Edge, edgeConfig, type EdgeSettings, listenAt, startEdge } from '../help/edge.ts'
import { type EchoClient, grpcClient, startGrpc } from '../help/grpc.ts'
import { startIdentityKeys } from '../help/identity-keys.ts'
import { sign, startIssuer } from '../help/issuer.ts'
import { type Origin, ok, type Script, startOrigin, startResponder } from '../help/origin.ts'
import { chunks, post, request } from '../help/raw.ts'

const identity: IdentityConfig = { issuer: 'https://site.test', audience: 'site', claims: [] }
const fields = [{ name: 'X-User', claim: 'sub' }]
const forged = ['X-User: mallory', 'x_user: mallory', 'svc-identity: mallory', 'SVC_Identity: mallory']

/** Puts a gate for tokens before origins of which the first ones fail, each in its way. */
async function start(t: TestContext, urls: readonly string[], settings: EdgeSettings = {}) {
  const { key, gate } = await startIssuer(t)
  const identityKeys = await startIdentityKeys(t, systemClock)
  const protect = [{ ...gate, fields }]
  const config = edgeConfig(urls, {
    ...{ zone: { identity }, pool: { retryOn: [503], retries: { most: 3, budget: 1 } } },
    ...settings,
    route: { protect, ...settings.route },
  })
  const edge = await listenAt(t, new Edge(t, config, { identityKeys }))
  return { edge, bearer: `Authorization: Bearer ${await sign(key)}` }
}

/** Keeps the heads of what comes, and responds to nothing. */
async function startFailing(t: TestContext, response = '') {
  const heads: { readonly lines: readonly string[]; readonly trailers: readonly string[] }[] = []
  const script: Script = async wire => {
    heads.push(await wire.request())
    if (response !== '') await wire.send(response)
  }
  return { heads, url: (await startOrigin(t, script)).url }
}

function ofIdentity(lines: readonly string[]): readonly string[] {
  return lines.filter(line => /^(x.user|svc.identity|authorization|.*mallory)/i.test(line))
}

const busy = 'HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'

test('each attempt says the same of who it is, and none has the token', async t => {
  for (const sent of [
    (lines: readonly string[]) => request('GET /', ...lines),
    (lines: readonly string[]) => post('/', 'small', ...lines).replace('POST', 'PUT'),
    (lines: readonly string[]) =>
      `${request('PUT /', ...lines, 'Transfer-Encoding: chunked')}${chunks('sm', 'all')}0\r\nX-User: mallory\r\nAuthorization: mallory\r\nsvc-identity: mallory\r\n\r\n`,
  ]) {
    const [closing, unable] = [await startFailing(t), await startFailing(t, busy)]
    const alive = await startResponder(t, ok('alive'))
    const { edge, bearer } = await start(t, [closing.url, unable.url, alive.url])
    assert.equal((await edge.ask(sent([bearer, ...forged]))).text, 'alive')
    const heads = [...closing.heads, ...unable.heads, ...alive.requests]
    assert.equal(heads.length, 3)
    for (const { lines, trailers } of heads) {
      const [user, token, ...others] = ofIdentity([...lines, ...trailers]).toSorted()
      assert.match(token!, /^svc-identity: ey/)
      assert.deepEqual([user, others], ['X-User: alice', []])
    }
    assert.equal(new Set(heads.map(({ lines }) => ofIdentity(lines).join())).size, 1)
  }
})

test('a redirect that is followed leads past no gate, and its request is from the same person', async t => {
  const redirect = (to: string) => `HTTP/1.1 302 X\r\nLocation: ${to}\r\nContent-Length: 0\r\n\r\n`
  const origin: Origin = await startResponder(t, ({ target }) =>
    target.startsWith('/go?') ? redirect(decodeURIComponent(target.slice('/go?'.length))) : ok(target),
  )
  const { key, gate } = await startIssuer(t)
  const { pool } = edgeConfig([origin.url]).zones[0]!.routes[0]!
  const [root] = edgeConfig([origin.url], { route: { redirects: 5, pool } }).zones[0]!.routes
  const protect = [{ ...gate, fields }]
  const routes = [root!, { ...root!, path: '/admin', protect }]
  const edge = await startEdge(t, [], { zone: { routes } })
  const bearer = `Authorization: Bearer ${await sign(key)}`
  for (const to of [
    '/admin',
    '/admin/x',
    '/Admin',
    '/x/..%2fadmin',
    '/%61dmin',
    '//site.test/admin',
    '/admin;x',
    '/go?%2Fadmin',
  ]) {
    const { length } = origin.requests
    const answer = await edge.ask(request(`GET /go?${encodeURIComponent(to)}`, bearer))
    assert.equal(answer.status, 302, to)
    assert.ok(
      origin.requests.slice(length).every(({ target }) => target.startsWith('/go?')),
      to,
    )
  }
  const followed = await edge.ask(request(`GET /go?${encodeURIComponent('/open')}`, ...forged))
  assert.equal(followed.text, '/open')
  assert.deepEqual(ofIdentity(origin.requests.at(-1)!.lines), [])
})

test('no redirect is followed to what its authorizer was not asked about', async t => {
  const redirect = 'HTTP/1.1 302 X\r\nLocation: /admin\r\nContent-Length: 0\r\n\r\n'
  const origin = await startResponder(t, ({ target }) => (target === '/go' ? redirect : ok('secret')))
  const authorizer = await startResponder(t, asked =>
    asked.field('x-forwarded-uri') === '/go' ? ok() : 'HTTP/1.1 403 X\r\nContent-Length: 0\r\n\r\n',
  )
  const protect = [forwardTo(authorizer.url)]
  const edge = await startEdge(t, [origin.url], { route: { redirects: 5, protect } })
  const answer = await edge.ask(request('GET /go'))
  assert.deepEqual([answer.status, answer.field('location')], [302, '/admin'])
  assert.equal((await edge.ask(request('GET /admin'))).status, 403)
  assert.equal(origin.requests.length, 1)
})

function forwardTo(url: string): ForwardGateConfig {
  return {
    ...({ kind: 'forward', url, ca: null, networks: ['127.0.0.0/8'] } as const),
    ...{ timeout: 2_000, concurrency: 10, send: ['authorization'], copy: [] },
  }
}

test('neither a key set nor an authorizer leads the gateway elsewhere', async t => {
  const origin = await startResponder(t, ok('site'))
  const elsewhere = await startResponder(t, ok('{"keys":[]}'))
  for (const code of [301, 302, 303, 307, 308]) {
    const away = `HTTP/1.1 ${code} X\r\nLocation: ${elsewhere.url}/\r\nContent-Length: 0\r\n\r\n`
    const { key, gate, server } = await startIssuer(t, () => away)
    const authorizer = await startResponder(t, away)
    const bearer = `Authorization: Bearer ${await sign(key)}`
    const byToken = await startEdge(t, [origin.url], { route: { protect: [gate] } })
    assert.equal((await byToken.ask(request('GET /', bearer))).status, 503)
    const asked = await startEdge(t, [origin.url], { route: { protect: [forwardTo(authorizer.url)] } })
    const relayed = await asked.ask(request('GET /', bearer))
    assert.deepEqual([relayed.status, relayed.field('location')], [code, `${elsewhere.url}/`])
    assert.deepEqual([server.requests.length, authorizer.requests.length], [1, 1])
  }
  assert.deepEqual([elsewhere.requests.length, origin.requests.length], [0, 0])
})

test('a call of gRPC passes with a token, and learns by its status why it does not', async t => {
  const seen: Metadata[] = []
  const port = await startGrpc(t, {
    unary(call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) {
      seen.push(call.metadata)
      done(null, call.request)
    },
  })
  const { key, gate } = await startIssuer(t)
  const dead = await startIssuer(t, () => busy)
  const open = async (condition: string | null, keys = gate.keys) => {
    const route = { protect: [{ ...gate, keys, condition, fields }] }
    const config = edgeConfig([`http://127.0.0.1:${port}`], { transport: { http: 'h2c' }, h2c: true, route })
    const edge = await listenAt(t, new Edge(t, config))
    return grpcClient(t, edge.port)
  }
  const client = await open(null)
  const bearer = `Bearer ${await sign(key)}`
  assert.equal((await call(client, { authorization: bearer, 'x-user': 'mallory' })).error, null)
  assert.deepEqual(seen[0]!.get('x-user'), ['alice'])
  assert.deepEqual([seen[0]!.get('authorization'), seen[0]!.get('svc-identity')], [[], []])
  for (const [client_, metadata, code] of [
    [client, {}, status.UNAUTHENTICATED],
    [client, { authorization: `${bearer}x` }, status.UNAUTHENTICATED],
    [await open('claims.level > 1'), { authorization: bearer }, status.PERMISSION_DENIED],
    [await open(null, dead.gate.keys), { authorization: bearer }, status.UNAVAILABLE],
  ] as const) {
    const { error, response } = await call(client_, metadata)
    assert.deepEqual([error?.code, response], [code, undefined])
  }
  const stream = client.both()
  const [failure] = await new Promise<readonly [ServiceError]>(resolve => {
    stream.once('error', error => resolve([error as ServiceError]))
    stream.resume()
  })
  assert.equal(failure.code, status.UNAUTHENTICATED)
  assert.equal(seen.length, 1)
})

function call(client: EchoClient, fields: Readonly<Record<string, string>>) {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(fields)) metadata.set(name, value)
  return new Promise<{ error: ServiceError | null; response: Buffer | undefined }>(resolve =>
    client.unary(Buffer.from('a'), metadata, {}, (error, response) => resolve({ error, response })),
  )
}

// The schema of the access log in the docs, against a line of each kind of request.

import { deepEqual, equal, ok as assert, partialDeepStrictEqual } from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { connect } from 'node:tls'
import { type ServerUnaryCall, Metadata, type sendUnaryData } from '@grpc/grpc-js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { errorRows } from '../../src/errors/catalogue/catalogue.ts'
import { call, completion, json, startAi } from '../help/ai.ts'
import { Authority } from '../help/certificates.ts'
import { type everyCoding, usualCompression } from '../help/codings.ts'
import { Edge, edgeConfig, listenAt, openAccess, startEdge, zoneTo } from '../help/edge.ts'
import { grpcClient, startGrpc } from '../help/grpc.ts'
import { ask, connectHttp2 } from '../help/http2-client.ts'
import { deadOrigin, ok, startOrigin, startResponder, startTlsOrigin } from '../help/origin.ts'
import { chunks, post, request, Wire } from '../help/raw.ts'
import { root } from '../help/source.ts'
import { until } from '../help/until.ts'

type Line = Readonly<Record<string, unknown>>

interface Schema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
}

/** Has an edge write lines of one kind, the last of them as the second member says. */
type Kind = readonly [make: (t: TestContext) => Promise<Edge>, last: Line]

const schema = JSON.parse(readFileSync(join(root, 'docs/access-log.schema.json'), 'utf8'))
const isLine = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(schema)
const authority = new Authority()

const kinds: Readonly<Record<string, Kind>> = {
  plain: [plain(request('GET /a?b=c')), { zone: 'site', path: '/a', version: '1.1', tls: null }],
  'with numbers': [numeric, { level: 30, status: 200 }],
  'with a body': [plain(post('/', 'body')), { method: 'POST', bytes_in: 4, bytes_out: 5, error: null }],
  'HTTP/1.0': [plain('GET / HTTP/1.0\r\nHost: site.test\r\n\r\n'), { version: '1.0' }],
  'a streamed body to an origin by name, with TLS': [streamed, { bytes_in: 100_000, error: null }],
  'HTTP/2': [overHttp2, { version: '2', status: 200 }],
  gRPC: [overGrpc, { version: '2', path: '/test.Echo/Unary', error: null }],
  'gRPC that is refused': [refusedGrpc, { version: '2', error: 'origin_down', cause: 'ECONNREFUSED' }],
  WebSocket: [webSocket, { status: 101, bytes_in: 3, bytes_out: 3 }],
  'an event stream': [eventStream, { status: 200, aborted: true }],
  'the client left': [left, { status: 0, aborted: true }],
  'compressed as zstd': [compressed('zstd'), { compression: { encoding: 'zstd', bytes: 9_000 } }],
  'compressed as br': [compressed('br'), { compression: { encoding: 'br', bytes: 9_000 } }],
  'compressed as gzip': [compressed('gzip'), { compression: { encoding: 'gzip', bytes: 9_000 } }],
  'an origin that is down': [refused, { status: 521, error: 'origin_down', cause: 'ECONNREFUSED' }],
  retried: [retried, { status: 200, retries: 1, error: null }],
  denied: [
    denied,
    { zone: 'site', error: 'default_deny_policy', cause: 'default of all zones', origin: null },
  ],
  'a host without a zone': [
    plain('GET / HTTP/1.1\r\nHost: other.test\r\n\r\n'),
    { zone: 'none', host: 'other.test', error: 'dns_resolution_failed' },
  ],
  'no host': [plain('GET / HTTP/1.0\r\n\r\n'), { zone: 'none', host: '', error: 'direct_ip_access' }],
  'a malformed field': [
    plain('GET /x HTTP/1.1\r\nHost: site.test\r\nNo colon\r\n\r\n'),
    { zone: 'none', method: 'GET', path: '/x', status: 400, error: 'bad_request' },
  ],
  'a target that is no path': [
    plain('CONNECT site.test:443 HTTP/1.1\r\nHost: site.test\r\n\r\n'),
    { path: null, error: 'http_connect_not_supported' },
  ],
  'no HTTP': [plain('\x16\x03\x01\r\n\r\n'), { method: '', path: null, status: 400, error: 'bad_request' }],
  'malformed over HTTP/2': [malformedHttp2, { version: '2', zone: 'none', status: 400 }],
  TLS: [overTls(false), { status: 200, tls: { version: 'TLSv1.3', client_fingerprint: null } }],
  'a client certificate': [overTls(true), { status: 200, error: null }],
  'an AI call': [aiCall, { zone: 'ai', path: '/v1/…/default/openai/chat/completions', status: 200 }],
  'an AI route that is none': [aiNowhere, { zone: 'ai', status: 404, error: 'not_found', phases: {} }],
  'a credential as the method': [aiMethod, { zone: 'ai', method: '' }],
  'a call of a tool': [mcp('tools/call'), { mcp: { method: 'tools/call', name: 'search', messages: 1 } }],
  'the end of an MCP session': [mcp(null), { mcp: { method: null, name: null, messages: 0 } }],
}

test('each line is as the docs describe it, whatever became of the request, and all that they describe is seen', async t => {
  const all: Line[] = []
  for (const [name, [make, last]] of Object.entries(kinds))
    await t.test(name, async t => {
      const { accesses } = await make(t)
      await until(() => accesses.length > 0)
      for (const line of accesses) {
        isLine(line)
        deepEqual(isLine.errors, null, JSON.stringify(line))
        deepEqual(
          Object.keys(line).filter(name => name !== 'mcp'),
          schema.required,
        )
        assert(line.error === null || (line.error as string) in errorRows)
      }
      const path = (accesses.at(-1)!.path as string | null)?.replace(/[0-9a-f]{32}/, '…') ?? null
      partialDeepStrictEqual({ ...accesses.at(-1), path }, last)
      all.push(...accesses)
    })
  deepEqual(unseen(schema, all), [])
})

test('a line with another field, or another type in one, is not as the docs describe it', async t => {
  const [line] = (await kinds.plain![0](t)).accesses
  equal(isLine(line), true)
  equal(isLine({ ...line, cookie: 'x' }), false)
  equal(isLine({ ...line, phases: { more: 1 } }), false)
  equal(isLine({ ...line, status: '200' }), false)
})

/** Lists the properties of a schema, or values and types that it allows, of which no value is an example. */
function unseen({ properties, enum: values, type = [] }: Schema, examples: readonly unknown[]): string[] {
  const missing = [type].flat().filter(name => !examples.some(example => isOf(name, example)))
  const unused = (values ?? []).filter(value => !examples.includes(value))
  const inside = Object.entries(properties ?? {}).flatMap(([name, one]) => {
    const found = examples.flatMap(example => (isOf('object', example) ? [(example as Line)[name]] : []))
    const present = found.filter(value => value !== undefined)
    return present.length === 0 ? [name] : unseen(one, present).map(what => `${name}: ${what}`)
  })
  return [...missing, ...unused.map(String), ...inside]
}

function isOf(type: string, value: unknown): boolean {
  if (type === 'null') return value === null
  if (type === 'integer') return Number.isInteger(value)
  return value !== null && typeof value === type
}

function plain(text: string) {
  return async (t: TestContext) => {
    const edge = await startEdge(t, [(await startResponder(t, ok('hello'))).url])
    await edge.ask(text)
    return edge
  }
}

async function numeric(t: TestContext): Promise<Edge> {
  const config = edgeConfig([(await startResponder(t, ok('hello'))).url])
  const edge = await listenAt(t, new Edge(t, { ...config, log: { ...config.log, numeric: true } }))
  await edge.ask(request('GET /'))
  return edge
}

async function streamed(t: TestContext): Promise<Edge> {
  const origin = await startTlsOrigin(t, async wire => {
    await wire.request()
    await wire.send(ok('hello'))
  })
  const url = `https://localhost:${new URL(origin.url).port}`
  const edge = await startEdge(t, [{ url, tls: { verify: false } }])
  await edge.ask(`${request('POST /', 'Transfer-Encoding: chunked')}${chunks('x'.repeat(100_000))}0\r\n\r\n`)
  return edge
}

async function overHttp2(t: TestContext): Promise<Edge> {
  const origin = await startResponder(t, ok('hello'))
  const edge = await startEdge(t, [origin.url], { h2c: true })
  await ask(await connectHttp2(t, `http://127.0.0.1:${edge.port}`))
  return edge
}

async function malformedHttp2(t: TestContext): Promise<Edge> {
  const edge = await startEdge(t, [deadOrigin().url], { h2c: true })
  await ask(await connectHttp2(t, `http://127.0.0.1:${edge.port}`), { ':authority': 'si te.test' })
  return edge
}

async function overGrpc(t: TestContext): Promise<Edge> {
  const echo = ({ request }: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) =>
    done(null, request)
  return callBefore(t, `http://127.0.0.1:${await startGrpc(t, { unary: echo })}`)
}

function refusedGrpc(t: TestContext): Promise<Edge> {
  return callBefore(t, deadOrigin().url)
}

async function callBefore(t: TestContext, url: string): Promise<Edge> {
  const edge = await startEdge(t, [url], { h2c: true, transport: { http: 'h2c' } })
  await new Promise<void>(done => {
    grpcClient(t, edge.port).unary(Buffer.from('hi'), new Metadata(), {}, () => done())
  })
  return edge
}

async function webSocket(t: TestContext): Promise<Edge> {
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
    )
    await wire.send(await wire.bytes(3))
    await wire.ending
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(
    request(
      'GET /',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ),
  )
  await client.response()
  await client.send('abc')
  await client.until('abc')
  client.leave()
  return edge
}

async function eventStream(t: TestContext): Promise<Edge> {
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send(
      `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n${chunks('data: 1\n\n')}`,
    )
    await wire.ending
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(request('GET /'))
  await client.until('data: 1\n\n')
  client.leave()
  return edge
}

async function left(t: TestContext): Promise<Edge> {
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.ending
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(request('GET /'))
  await (await origin.wire()).until('\r\n\r\n')
  client.leave()
  return edge
}

function compressed(coding: (typeof everyCoding)[number]) {
  return async (t: TestContext) => {
    const origin = await startResponder(t, ok('x'.repeat(9_000), 'Content-Type: text/html'))
    const edge = await startEdge(t, [origin.url], { route: { compression: usualCompression } })
    await edge.ask(request('GET /', `Accept-Encoding: ${coding}`))
    return edge
  }
}

async function refused(t: TestContext): Promise<Edge> {
  const edge = await startEdge(t, [deadOrigin().url])
  await edge.ask(request('GET /'))
  return edge
}

async function retried(t: TestContext): Promise<Edge> {
  const origin = await startResponder(t, ok('hello'))
  const edge = await startEdge(t, [deadOrigin().url, origin.url], { pool: { ejection: null } })
  // One of the two begins with the origin that is down.
  const client = await edge.connect()
  for (let i = 0; i < 2 && edge.accesses.at(-1)?.retries !== 1; i++) {
    await client.send(request('GET /'))
    await client.response()
  }
  return edge
}

async function denied(t: TestContext): Promise<Edge> {
  const edge = await startEdge(t, [deadOrigin().url], { access: { ...openAccess, otherwise: 'deny' } })
  await edge.ask(request('GET /'))
  return edge
}

function overTls(withCertificate: boolean) {
  return async (t: TestContext) => {
    const origin = await startResponder(t, ok('hello'))
    const zone = zoneTo([origin.url])
    const client = {
      mode: 'optional',
      authorities: authority.certificate,
      revocationLists: null,
      forward: 'subject',
    } as const
    const config = {
      ...edgeConfig([]),
      zones: [{ ...zone, tls: { ...zone.tls, client } }],
      listen: [{ host: '127.0.0.1', port: 0, tls: true }],
      tls: { certificates: [authority.issue(['site.test'])], minVersion: 'TLSv1.2' } as const,
    }
    const edge = await listenAt(t, new Edge(t, config))
    const { certificate: cert, key } = authority.issue(['alice.example'], { usage: 'clientAuth' })
    const to = { host: '127.0.0.1', port: edge.port, ca: authority.certificate, servername: 'site.test' }
    const socket = connect({ ...to, ...(withCertificate && { cert, key }) })
    t.after(() => socket.destroy())
    await once(socket, 'secureConnect')
    const wire = new Wire(socket)
    await wire.send(request('GET /'))
    await wire.response()
    return edge
  }
}

async function aiCall(t: TestContext): Promise<Edge> {
  const provider = await startResponder(t, json(completion))
  const ai = await startAi(t, { openai: provider.url })
  const token = `svc-aig-authorization: Bearer ${ai.token}`
  await ai.edge.ask(call(`${ai.native('openai')}/chat/completions`, '{}', token))
  return ai.edge
}

async function aiNowhere(t: TestContext): Promise<Edge> {
  const { edge } = await startAi(t, {})
  await edge.ask('GET /v1/x HTTP/1.1\r\nHost: ai.test\r\n\r\n')
  return edge
}

async function aiMethod(t: TestContext): Promise<Edge> {
  const { edge, token } = await startAi(t, {})
  await edge.ask(`${token} /v1/x HTTP/1.1\r\nHost: ai.test\r\n\r\n`)
  return edge
}

function mcp(method: string | null) {
  return async (t: TestContext) => {
    const mcp = { bodyLimit: 2 ** 20, origins: [], rules: [], otherwise: 'allow' } as const
    const edge = await startEdge(t, [(await startResponder(t, ok('{}'))).url], { route: { path: '/', mcp } })
    const message = { jsonrpc: '2.0', id: 1, method, params: { name: 'search' } }
    await edge.ask(
      method === null
        ? request('DELETE /', 'Mcp-Session-Id: a')
        : post('/', JSON.stringify(message), 'Content-Type: application/json'),
    )
    return edge
  }
}

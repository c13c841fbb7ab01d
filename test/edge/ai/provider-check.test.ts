// Tests of providers over real sockets: by the way that calls take, with the credential where the provider expects it, and in bounded time.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createPlain, type IncomingMessage } from 'node:http'
import { createServer as createSecure } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { Providers } from '../../../src/ai/providers/providers.ts'
import type { AiConfig, ProviderConfig } from '../../../src/config/model/config.ts'
import { ProviderChecker } from '../../../src/edge/ai/provider-check.ts'
import { Metrics } from '../../../src/metrics/metrics.ts'
import { providerOf } from '../../help/ai.ts'
import { Authority } from '../../help/certificates.ts'
import { startConnectProxy } from '../../help/connect-proxy.ts'
import { edgeConfig } from '../../help/edge.ts'
import { startOrigin } from '../../help/origin.ts'
import { deny, grant, startTokenServer } from '../../help/token-server.ts'

function checkerOf(t: TestContext, timeout?: number) {
  const checker = new ProviderChecker({
    metrics: new Metrics('0').edge,
    crashed: bug => {
      throw bug
    },
    ...(timeout !== undefined && { timeout: timeout }),
  })
  t.after(() => checker.close())
  return checker
}

function configOf(name: string, config: Partial<ProviderConfig>, more: Partial<AiConfig> = {}) {
  const { ai } = edgeConfig([], { ai: { ...more, providers: [providerOf([name, config])] } })
  const provider = new Providers(ai).all.find(one => one.name === name)!
  return [provider, ai] as const
}

async function listen(t: TestContext, server: ReturnType<typeof createPlain>): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.closeAllConnections())
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

const asked = [
  ['openai', '/v1', 'GET /v1/models', { authorization: 'Bearer sk-1' }],
  ['anthropic', '', 'GET /v1/models', { 'x-api-key': 'sk-1', 'anthropic-version': '2023-06-01' }],
  ['google-ai-studio', '', 'GET /v1beta/models', { 'x-goog-api-key': 'sk-1' }],
  ['openrouter', '/api', 'GET /api/v1/key', { authorization: 'Bearer sk-1' }],
  ['azure-openai', '', 'GET /openai/models?api-version=2024-10-21', { 'api-key': 'sk-1' }],
  ['custom-lab', '/v1', 'GET /v1/models', { authorization: 'Bearer sk-1' }],
] as const
for (const [name, path, line, fields] of asked)
  test(`${name} is asked for ${line}, with its credential`, async t => {
    let request: IncomingMessage | null = null
    const server = createPlain((incoming, response) => {
      request = incoming
      response.end('{}')
    })
    const url = `http://127.0.0.1:${await listen(t, server)}${path}`
    const resources = name === 'azure-openai' ? ['east'] : []
    const { status, error, duration } = await checkerOf(t).check(
      ...configOf(name, { url, resources }),
      'sk-1',
    )
    assert.deepEqual([status, error], [200, null])
    assert.ok(duration > 0)
    const { method, url: target, headers } = request! as IncomingMessage
    assert.equal(`${method} ${target}`, line)
    for (const [field, value] of Object.entries(fields)) assert.equal(headers[field], value)
  })

test('without a key none is sent', async t => {
  let fields: IncomingMessage['headers'] = {}
  const server = createPlain((request, response) => {
    fields = request.headers
    response.writeHead(401).end()
  })
  const url = `http://127.0.0.1:${await listen(t, server)}/v1`
  const { status } = await checkerOf(t).check(...configOf('openai', { url }), null)
  assert.deepEqual([status, fields.authorization], [401, undefined])
})

test('it goes by TLS and by the proxy, as calls do', async t => {
  const authority = new Authority()
  const { certificate: cert, key } = authority.issue(['llm.test'])
  const server = createSecure({ cert, key }, (_, response) => response.end('{}'))
  const port = await listen(t, server)
  const proxy = await startConnectProxy(t, { port })
  const tls = { verify: true, serverName: null, ca: authority.certificate, identity: null }
  const url = 'https://llm.test/v1'
  const checker = checkerOf(t)
  const way = { proxy: proxy.config }
  const trusted = await checker.check(...configOf('openai', { url, tls }, way), 'sk-1')
  assert.deepEqual([trusted.status, trusted.error], [200, null])
  assert.deepEqual(
    proxy.asked.map(({ authority }) => authority),
    ['llm.test:443'],
  )
  const untrusted = await checker.check(...configOf('openai', { url }, way), 'sk-1')
  assert.deepEqual([untrusted.status, untrusted.error], [null, 'invalid_ssl_certificate'])
  const closed = await startConnectProxy(t, { answer: 'HTTP/1.1 403 Forbidden\r\n\r\n' })
  const refused = await checker.check(...configOf('openai', { url, tls }, { proxy: closed.config }), 'sk-1')
  assert.deepEqual([refused.error, refused.code], ['origin_unreachable', 'GH_PROXY_REFUSED'])
})

test('a provider that does not respond is given up in time', async t => {
  const url = `http://127.0.0.1:${await listen(
    t,
    createPlain(() => {}),
  )}`
  const began = performance.now()
  const { error, code } = await checkerOf(t, 200).check(...configOf('openai', { url }), 'sk-1')
  assert.deepEqual([error, code], ['origin_response_timeout', 'GH_RESPONSE_TIMEOUT'])
  assert.ok(performance.now() - began < 5_000)
})

test('a connection that closes and a response that is none are failures', async t => {
  const closing = await startOrigin(t, wire => wire.socket.end())
  const { status, error } = await checkerOf(t).check(...configOf('openai', { url: closing.url }), 'sk-1')
  assert.deepEqual([status, error === null], [null, false])
  const babbling = await startOrigin(t, wire => wire.socket.end('what?\r\n\r\n'))
  const babble = await checkerOf(t).check(...configOf('openai', { url: babbling.url }), 'sk-1')
  assert.deepEqual([babble.status, babble.error === null], [null, false])
})

test('it does not call this gateway itself', async t => {
  const checker = checkerOf(t)
  const server = createPlain((_, response) => response.end('{}'))
  const port = await listen(t, server)
  checker.ownEndpoints = [{ host: '127.0.0.1', port }]
  const { error } = await checker.check(...configOf('openai', { url: `http://127.0.0.1:${port}` }), 'sk-1')
  assert.equal(error, 'dns_loop')
})

test('a key is made for it where the provider has an identity, and a failure of that is told apart', async t => {
  let isUp = true
  const tokens = await startTokenServer(t, (_, response) =>
    isUp ? grant(response, 'made-key') : deny(response, 400, { error: 'invalid_grant' }),
  )
  const provider = createPlain(({ headers }, response) => {
    response.writeHead(headers.authorization === 'Bearer made-key' ? 200 : 401).end()
  })
  const url = `http://127.0.0.1:${await listen(t, provider)}`
  const identity = {
    by: 'entra',
    authority: tokens.url,
    tenant: 'acme.test',
    clientId: '99999999-8888-7777-6666-555555555555',
    proof: { secret: 's' },
    scope: 'https://cognitiveservices.azure.com/.default',
  } as const
  const tls = { verify: true, serverName: null, ca: tokens.ca, identity: null }
  const made = configOf('azure-openai', { url, resources: ['team'], identity, tls })
  assert.equal((await checkerOf(t).check(...made, null)).status, 200)
  isUp = false
  const { status, error, code } = await checkerOf(t).check(...made, null)
  assert.deepEqual([status, error], [null, 'service_unavailable'])
  assert.match(code, /^localhost:\d+ responded 400: invalid_grant$/)
})

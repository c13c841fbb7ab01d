// Providers that are reached by a proxy, as in networks that nothing leaves otherwise.

import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import { once } from 'node:events'
import { createSecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { usualTransport } from '../../src/config/model/pool-config.ts'
import type { OriginTls } from '../../src/config/model/config.ts'
import { selfSigned } from '../../src/process/demo/self-signed.ts'
import { type AiEdge, call, startAi } from '../help/ai.ts'
import { startConnectProxy } from '../help/connect-proxy.ts'
import { freePort } from '../help/free-port.ts'
import { startProvider } from '../help/provider.ts'

const identity = selfSigned('localhost')
const trusted: OriginTls = { verify: true, serverName: 'localhost', ca: identity.cert, identity: null }

const ask = (ai: AiEdge) =>
  ai.edge.ask(
    call(`${ai.native('openai')}/chat/completions`, '{}', `svc-aig-authorization: Bearer ${ai.token}`),
  )

/** Starts a provider that speaks TLS, and says which version of HTTP it was asked by. */
async function startSecure(t: TestContext, version: '1' | '2') {
  const serve = (incoming: { httpVersion: string }, outgoing: { end(text: string): unknown }) =>
    outgoing.end(incoming.httpVersion)
  const server = version === '2' ? createSecureServer(identity, serve) : createServer(identity, serve)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

for (const isSecure of [false, true])
  for (const version of ['1', '2'] as const)
    test(`a ${isSecure ? 'TLS' : 'plain'} proxy leads to a provider of HTTP/${version}, whose name it resolves`, async t => {
      const port = await startSecure(t, version)
      const proxy = await startConnectProxy(t, { port, ...(isSecure && { certificate: identity }) })
      const config = {
        ...proxy.config,
        host: isSecure ? 'localhost' : proxy.config.host,
        authorization: 'Basic dTpw',
      }
      const transport = { ...usualTransport, http: version }
      const url = 'https://api.provider.test:444'
      const ai = await startAi(t, { openai: { url, tls: trusted, transport, proxy: config } })
      const answers = [await ask(ai), await ask(ai)]
      assert.deepEqual(
        answers.map(({ status, text }) => [status, text]),
        Array(2).fill([200, version === '2' ? '2.0' : '1.1']),
      )
      // The connection behind the tunnel is kept, and what the proxy needs reaches nobody else.
      assert.deepEqual(proxy.asked, [{ authority: 'api.provider.test:444', authorization: 'Basic dTpw' }])
    })

test('a provider without TLS is reached by a proxy of its own, and directly by that of all', async t => {
  const provider = await startProvider(t, (_, response) => void response.end('fine'))
  const proxy = await startConnectProxy(t)
  const own = await startAi(t, { openai: { url: provider.url, proxy: proxy.config } })
  assert.equal((await ask(own)).text, 'fine')
  assert.equal(proxy.asked.length, 1)
  const common = { proxy: proxy.config, noProxy: [] }
  const all = await startAi(t, { openai: { url: provider.url } }, { ai: common })
  assert.equal((await ask(all)).text, 'fine')
  assert.equal(proxy.asked.length, 1)
})

test('the proxy of all leads to providers with an https URL, but for the exceptions and those without one', async t => {
  const port = await startSecure(t, '1')
  const proxy = await startConnectProxy(t, { port })
  const url = 'https://api.provider.test'
  const through = async (noProxy: string, own: { readonly proxy?: 'off' } = {}) => {
    const noProxies = noProxy === '' ? [] : [{ host: noProxy, port: null }]
    const settings = { ai: { proxy: proxy.config, noProxy: noProxies } }
    const ai = await startAi(t, { openai: { url, tls: trusted, ...own } }, settings)
    return (await ask(ai)).status
  }
  assert.equal(await through(''), 200)
  // Nobody knows the name but the proxy.
  assert.equal(await through('provider.test'), 530)
  assert.equal(await through('', { proxy: 'off' }), 530)
  assert.equal(proxy.asked.length, 1)
})

for (const [name, answer, cause] of [
  ['wants credentials', 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n', 'GH_PROXY_AUTHENTICATION'],
  ['refuses', 'HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno', 'GH_PROXY_REFUSED'],
  ['cannot connect', 'HTTP/1.0 503 Service Unavailable\r\n\r\n', 'GH_PROXY_REFUSED'],
  ['speaks before the provider can', 'HTTP/1.1 200 OK\r\n\r\nx', 'GH_BAD_PROXY'],
  ['sends a head without end', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}`, 'GH_BAD_PROXY'],
  ['is no proxy', 'SSH-2.0-OpenSSH_9.2\r\n\r\n', 'GH_BAD_PROXY'],
  ['hangs up', '', 'GH_CLOSED'],
] as const)
  test(`a proxy that ${name} has the caller told that the provider cannot be reached`, async t => {
    const proxy = await startConnectProxy(t, { answer })
    const url = 'https://api.provider.test'
    const ai = await startAi(t, {
      openai: { url, tls: trusted, proxy: { ...proxy.config, authorization: 'Basic c2VjcmV0' } },
    })
    const { status, text } = await ask(ai)
    assert.equal(status, cause === 'GH_CLOSED' ? 521 : 523, text)
    const entry = await ai.entry()
    assert.doesNotMatch(JSON.stringify([text, entry]), /c2VjcmV0/)
    assert.equal(ai.edge.accesses.at(-1)!.cause, cause)
  })

test('a proxy that is not there, or whose certificate nobody vouches for, is told like a provider that is not', async t => {
  const closed = {
    protocol: 'http',
    host: '127.0.0.1',
    port: await freePort(),
    authorization: null,
    ca: null,
  } as const
  const url = 'https://api.provider.test'
  const gone = await startAi(t, { openai: { url, tls: trusted, proxy: closed } })
  assert.equal((await ask(gone)).status, 521)
  const secure = await startConnectProxy(t, { certificate: identity })
  const untrusted = await startAi(t, { openai: { url, tls: trusted, proxy: { ...secure.config, ca: null } } })
  assert.equal((await ask(untrusted)).status, 523)
  assert.deepEqual(secure.asked, [])
})

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { Config, Listener, ProviderConfig } from '../../../src/config/model/config.ts'
import { AiEndpoint } from '../../../src/process/side-port/ai-endpoint.ts'
import { until } from '../../help/until.ts'

interface Given {
  readonly hosts?: readonly string[]
  readonly providers?: readonly Partial<ProviderConfig>[]
  readonly issuer?: string | null
  readonly endpoints?: readonly Listener[]
  readonly publicPort?: number | null
}

const here = { host: '0.0.0.0', port: 8080, tls: false }

function entranceOf({
  hosts = ['127.0.0.1'],
  providers = [],
  issuer = null,
  endpoints = [here],
  publicPort = null,
}: Given = {}) {
  const ai = {
    hosts,
    models: [],
    providers: providers.map(given => ({ url: null, keys: [], speaks: 'openai', apis: null, ...given })),
  }
  const config = { ai, oauth: { issuer }, publicPort } as unknown as Config
  return new AiEndpoint(() => ({ config, endpoints })).current
}

test('the address is that of the first host, as clients reach it', () => {
  assert.equal(entranceOf()!.origin, 'http://127.0.0.1:8080')
  assert.equal(entranceOf({ hosts: ['::1'] })!.origin, 'http://[::1]:8080')
  const issuer = 'https://id.example'
  assert.equal(entranceOf({ hosts: ['ai.example'], issuer })!.origin, 'https://ai.example')
  const secure = { hosts: ['ai.example'], issuer: 'https://id.example:8443' }
  assert.equal(entranceOf(secure)!.origin, 'https://ai.example:8443')
  assert.equal(entranceOf({ issuer })!.origin, 'http://127.0.0.1:8080')
  const port80 = [{ host: '::', port: 80, tls: false }]
  assert.equal(entranceOf({ hosts: ['ai.example'], endpoints: port80 })!.origin, 'http://ai.example')
  const published = { endpoints: [here, { ...here, port: 8443, tls: true }], publicPort: 443 }
  assert.equal(entranceOf({ hosts: ['ai.example'], ...published })!.origin, 'https://ai.example')
  assert.equal(entranceOf(published)!.origin, 'https://127.0.0.1')
  assert.equal(entranceOf({ hosts: ['ai.example'], publicPort: 4443 })!.origin, 'https://ai.example:4443')
  assert.equal(entranceOf({ publicPort: 4443 })!.origin, 'http://127.0.0.1:8080')
  assert.equal(entranceOf({ hosts: [] }), null)
  assert.equal(entranceOf({ endpoints: [] }), null)
})

test('the example is a provider that has a key, else one of the operator, else a known one', () => {
  const exampleOf = (providers: Given['providers']) => {
    const { name, path, speaks, hasKey } = entranceOf({ providers: providers! })!.provider
    return [name, path, speaks, hasKey]
  }
  assert.deepEqual(exampleOf([]), ['openai', '/chat/completions', 'openai', false])
  assert.deepEqual(exampleOf([{ name: 'openai' }, { name: 'anthropic', keys: ['k'] }]), [
    'anthropic',
    '/v1/messages',
    'anthropic',
    true,
  ])
  assert.deepEqual(exampleOf([{ name: 'custom-lab', url: 'http://127.0.0.1:1/v1' }]), [
    'custom-lab',
    '/chat/completions',
    'openai',
    true,
  ])
  assert.equal(exampleOf([{ name: 'azure-openai', keys: ['k'] }])[0], 'openai')
})

test('a call is sent with the host of clients; of its response so much is read, and so many run', async t => {
  const waiting: (() => void)[] = []
  const hosts = new Set<string | undefined>()
  const server = createServer((request, response) => {
    hosts.add(request.headers.host)
    if (request.url === '/wait') waiting.push(() => response.end('done'))
    else if (request.url === '/cut') request.socket.destroy()
    else response.end('x'.repeat(100_000))
  })
  server.listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const { send } = entranceOf({ endpoints: [{ host: '0.0.0.0', port, tls: false }] })!
  const call = { path: '/', headers: {}, body: '{}' }
  assert.equal((await send(call)).body.length, 64 * 1024)
  await assert.rejects(send({ ...call, path: '/cut' }), /could not be reached/)
  const running = Array.from({ length: 4 }, () => send({ ...call, path: '/wait' }))
  await assert.rejects(send(call), /Too many test requests/)
  await until(() => waiting.length === 4)
  for (const end of waiting) end()
  for (const { body } of await Promise.all(running)) assert.equal(body, 'done')
  assert.equal((await send(call)).status, 200)
  assert.deepEqual([...hosts], [`127.0.0.1:${port}`])
})

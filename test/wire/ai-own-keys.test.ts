// Keys that a gateway has of its own, and the providers that an account has added.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { after, before, type TestContext, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { sealKey } from '../../src/ai/providers/key-seal.ts'
import { SecretKeys } from '../../src/base/secrets/secret-keys.ts'
import { NameLookup } from '../../src/edge/resolver/name-lookup.ts'
import { selfSigned } from '../../src/process/demo/self-signed.ts'
import { openStore } from '../../src/store/open.ts'
import type { CustomProvider } from '../../src/store/records/custom-provider.ts'
import { type RouteElement, routeOwner } from '../../src/store/records/model-route.ts'
import type { ProviderKey } from '../../src/store/records/records.ts'
import { type AiEdge, type AiSettings, call, completion, json, secrets, startAi } from '../help/ai.ts'
import { ManualClock, patient } from '../help/clock.ts'
import { startDns } from '../help/dns.ts'
import { zoneTo } from '../help/edge.ts'
import { startIssuer } from '../help/issuer.ts'
import { startOrigin } from '../help/origin.ts'
import { busySecond, until } from '../help/until.ts'
import { temporaryFile } from '../store/sqlite/temporary-file.ts'

const certificate = selfSigned('localhost')
const named = selfSigned('llm.test')
const usual = getCACertificates('default')
before(() => setDefaultCACertificates([...usual, certificate.cert.toString(), named.cert.toString()]))
after(() => setDefaultCACertificates(usual))

const prompt = (model: string) => JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] })

/** Makes a key of the gateway `default`. */
function keyOf(
  { account }: Pick<AiEdge, 'account'>,
  value: string,
  more: Partial<ProviderKey> & { url?: string; with?: SecretKeys; gateway?: string } = {},
): ProviderKey {
  const { url = '', with: keys = secrets, gateway = 'default', ...fields } = more
  const key = { id: randomBytes(16).toString('hex'), provider: 'openai', ...fields }
  const sealed = sealKey(keys, value, { gateway: { account, id: gateway }, key, url })
  return { alias: 'main', isDefault: true, end: value.slice(-4), modifiedAt: 0, ...key, sealed }
}

function customOf({ account }: Pick<AiEdge, 'account'>, more: Partial<CustomProvider> = {}): CustomProvider {
  return {
    ...{ account, id: 'mine', name: 'Mine', url: 'https://localhost/v1', isEnabled: true },
    ...{ headers: [], notes: {}, createdAt: 0, modifiedAt: 0 },
    ...more,
  }
}

/** Starts an edge whose provider openai notes the keys that it gets, and refuses those that begin with bad. */
async function start(t: TestContext, settings: AiSettings = {}) {
  const keys: string[] = []
  const origin = await startOrigin(t, async wire => {
    for (;;) {
      const request = await wire.request()
      const key = (request.field('authorization') ?? 'none').replace('Bearer ', '')
      keys.push(key)
      const refused = 'HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n'
      await wire.send(key.startsWith('bad') ? refused : json(completion))
    }
  })
  const ai = await startAi(t, { openai: { url: origin.url, keys: ['sk-operator'] } }, settings)
  const ask = async (model: string, ...fields: string[]) =>
    ai.edge.ask(
      call(`${ai.rest}/v1/chat/completions`, prompt(model), `Authorization: Bearer ${ai.token}`, ...fields),
    )
  return { ai, keys, ask }
}

const models = { object: 'list', data: [{ id: 'llama-9', object: 'model' }] }

/** Starts a server of TLS that notes the requests it gets. */
async function startSecure(t: TestContext, host = '127.0.0.1', status = 200, port = 0) {
  const requests: { readonly path: string; readonly headers: NodeJS.Dict<string | string[]> }[] = []
  const connections = new Set<Socket>()
  const server = createServer(certificate, (request, response) => {
    requests.push({ path: request.url!, headers: request.headers })
    request.resume().on('end', () => {
      response.writeHead(status, { 'content-type': 'application/json', location: 'https://localhost:1/' })
      response.end(JSON.stringify(request.url === '/v1/models' ? models : completion))
    })
  })
  server.addContext('llm.test', named)
  server.on('secureConnection', (socket: Socket) => {
    connections.add(socket)
    socket.on('close', () => connections.delete(socket))
  })
  await new Promise<void>(resolve => server.listen(port, host, resolve))
  t.after(() => server.close())
  return { port: (server.address() as AddressInfo).port, requests, connections }
}

test('a key of the gateway comes before that of the configuration, and its use is recorded', async t => {
  const { ai, keys, ask } = await start(t)
  assert.equal((await ask('openai/gpt-4o')).status, 200)
  await ai.change({ providerConfigs: [keyOf(ai, 'sk-own-1')] })
  assert.equal((await ask('openai/gpt-4o')).status, 200)
  assert.deepEqual(keys, ['sk-operator', 'sk-own-1'])
  await until(async () => {
    const { record } = (await ai.store.gateways.get(ai.account, 'default'))!
    return record.providerConfigs![0]!.usedAt !== undefined
  })
  await ai.change({ providerConfigs: [] })
  await ask('openai/gpt-4o')
  assert.equal(keys.at(-1), 'sk-operator')
})

test('several keys are used in turn, and a refused one rests', async t => {
  const { ai, keys, ask } = await start(t)
  await ai.change({ providerConfigs: [keyOf(ai, 'bad-1'), keyOf(ai, 'sk-2'), keyOf(ai, 'sk-3')] })
  for (let i = 0; i < 4; i++) assert.equal((await ask('openai/gpt-4o')).status, 200)
  assert.deepEqual([...new Set(keys)].sort(), ['bad-1', 'sk-2', 'sk-3'])
  assert.equal(keys.filter(key => key === 'bad-1').length, 1)
})

test('a call chooses a key by its alias, and one that does not exist is refused', async t => {
  const { ai, keys, ask } = await start(t)
  const batch = keyOf(ai, 'sk-batch', { alias: 'batch', isDefault: false })
  await ai.change({ providerConfigs: [keyOf(ai, 'sk-main'), batch] })
  await ask('openai/gpt-4o')
  await ask('openai/gpt-4o', 'svc-aig-byok-alias: batch')
  assert.deepEqual(keys, ['sk-main', 'sk-batch'])
  const refused = await ask('openai/gpt-4o', 'svc-aig-byok-alias: night')
  assert.equal(refused.status, 400)
  assert.match(String(refused.body), /svc-aig-byok-alias names no key of openai/)
})

test('with byok_only the keys of the operator are not used', async t => {
  const { ai, keys, ask } = await start(t, { gateway: { byokOnly: true } })
  const refused = await ask('openai/gpt-4o')
  assert.equal(refused.status, 400)
  assert.match(String(refused.body), /byok_only/)
  const token = `svc-aig-authorization: Bearer ${ai.token}`
  const native = (...fields: string[]) =>
    ai.edge.ask(call(`${ai.native('openai')}/chat/completions`, prompt('gpt-4o'), token, ...fields))
  assert.equal((await native()).status, 400)
  assert.equal((await native('Authorization: Bearer sk-caller')).status, 200)
  await ai.change({ providerConfigs: [keyOf(ai, 'sk-own')] })
  assert.equal((await ask('openai/gpt-4o')).status, 200)
  assert.deepEqual(keys, ['sk-caller', 'sk-own'])
})

test('a key that was moved between gateways, or whose secrets.key is lost, fails visibly', async t => {
  const { ai, keys, ask } = await start(t)
  const lost = new SecretKeys(Buffer.alloc(32, 2))
  for (const more of [{ with: lost }, { gateway: 'other' }, { url: 'https://evil.example' }]) {
    await ai.change({ providerConfigs: [keyOf(ai, 'sk-own', more)] })
    const refused = await ask('openai/gpt-4o')
    assert.equal(refused.status, 503)
    assert.match(String(refused.body), /stored key of openai cannot be read/)
  }
  const { id: _, ...moved } = keyOf(ai, 'sk-own')
  await ai.change({ providerConfigs: [{ ...moved, id: '0'.repeat(32) }] })
  assert.equal((await ask('openai/gpt-4o')).status, 503)
  assert.deepEqual(keys, [])
})

test('a provider of the account is reached where the network is allowed, with its key and without ours', async t => {
  const { ai, ask } = await start(t, { ai: { customNetworks: ['127.0.0.0/8', '::1'] } })
  const { port, requests } = await startSecure(t, 'localhost')
  const url = `https://localhost:${port}/v1`
  assert.equal((await ask('custom-mine/m')).status, 404)
  await ai.store.customProviders.insert(customOf(ai, { url, headers: ['X-Team', 'a'] }))
  await ai.change({ providerConfigs: [keyOf(ai, 'sk-mine', { provider: 'custom-mine', url })] })
  assert.equal((await ask('custom-mine/m', 'Cookie: a=b', 'x-api-key: sk-other')).status, 200)
  const [{ path, headers }] = requests as [(typeof requests)[0]]
  assert.equal(path, '/v1/chat/completions')
  assert.equal(headers.authorization, 'Bearer sk-mine')
  assert.deepEqual([headers['x-team'], headers.cookie, headers['x-api-key']], ['a', undefined, undefined])
  const native = await ai.edge.ask(
    call(`${ai.native('custom-mine')}/any/path`, '{}', `svc-aig-authorization: Bearer ${ai.token}`),
  )
  assert.equal(native.status, 200)
  assert.equal(requests[1]!.path, '/v1/any/path')
  assert.ok(!JSON.stringify(requests).includes(ai.token))

  const { version, record } = (await ai.store.customProviders.get(ai.account, 'mine'))!
  await ai.store.customProviders.replace({ ...record, isEnabled: false }, version)
  assert.equal((await ask('custom-mine/m')).status, 404)
})

test('nor does an account set what a gate before the same origin sets', async t => {
  const { port, requests } = await startSecure(t, 'localhost')
  const { gate } = await startIssuer(t)
  const protect = [{ ...gate, fields: [{ name: 'X-User', claim: 'sub' }] }]
  const zones = [zoneTo([`http://127.0.0.1:${port}`], { route: { protect } })]
  const { ai, ask } = await start(t, { ...anyLocal, zones })
  const headers = ['X_User', 'mallory', 'X-Team', 'a']
  await ai.store.customProviders.insert(customOf(ai, { url: `https://localhost:${port}/v1`, headers }))
  assert.equal((await ask('custom-mine/m', 'X-User: mallory')).status, 200)
  assert.doesNotMatch(JSON.stringify(requests), /mallory/)
  assert.equal(requests[0]!.headers['x-team'], 'a')
})

const anyLocal = { ai: { customNetworks: ['127.0.0.0/8', '::1'] } }

async function listed({ edge }: AiEdge, token: string): Promise<readonly string[]> {
  const lines = ['GET /v1/models HTTP/1.1', 'Host: ai.test', `Authorization: Bearer ${token}`, '', '']
  const { status, body } = await edge.ask(lines.join('\r\n'))
  assert.equal(status, 200)
  return JSON.parse(String(body)).data.map(({ id }: { id: string }) => id)
}

test('models of a provider of the account are listed, with the key of the gateway that asks', async t => {
  const { ai } = await start(t, anyLocal)
  const { port, requests } = await startSecure(t, 'localhost')
  const url = `https://localhost:${port}/v1`
  await ai.store.customProviders.insert(customOf(ai, { url, headers: ['X-Team', 'a'] }))
  await ai.change({ providerConfigs: [keyOf(ai, 'sk-mine', { provider: 'custom-mine', url })] })
  const names = await listed(ai, ai.token)
  assert.ok(names.includes('custom-mine/llama-9') && !names.includes('llama-9'))
  const [{ path, headers }] = requests as [(typeof requests)[0]]
  assert.deepEqual([path, headers.authorization, headers['x-team']], ['/v1/models', 'Bearer sk-mine', 'a'])
  const limited = await listed(ai, await ai.mint({ models: ['openai/*'] }))
  assert.ok(!limited.some(name => name.includes('llama-9')))

  const { version, record } = (await ai.store.customProviders.get(ai.account, 'mine'))!
  await ai.store.customProviders.replace({ ...record, isEnabled: false }, version)
  assert.ok(!(await listed(ai, ai.token)).includes('custom-mine/llama-9'))
})

test('with byok_only, the models of keys of the gateway are listed alone', async t => {
  const { ai, keys } = await start(t, { ...anyLocal, gateway: { byokOnly: true } })
  const { port, requests } = await startSecure(t, 'localhost')
  const url = `https://localhost:${port}/v1`
  await ai.store.customProviders.insert(customOf(ai, { url }))
  assert.deepEqual(await listed(ai, ai.token), [])
  await ai.change({ providerConfigs: [keyOf(ai, 'sk-mine', { provider: 'custom-mine', url })] })
  assert.deepEqual(await listed(ai, ai.token), ['custom-mine/llama-9'])
  assert.deepEqual([requests.length, keys], [1, []])
})

test('lists of models are not asked for at addresses that calls may not reach', async t => {
  const { ai } = await start(t)
  const { port, requests } = await startSecure(t, 'localhost')
  await ai.store.customProviders.insert(customOf(ai, { url: `https://localhost:${port}/v1` }))
  const own = customOf(ai, { id: 'ours', url: `https://127.0.0.1:${ai.edge.port}/v1` })
  await ai.store.customProviders.insert(own)
  assert.ok(!(await listed(ai, ai.token)).some(name => name.startsWith('custom-')))
  assert.deepEqual(requests, [])
})

test('a dynamic route leads to a provider of the account, and past it while that is off', async t => {
  const { ai, keys, ask } = await start(t, anyLocal)
  const { port, requests } = await startSecure(t, 'localhost')
  await ai.store.customProviders.insert(customOf(ai, { url: `https://localhost:${port}/v1` }))
  const to = (elementId: string) => ({ elementId })
  const modelOf = (id: string, provider: string, fallback: string) => ({
    ...{ id, type: 'model' as const, outputs: { success: to('end'), fallback: to(fallback) } },
    properties: { provider, model: 'm', timeout: 20_000, retries: 0 },
  })
  const elements: readonly RouteElement[] = [
    { id: 'start', type: 'start', outputs: { next: to('mine') } },
    modelOf('mine', 'custom-mine', 'theirs'),
    modelOf('theirs', 'openai', 'end'),
    { id: 'end', type: 'end', outputs: {} },
  ]
  await ai.store.modelRoutes.insert({
    ...{ account: routeOwner({ account: ai.account, id: 'default' }), id: '1', name: 'team' },
    ...{ versions: [{ id: '2', elements, createdAt: 0 }], createdAt: 0, modifiedAt: 0 },
    deployments: [{ id: '3', version: '2', createdAt: 0 }],
  })
  assert.equal((await ask('dynamic/team')).status, 200)
  assert.deepEqual([requests.length, keys.length], [1, 0])
  const { version, record } = (await ai.store.customProviders.get(ai.account, 'mine'))!
  await ai.store.customProviders.replace({ ...record, isEnabled: false }, version)
  assert.equal((await ask('dynamic/team')).status, 200)
  assert.deepEqual([requests.length, keys.length], [1, 1])
})

for (const [what, end] of [
  ['deleted', (ai: AiEdge) => ai.store.customProviders.remove(ai.account, 'mine')],
  ['turned off', turnOff],
] as const)
  test(`the connections of a provider that is ${what} are closed, and those of others stay`, async t => {
    const { ai, ask } = await start(t, anyLocal)
    const [mine, other] = [await startSecure(t, 'localhost'), await startSecure(t, 'localhost')]
    const urlOf = ({ port }: { port: number }) => `https://localhost:${port}/v1`
    await ai.store.customProviders.insert(customOf(ai, { url: urlOf(mine) }))
    const account = randomBytes(16).toString('hex')
    await ai.store.customProviders.insert(customOf({ account }, { url: urlOf(other) }))
    assert.equal((await ask('custom-mine/m')).status, 200)
    assert.equal(mine.connections.size, 1)
    await ai.store.customProviders.remove(account, 'mine')
    assert.equal((await ask('custom-mine/m')).status, 200)
    assert.equal(mine.connections.size, 1)
    await end(ai)
    await until(() => mine.connections.size === 0)
    await until(() => ai.edge.metrics.originConnections.value === 0)
    assert.equal((await ask('custom-mine/m')).status, 404)
  })

async function turnOff({ store, account }: AiEdge): Promise<void> {
  const { version, record } = (await store.customProviders.get(account, 'mine'))!
  await store.customProviders.replace({ ...record, isEnabled: false }, version)
}

test('a key is not sent to another address of the same name', async t => {
  const { ai, ask } = await start(t, { ai: { customNetworks: ['127.0.0.0/8', '::1'] } })
  const { port, requests } = await startSecure(t, 'localhost')
  const key = keyOf(ai, 'sk-mine', { provider: 'custom-mine', url: 'https://localhost:1/v1' })
  await ai.change({ providerConfigs: [key] })
  await ai.store.customProviders.insert(customOf(ai, { url: `https://localhost:${port}/v1` }))
  assert.equal((await ask('custom-mine/m')).status, 503)
  assert.deepEqual(requests, [])
})

test('tokens are counted for models of the account too', async t => {
  const { ai } = await start(t)
  await ai.store.customProviders.insert(customOf(ai))
  const count = (model: string) =>
    ai.edge.ask(
      call(`${ai.rest}/v1/messages/count_tokens`, prompt(model), `Authorization: Bearer ${ai.token}`),
    )
  const counted = await count('custom-mine/m')
  assert.deepEqual([counted.status, counted.field('svc-aig-estimated')], [200, 'true'])
  assert.equal((await count('custom-other/m')).status, 404)
})

test('models are listed by the keys of the gateway, and without those of the operator with byok_only', async t => {
  const { ai } = await start(t)
  const owners = async () => {
    const head = `GET ${ai.rest}/v1/models HTTP/1.1\r\nHost: ai.test\r\nAuthorization: Bearer ${ai.token}\r\n\r\n`
    const { data } = JSON.parse((await ai.edge.ask(head)).text) as { data: { owned_by: string }[] }
    return [...new Set(data.map(({ owned_by }) => owned_by))].sort()
  }
  assert.deepEqual(await owners(), ['openai'])
  await ai.change({ providerConfigs: [keyOf(ai, 'sk-own', { provider: 'anthropic' })] })
  assert.deepEqual(await owners(), ['anthropic', 'openai'])
  await ai.change({ byokOnly: true })
  assert.deepEqual(await owners(), ['anthropic'])
  await ai.change({ providerConfigs: [] })
  assert.deepEqual(await owners(), [])
})

test('a provider of another account is never reachable', async t => {
  const { ai, ask } = await start(t, { ai: { customNetworks: ['127.0.0.0/8', '::1'] } })
  const { port, requests } = await startSecure(t, 'localhost')
  const account = randomBytes(16).toString('hex')
  await ai.store.customProviders.insert(customOf({ account }, { url: `https://localhost:${port}/v1` }))
  assert.equal((await ask('custom-mine/m')).status, 404)
  const token = `svc-aig-authorization: Bearer ${ai.token}`
  const native = await ai.edge.ask(call(`${ai.native('custom-mine')}/chat/completions`, '{}', token))
  assert.equal(native.status, 404)
  assert.ok(!native.body.includes('localhost'))
  assert.deepEqual(requests, [])
})

test('special-use addresses are refused when they are dialled, however they are written', async t => {
  const { ai, ask } = await start(t)
  const { port, requests } = await startSecure(t)
  const hosts = [
    'localhost',
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::1]',
    '0.0.0.0',
    '169.254.169.254',
    '10.0.0.1',
    '[fd00::1]',
  ]
  for (const [i, host] of hosts.entries()) {
    const custom = customOf(ai, { id: `m-${i}`, url: `https://${host}:${port}/v1` })
    await ai.store.customProviders.insert(custom)
    const refused = await ask(`custom-m-${i}/m`)
    assert.ok(refused.status >= 400 && refused.status !== 404, `${host}: ${refused.status}`)
  }
  assert.deepEqual(requests, [])
})

test('a change by another process counts within a second', async t => {
  const storeUrl = `sqlite:${temporaryFile(t)}`
  const { ai, keys, ask } = await start(t, { storeUrl })
  const other = await openStore(storeUrl, { commandTimeout: 1_000 })
  t.after(() => other.close())
  await ask('openai/gpt-4o')
  const secondAfter = async (write: () => Promise<unknown>, holds: () => Promise<boolean>) => {
    await write()
    await until(holds, busySecond)
  }
  const { record, version } = (await other.gateways.get(ai.account, 'default'))!
  const providerConfigs = [keyOf(ai, 'sk-own')]
  await secondAfter(
    () => other.gateways.replace({ ...record, providerConfigs }, version),
    async () => (await ask('openai/gpt-4o')) && keys.at(-1) === 'sk-own',
  )
  assert.equal((await ask('custom-mine/m')).status, 404)
  await secondAfter(
    () => other.customProviders.insert(customOf(ai)),
    async () => (await ask('custom-mine/m')).status !== 404,
  )
  await secondAfter(
    () => other.customProviders.remove(ai.account, 'mine'),
    async () => (await ask('custom-mine/m')).status === 404,
  )
})

test('a name that resolves to another address later gets no connection to that one', async t => {
  const dns = await startDns(t)
  const clock = new ManualClock()
  const lookup = new NameLookup({ servers: [dns.address] })
  const { ai, ask } = await start(t, { ai: { customNetworks: ['127.0.0.2/32'] }, lookup, ...patient, clock })
  const allowed = await startSecure(t, '127.0.0.2')
  const inner = await startSecure(t, '127.0.0.1', 200, allowed.port)
  dns.addresses('llm.test', ['127.0.0.2'], 1)
  await ai.store.customProviders.insert(customOf(ai, { url: `https://llm.test:${allowed.port}/v1` }))
  assert.equal((await ask('custom-mine/m')).status, 200)
  dns.addresses('llm.test', ['127.0.0.1'], 1)
  for (const connection of allowed.connections) connection.destroy()
  await until(async () => {
    clock.advance(31_000)
    return (await ask('custom-mine/m')).status === 403
  })
  assert.deepEqual([allowed.requests.length > 0, inner.requests], [true, []])
  assert.equal(inner.connections.size, 0)
})

test('a name of one of our own listeners is refused', async t => {
  const dns = await startDns(t)
  dns.addresses('llm.test', ['127.0.0.1'])
  const lookup = new NameLookup({ servers: [dns.address] })
  const { ai, ask } = await start(t, { ...anyLocal, lookup })
  await ai.store.customProviders.insert(customOf(ai, { url: `https://llm.test:${ai.edge.port}/v1` }))
  const refused = await ask('custom-mine/m')
  assert.equal(refused.status, 403)
  assert.equal(ai.edge.accesses.at(-1)!.cause, 'GH_OWN_ADDRESS')
})

test('our own listeners are refused even in an allowed network', async t => {
  const { ai, ask } = await start(t, { ai: { customNetworks: ['0.0.0.0/0', '::/0'] } })
  for (const [i, host] of ['localhost', '127.0.0.1', '[::ffff:127.0.0.1]'].entries()) {
    const url = `https://${host}:${ai.edge.port}/v1`
    await ai.store.customProviders.insert(customOf(ai, { id: `m-${i}`, url }))
    const refused = await ask(`custom-m-${i}/m`)
    assert.equal(refused.status, 403, host)
  }
})

test('a redirect of a provider of the account is not followed', async t => {
  const { ai, ask } = await start(t, { ai: { customNetworks: ['127.0.0.0/8', '::1'] } })
  const { port, requests } = await startSecure(t, 'localhost', 302)
  await ai.store.customProviders.insert(customOf(ai, { url: `https://localhost:${port}/v1` }))
  assert.equal((await ask('custom-mine/m')).status, 302)
  assert.equal(requests.length, 1)
})

// Keys that are made from an identity at a cloud: how calls wait for them, and what happens if there is none.

import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { importSPKI, jwtVerify } from 'jose'
import type { CloudIdentity } from '../../src/config/model/cloud-config.ts'
import type { ProviderConfig } from '../../src/config/model/config.ts'
import { type AiSettings, call, completion, json, startAi } from '../help/ai.ts'
import { ManualClock, patient } from '../help/clock.ts'
import { startConnectProxy } from '../help/connect-proxy.ts'
import { type Respond, startResponder } from '../help/origin.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { deny, grant, startTokenServer, type TokenServer } from '../help/token-server.ts'

const tenant = '11111111-2222-3333-4444-555555555555'
const clientId = '99999999-8888-7777-6666-555555555555'
const secret = 'entra-client-secret'
const scope = 'https://cognitiveservices.azure.com/.default'
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const spki = publicKey.export({ type: 'spki', format: 'pem' }).toString()

const entra = (server: Pick<TokenServer, 'url'>): CloudIdentity => ({
  by: 'entra',
  authority: server.url,
  tenant,
  clientId,
  proof: { secret },
  scope,
})
const trusting = ({ ca }: Pick<TokenServer, 'ca'>) => ({
  tls: { verify: true, serverName: null, ca, identity: null },
})

/** Starts an Azure resource whose keys are made by a token server. */
async function startAzure(
  t: TestContext,
  server: TokenServer,
  {
    respond = () => json(completion),
    azure = {},
    ...settings
  }: AiSettings & {
    readonly respond?: Respond
    readonly azure?: Partial<ProviderConfig>
  } = {},
) {
  const provider = await startResponder(t, respond)
  const config = {
    url: provider.url,
    resources: ['team'],
    identity: entra(server),
    ...trusting(server),
    ...azure,
  }
  const other = await startResponder(t, () => json(completion))
  const ai = await startAi(
    t,
    { 'azure-openai': config, 'custom-other': { url: `${other.url}/v1`, keys: ['k'] } },
    settings,
  )
  const chat = (model = 'azure-openai/team/gpt-4o', ...fields: string[]) =>
    ai.edge.ask(
      call(
        `${ai.rest}/v1/chat/completions`,
        JSON.stringify({ model, messages: [] }),
        `Authorization: Bearer ${ai.token}`,
        ...fields,
      ),
    )
  return { provider, ai, chat, other }
}

test('calls to Azure bear a token of Entra that is asked for once', async t => {
  const server = await startTokenServer(t, (_, response) => grant(response, 'entra-token'))
  const { provider, chat, ai } = await startAzure(t, server)
  const responses = await Promise.all([chat(), chat(), chat()])
  deepEqual(
    responses.map(({ status }) => status),
    [200, 200, 200],
  )
  equal(server.asked.length, 1)
  const [asked] = server.asked
  equal(asked!.path, `/${tenant}/oauth2/v2.0/token`)
  deepEqual(Object.fromEntries(asked!.form), {
    grant_type: 'client_credentials',
    client_id: clientId,
    scope,
    client_secret: secret,
  })
  for (const request of provider.requests) {
    equal(request.field('authorization'), 'Bearer entra-token')
    equal(request.field('api-key'), null)
  }
  const native = await ai.edge.ask(
    call(
      `${ai.native('azure-openai')}/team/gpt-4o/chat/completions?api-version=2024-10-21`,
      '{}',
      `svc-aig-authorization: Bearer ${ai.token}`,
    ),
  )
  equal(native.status, 200)
  equal(provider.requests.at(-1)!.field('authorization'), 'Bearer entra-token')
})

test('a key of the caller takes the place of the one that would be made', async t => {
  const server = await startTokenServer(t, (_, response) => grant(response, 'entra-token'))
  const { provider, ai } = await startAzure(t, server)
  const path = `${ai.native('azure-openai')}/team/gpt-4o/chat/completions`
  const own = await ai.edge.ask(
    call(path, '{}', `svc-aig-authorization: Bearer ${ai.token}`, 'api-key: of-the-caller'),
  )
  equal(own.status, 200)
  equal(provider.requests[0]!.field('api-key'), 'of-the-caller')
  equal(provider.requests[0]!.field('authorization'), null)
  equal(server.asked.length, 0)
})

test('the token of a workload is read from its file each time', async t => {
  const file = join(quickFolder(t, 'token'), 'token')
  writeFileSync(file, 'workload-one\n')
  const clock = new ManualClock()
  const server = await startTokenServer(t, (_, response) => grant(response, 'entra-token', 60))
  const azure = { identity: { ...entra(server), proof: { file } } as CloudIdentity }
  const { chat } = await startAzure(t, server, { azure, ...patient, clock })
  equal((await chat()).status, 200)
  writeFileSync(file, 'workload-two\n')
  clock.advance(60_000)
  equal((await chat()).status, 200)
  deepEqual(
    server.asked.map(({ form }) => [form.get('client_assertion_type'), form.get('client_assertion')]),
    ['workload-one', 'workload-two'].map(assertion => [
      'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      assertion,
    ]),
  )
  rmSync(file)
  clock.advance(60_000)
  const failed = await chat()
  equal(failed.status, 503)
  doesNotMatch(failed.text, /workload/)
})

test('without a key there is one error record that says when to retry, and nothing of the secret', async t => {
  const server = await startTokenServer(t, (_, response) =>
    deny(response, 401, {
      error: 'invalid_client',
      error_description: `AADSTS7000215: Invalid client secret provided: ${secret}`,
    }),
  )
  const { chat, provider, ai } = await startAzure(t, server)
  const failed = await chat()
  equal(failed.status, 503)
  equal(failed.field('retry-after'), '1')
  match(failed.text, /could not get a key for azure-openai/)
  doesNotMatch(failed.text, /AADSTS|invalid_client|client-secret|localhost/)
  equal(provider.requests.length, 0)
  const again = await chat()
  equal(again.status, 503)
  equal(server.asked.length, 1)
  const [state] = ai.edge.plane.providers.filter(({ name }) => name === 'azure-openai')
  equal(state!.badError, 'service_unavailable')
  match(state!.keys[0]!.made!.failure!, /^localhost:\d+ responded 401: invalid_client AADSTS7000215$/)
})

test('an alias goes on to its next model where no key can be made', async t => {
  const server = await startTokenServer(t, (_, response) => deny(response, 503, {}))
  const step = (model: string) => ({ model, timeout: null, retries: 0, weight: null })
  const models = [{ name: 'fast', steps: [step('azure-openai/team/gpt-4o'), step('custom-other/small')] }]
  const { chat, other, provider } = await startAzure(t, server, { ai: { models } })
  const response = await chat('fast')
  equal(response.status, 200)
  match(response.field('svc-aig-attempts')!, /azure-openai.*service_unavailable.*custom-other/)
  deepEqual([provider.requests.length, other.requests.length], [0, 1])
})

test('a token that its provider refuses is replaced by a new one for the same call', async t => {
  const clock = new ManualClock()
  let made = 0
  const server = await startTokenServer(t, (_, response) => grant(response, `token-${++made}`))
  const respond: Respond = request =>
    request.field('authorization') === 'Bearer token-2' || (made === 1 && clock.now() === began)
      ? json(completion)
      : 'HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n'
  const began = clock.now()
  const { chat, provider } = await startAzure(t, server, { respond, ...patient, clock })
  equal((await chat()).status, 200)
  clock.advance(60_000)
  equal((await chat()).status, 200)
  deepEqual(
    provider.requests.map(request => request.field('authorization')),
    ['Bearer token-1', 'Bearer token-1', 'Bearer token-2'],
  )
})

test('a renewal runs in the background, and a failing one changes nothing until the token expires', async t => {
  const clock = new ManualClock()
  let isUp = true
  const server = await startTokenServer(t, (_, response) =>
    isUp ? grant(response, `token-${server.asked.length}`) : deny(response, 500, {}),
  )
  const { chat, provider } = await startAzure(t, server, { ...patient, clock })
  await chat()
  isUp = false
  clock.advance(3_000_000)
  equal((await chat()).status, 200)
  equal(provider.requests.at(-1)!.field('authorization'), 'Bearer token-1')
  clock.advance(700_000)
  equal((await chat()).status, 503)
  isUp = true
  clock.advance(60_000)
  equal((await chat()).status, 200)
  match(provider.requests.at(-1)!.field('authorization')!, /^Bearer token-[3-9]$/)
})

test('a token server that does not respond ends the call in time', async t => {
  const server = await startTokenServer(t, (_, response) => {
    response.destroy()
  })
  const { chat } = await startAzure(t, server)
  equal((await chat()).status, 503)
  const redirecting = await startTokenServer(t, (_, response) => {
    response.writeHead(302, { location: server.url }).end()
  })
  const second = await startAzure(t, redirecting)
  equal((await second.chat()).status, 503)
  equal(server.asked.length, 1)
})

test('a caller that leaves while a key is made is forgotten', async t => {
  const asked = Promise.withResolvers<() => void>()
  const server = await startTokenServer(t, (_, response) => {
    asked.resolve(() => grant(response, 'late-token'))
  })
  const { ai, chat, provider } = await startAzure(t, server)
  const wire = await ai.edge.connect()
  const body = JSON.stringify({ model: 'azure-openai/team/gpt-4o', messages: [] })
  await wire.send(call(`${ai.rest}/v1/chat/completions`, body, `Authorization: Bearer ${ai.token}`))
  const answer = await asked.promise
  wire.reset()
  await ai.entry()
  answer()
  equal((await chat()).status, 200)
  equal(provider.requests.length, 1)
})

test('tokens are asked for through the proxy', async t => {
  const server = await startTokenServer(t, (_, response) => grant(response, 'entra-token'))
  const proxy = await startConnectProxy(t)
  const plain = await startResponder(t, () => json(completion))
  const { chat } = await startAzure(t, server, { azure: { url: plain.url, proxy: proxy.config } })
  equal((await chat()).status, 200)
  deepEqual(
    proxy.asked.map(({ authority }) => authority),
    [new URL(server.url).host, new URL(plain.url).host],
  )
})

/** Starts Vertex with a service account. */
async function startVertex(t: TestContext, server: TokenServer, respond: Respond, settings: AiSettings = {}) {
  const provider = await startResponder(t, respond)
  const identity: CloudIdentity = {
    by: 'service_account',
    email: 'robot@acme.iam.gserviceaccount.com',
    keyId: 'key-1',
    privateKey: pem,
    tokenUrl: `${server.url}/token`,
  }
  const config = {
    url: provider.url,
    resources: ['us-central1', 'global'],
    project: 'acme',
    identity,
    ...trusting(server),
  }
  const ai = await startAi(t, { 'google-vertex-ai': config }, settings)
  const ask = (path: string, body: object) =>
    ai.edge.ask(call(path, JSON.stringify(body), `svc-aig-authorization: Bearer ${ai.token}`))
  const rest = (path: string, body: object) =>
    ai.edge.ask(call(ai.rest + path, JSON.stringify(body), `Authorization: Bearer ${ai.token}`))
  return { provider, ai, ask, rest }
}

test('a service account proves itself by a signed assertion, whatever the clock of this machine says', async t => {
  const key = await importSPKI(spki, 'RS256')
  const clock = new ManualClock(Date.now() - 3 * 3_600_000)
  const server = await startTokenServer(t, async ({ form }, response) => {
    const verified = await jwtVerify(form.get('assertion')!, key, {
      audience: `${server.url}/token`,
      issuer: 'robot@acme.iam.gserviceaccount.com',
    }).catch(() => null)
    if (verified === null) return deny(response, 400, { error: 'invalid_grant' })
    equal(verified.protectedHeader.kid, 'key-1')
    equal(verified.payload.scope, 'https://www.googleapis.com/auth/cloud-platform')
    grant(response, 'google-token')
  })
  const { rest, provider } = await startVertex(t, server, () => json(completion), { ...patient, clock })
  const response = await rest('/v1/chat/completions', {
    model: 'google-vertex-ai/gemini-2.5-flash',
    messages: [],
  })
  equal(response.status, 200)
  equal(server.asked.length, 2)
  equal(server.asked[0]!.form.get('grant_type'), 'urn:ietf:params:oauth:grant-type:jwt-bearer')
  const [sent] = provider.requests
  equal(sent!.target, '/v1/projects/acme/locations/us-central1/endpoints/openapi/chat/completions')
  equal(sent!.field('authorization'), 'Bearer google-token')
  equal(JSON.parse(sent!.text).model, 'google/gemini-2.5-flash')
})

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5-20250929',
  content: [{ type: 'text', text: 'Hello.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 4 },
}

test('Claude on Vertex is called by its own path, with the version in place of the model', async t => {
  const server = await startTokenServer(t, (_, response) => grant(response, 'google-token'))
  const { rest, provider, ai } = await startVertex(t, server, () => json(message))
  const request = {
    model: 'google-vertex-ai/global/anthropic/claude-sonnet-4-5@20250929',
    max_tokens: 9,
    messages: [],
  }
  equal((await rest('/v1/messages', request)).status, 200)
  const [sent] = provider.requests
  equal(
    sent!.target,
    '/v1/projects/acme/locations/global/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict',
  )
  deepEqual(JSON.parse(sent!.text), {
    anthropic_version: 'vertex-2023-10-16',
    max_tokens: 9,
    messages: [],
  })
  const entry = await ai.entry()
  deepEqual(
    [entry.provider, entry.model, entry.tokensIn, entry.tokensOut],
    ['google-vertex-ai', 'claude-sonnet-4-5@20250929', 10, 4],
  )
  ok(entry.cost! > 0)
  const chat = {
    model: 'google-vertex-ai/claude-haiku-4-5',
    messages: [{ role: 'user', content: 'Hello?' }],
    stream: false,
  }
  const translated = await rest('/v1/chat/completions', chat)
  equal(JSON.parse(translated.text).choices[0].message.content, 'Hello.')
  match(
    provider.requests.at(-1)!.target,
    /us-central1\/publishers\/anthropic\/models\/claude-haiku-4-5:rawPredict$/,
  )
  await rest('/v1/messages', { ...request, stream: true })
  match(provider.requests.at(-1)!.target, /:streamRawPredict$/)
  equal(JSON.parse(provider.requests.at(-1)!.text).stream, true)
})

test('native calls to Vertex go to the location of their path, within the project of the configuration', async t => {
  const server = await startTokenServer(t, (_, response) => grant(response, 'google-token'))
  const { ask, provider, ai } = await startVertex(t, server, () => json({ usageMetadata: {} }))
  const native = ai.native('google-vertex-ai')
  const gemini = '/publishers/google/models/gemini-2.5-flash:generateContent'
  equal((await ask(`${native}/v1/projects/acme/locations/global${gemini}`, {})).status, 200)
  equal(provider.requests[0]!.target, `/v1/projects/acme/locations/global${gemini}`)
  equal(provider.requests[0]!.field('authorization'), 'Bearer google-token')
  const elsewhere = await ask(`${native}/v1/projects/acme/locations/europe-west4${gemini}`, {})
  equal(elsewhere.status, 404)
  match(elsewhere.text, /one of the locations .* us-central1, global/)
  for (const path of [
    `/v1/projects/other/locations/global${gemini}`,
    '/v1/projects/acme/locations/global/customJobs',
  ])
    match((await ask(native + path, {})).text, /calls only models, and those of its own project/)
  equal(provider.requests.length, 1)
  const own = await ai.edge.ask(
    call(
      `${native}/v1/projects/other/locations/global${gemini}`,
      '{}',
      `svc-aig-authorization: Bearer ${ai.token}`,
      'Authorization: Bearer ya29.own',
    ),
  )
  equal(own.status, 200)
  equal(provider.requests.at(-1)!.field('authorization'), 'Bearer ya29.own')
})

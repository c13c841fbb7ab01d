// Amazon Bedrock: signed calls, streams in frames, and credentials from wherever a machine of AWS has them.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { CloudIdentity } from '../../src/config/model/cloud-config.ts'
import type { ProviderConfig } from '../../src/config/model/config.ts'
import { type AiSettings, call, completion, json, startAi } from '../help/ai.ts'
import { chunk, frame } from '../help/aws-frames.ts'
import { signatureOf } from '../help/aws-signature.ts'
import { ManualClock, patient } from '../help/clock.ts'
import { type Respond, startResponder } from '../help/origin.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { deny, startTokenServer, type TokenServer } from '../help/token-server.ts'

const credentials = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
}
const keys: CloudIdentity = { by: 'aws_keys', ...credentials, sessionToken: null }
const model = 'us.anthropic.claude-haiku-4-5-20251001-v1:0'
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-haiku-4-5-20251001',
  content: [{ type: 'text', text: 'Hello.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 4 },
}

async function start(
  t: TestContext,
  respond: Respond,
  { bedrock = {}, ...settings }: AiSettings & { readonly bedrock?: Partial<ProviderConfig> } = {},
) {
  const provider = await startResponder(t, respond)
  const config = { url: provider.url, resources: ['us-east-1', 'eu-west-1'], identity: keys, ...bedrock }
  const other = await startResponder(t, () => json(completion))
  const ai = await startAi(
    t,
    { 'aws-bedrock': config, 'custom-other': { url: `${other.url}/v1`, keys: ['k'] } },
    settings,
  )
  const rest = (path: string, body: object, ...fields: string[]) =>
    ai.edge.ask(call(ai.rest + path, JSON.stringify(body), `Authorization: Bearer ${ai.token}`, ...fields))
  const native = (path: string, body: object, ...fields: string[]) =>
    ai.edge.ask(
      call(
        ai.native('aws-bedrock') + path,
        JSON.stringify(body),
        ...(fields.length > 0 ? fields : [`svc-aig-authorization: Bearer ${ai.token}`]),
      ),
    )
  return { provider, ai, rest, native, other }
}

const framed = (...frames: Buffer[]) => {
  const body = Buffer.concat(frames)
  const head = `HTTP/1.1 200 OK\r\nContent-Type: application/vnd.amazon.eventstream\r\nContent-Length: ${body.length}\r\n\r\n`
  return `${head}${body.toString('latin1')}`
}
const events = [
  {
    type: 'message_start',
    message: { ...message, content: [], usage: { input_tokens: 10, output_tokens: 1 } },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello.' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } },
  {
    type: 'message_stop',
    'amazon-bedrock-invocationMetrics': { inputTokenCount: 10, outputTokenCount: 4, invocationLatency: 9 },
  },
]
const stream = () => framed(...events.map(event => chunk(JSON.stringify(event))))

test('Claude is invoked by a signed call, without model and stream', async t => {
  const { rest, provider, ai } = await start(t, () => json(message))
  const request = {
    model: `aws-bedrock/${model}`,
    max_tokens: 9,
    messages: [{ role: 'user', content: 'Grüße' }],
  }
  equal((await rest('/v1/messages', { ...request, stream: false })).status, 200)
  const [sent] = provider.requests
  equal(sent!.target, '/model/us.anthropic.claude-haiku-4-5-20251001-v1%3A0/invoke')
  deepEqual(JSON.parse(sent!.body.toString()), {
    anthropic_version: 'bedrock-2023-05-31',
    max_tokens: 9,
    messages: [{ role: 'user', content: 'Grüße' }],
  })
  equal(sent!.field('authorization'), await signatureOf(sent!, 'us-east-1', credentials))
  match(
    sent!.field('authorization')!,
    /^AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\/\d{8}\/us-east-1\/bedrock\/aws4_request, SignedHeaders=host;x-amz-date,/,
  )
  const entry = await ai.entry()
  deepEqual([entry.model, entry.tokensIn, entry.tokensOut], [model, 10, 4])
  ok(entry.cost! > 0)
  await rest('/v1/messages', { ...request, model: `aws-bedrock/eu-west-1/${model}` })
  const second = provider.requests.at(-1)!
  equal(second.field('authorization'), await signatureOf(second, 'eu-west-1', credentials))
})

test('profiles and sessions are signed for, and betas that Bedrock knows go into the body', async t => {
  const session = { ...credentials, sessionToken: 'session/token+==' }
  const { rest, provider } = await start(t, () => json(message), {
    bedrock: { identity: { by: 'aws_keys', ...session } },
  })
  const arn =
    'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-haiku-4-5-20251001-v1:0'
  const betas = 'anthropic-beta: context-1m-2025-08-07, claude-code-20250219'
  const response = await rest(
    '/v1/messages',
    { model: `aws-bedrock/${arn}`, max_tokens: 1, messages: [] },
    betas,
  )
  equal(response.status, 200)
  equal(response.field('svc-aig-dropped'), 'anthropic-beta')
  const [sent] = provider.requests
  equal(sent!.target, `/model/${encodeURIComponent(arn)}/invoke`)
  deepEqual(JSON.parse(sent!.text).anthropic_beta, ['context-1m-2025-08-07'])
  equal(sent!.field('x-amz-security-token'), session.sessionToken)
  equal(sent!.field('authorization'), await signatureOf(sent!, 'us-east-1', session))
})

test('a stream of Claude arrives as the events of Messages, and as chunks for callers of chats', async t => {
  const { rest, provider, ai } = await start(t, stream)
  const request = {
    model: `aws-bedrock/${model}`,
    max_tokens: 9,
    stream: true,
    messages: [{ role: 'user', content: 'Hi' }],
  }
  const response = await rest('/v1/messages', request)
  equal(response.field('content-type'), 'text/event-stream; charset=utf-8')
  equal(
    response.text,
    events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
  )
  match(provider.requests[0]!.target, /\/invoke-with-response-stream$/)
  const entry = await ai.entry()
  deepEqual([entry.tokensIn, entry.tokensOut], [10, 4])
  const chat = await rest('/v1/chat/completions', request)
  match(chat.text, /"content":"Hello\."/)
  match(chat.text, /data: \[DONE\]\n\n$/)
})

test('a stream that begins with an exception leaves the call to the next model, and a broken one is an error', async t => {
  const step = (model: string) => ({ model, timeout: null, retries: 0, weight: null })
  const models = [{ name: 'fast', steps: [step(`aws-bedrock/${model}`), step('custom-other/small')] }]
  const exception = { ':message-type': 'exception', ':exception-type': 'throttlingException' }
  let body = framed(frame(exception, '{"message":"Slow down."}'))
  const { rest, other } = await start(t, () => body, { ai: { models } })
  const request = { model: 'fast', stream: true, messages: [{ role: 'user', content: 'Hi' }] }
  equal((await rest('/v1/chat/completions', request)).status, 200)
  equal(other.requests.length, 1)
  const broken = chunk(JSON.stringify(events[0]))
  broken[20]! ^= 1
  body = framed(broken)
  const bad = await rest('/v1/messages', { ...request, model: `aws-bedrock/${model}`, max_tokens: 1 })
  equal(bad.status, 502)
})

test('other models are called by the API of chats', async t => {
  const { rest, provider } = await start(t, () => json(completion))
  const response = await rest('/v1/chat/completions', {
    model: 'aws-bedrock/openai.gpt-oss-120b-1:0',
    messages: [],
  })
  equal(response.status, 200)
  const [sent] = provider.requests
  equal(sent!.target, '/openai/v1/chat/completions')
  equal(JSON.parse(sent!.text).model, 'openai.gpt-oss-120b-1:0')
  equal(sent!.field('authorization'), await signatureOf(sent!, 'us-east-1', credentials))
})

test('native calls are signed for the region of their path, and their frames pass as they are', async t => {
  const usage = { inputTokens: 30, outputTokens: 6, totalTokens: 36 }
  const frames = [
    frame({ ':message-type': 'event', ':event-type': 'messageStart' }, '{"role":"assistant"}'),
    frame(
      { ':message-type': 'event', ':event-type': 'metadata' },
      JSON.stringify({ usage, metrics: { latencyMs: 1 } }),
    ),
  ]
  const { native, provider, ai } = await start(t, () => framed(...frames))
  const path = '/bedrock-runtime/eu-west-1/model/amazon.nova-lite-v1%3A0/converse-stream'
  const response = await native(path, { messages: [] })
  equal(response.field('content-type'), 'application/vnd.amazon.eventstream')
  deepEqual(response.body, Buffer.concat(frames))
  const [sent] = provider.requests
  equal(sent!.target, '/model/amazon.nova-lite-v1%3A0/converse-stream')
  equal(sent!.field('authorization'), await signatureOf(sent!, 'eu-west-1', credentials))
  const entry = await ai.entry()
  deepEqual([entry.model, entry.tokensIn, entry.tokensOut], ['amazon.nova-lite-v1:0', 30, 6])
})

test('usage is read from metrics and from the head where the model reports none', async t => {
  const metrics = { inputTokenCount: 7, outputTokenCount: 3 }
  let response = framed(
    chunk('{"generation":"Hi"}'),
    chunk(JSON.stringify({ generation: '', 'amazon-bedrock-invocationMetrics': metrics })),
  )
  const { native, ai } = await start(t, () => response)
  await native(
    '/bedrock-runtime/us-east-1/model/meta.llama3-8b-instruct-v1:0/invoke-with-response-stream',
    {},
  )
  const streamed = await ai.entry()
  deepEqual([streamed.tokensIn, streamed.tokensOut], [7, 3])
  const counts = ['X-Amzn-Bedrock-Input-Token-Count: 8', 'X-Amzn-Bedrock-Output-Token-Count: 2']
  response = json({ generation: 'Hi' }, ...counts)
  await native('/bedrock-runtime/us-east-1/model/meta.llama3-8b-instruct-v1:0/invoke', {})
  const [whole] = await ai.logged(2)
  deepEqual([whole!.tokensIn, whole!.tokensOut], [8, 2])
})

test('a signature of the caller passes as it is, and other calls are only those of models', async t => {
  const { native, provider, ai } = await start(t, () => json({}))
  const own = [
    `svc-aig-authorization: Bearer ${ai.token}`,
    'Authorization: AWS4-HMAC-SHA256 Credential=AKIACALLER0EXAMPLE1/20260101/us-east-1/bedrock/aws4_request, SignedHeaders=host, Signature=00',
    'X-Amz-Date: 20260101T000000Z',
    'X-Amz-Security-Token: of-the-caller',
  ]
  equal((await native('/bedrock-runtime/us-east-1/async-invoke', {}, ...own)).status, 200)
  const [sent] = provider.requests
  match(sent!.field('authorization')!, /Credential=AKIACALLER0EXAMPLE1/)
  deepEqual(
    [sent!.all('x-amz-date'), sent!.field('x-amz-security-token')],
    [['20260101T000000Z'], 'of-the-caller'],
  )
  match((await native('/bedrock-runtime/us-east-1/async-invoke', {})).text, /calls only models/)
  match(
    (await native('/bedrock-runtime/us-west-2/model/m/converse', {})).text,
    /one of the regions .* us-east-1, eu-west-1/,
  )
  // SDKs of AWS sign whatever credentials they have.
  const stray = [
    `svc-aig-authorization: Bearer ${ai.token}`,
    'Authorization: AWS4-HMAC-SHA256 Credential=gateway/20200101/us-east-1/bedrock/aws4_request, SignedHeaders=host, Signature=00',
    'X-Amz-Date: 20200101T000000Z',
  ]
  equal((await native('/bedrock-runtime/us-east-1/model/m/converse', {}, ...stray)).status, 200)
  const last = provider.requests.at(-1)!
  equal(last.all('x-amz-date').length, 1)
  equal(last.field('authorization'), await signatureOf(last, 'us-east-1', credentials))
})

test('keys of Bedrock are bearer tokens', async t => {
  const { rest, provider } = await start(t, () => json(message), {
    bedrock: { identity: null, keys: ['bedrock-api-key'] },
  })
  await rest('/v1/messages', { model: `aws-bedrock/${model}`, max_tokens: 1, messages: [] })
  equal(provider.requests[0]!.field('authorization'), 'Bearer bedrock-api-key')
})

test('signatures follow the clock of AWS where it refuses those by ours', async t => {
  const clock = new ManualClock()
  const ahead = 3_600_000
  const { rest, provider } = await start(
    t,
    request => {
      const now = clock.now() + ahead
      const signedAt = Date.parse(
        request.field('x-amz-date')!.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'),
      )
      if (Math.abs(now - signedAt) < 300_000) return json(message)
      return `HTTP/1.1 403 No\r\nDate: ${new Date(now).toUTCString()}\r\nx-amzn-ErrorType: InvalidSignatureException\r\nContent-Length: 0\r\n\r\n`
    },
    { ...patient, clock },
  )
  const request = { model: `aws-bedrock/${model}`, max_tokens: 1, messages: [] }
  equal((await rest('/v1/messages', request)).status, 200)
  equal((await rest('/v1/messages', request)).status, 200)
  equal(provider.requests.length, 3)
})

const made = (id: string, seconds = 3600) => ({
  AccessKeyId: id,
  SecretAccessKey: 'secret',
  Token: 'session',
  Expiration: new Date(Date.now() + seconds * 1000).toISOString(),
})

/** Sets variables of the environment until the test ends. */
function withEnv(t: TestContext, variables: Readonly<Record<string, string>>): void {
  const before = Object.keys(variables).map(name => [name, process.env[name]] as const)
  Object.assign(process.env, variables)
  t.after(() => {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
  })
}

const machine: CloudIdentity = { by: 'aws_machine', region: 'us-east-1' }
const first = { model: `aws-bedrock/${model}`, max_tokens: 1, messages: [] }

test('a workload assumes a role by its token', async t => {
  const file = join(quickFolder(t, 'aws'), 'token')
  writeFileSync(file, 'workload-token\n')
  const server: TokenServer = await startTokenServer(t, ({ form }, response) => {
    if (form.get('WebIdentityToken') !== 'workload-token')
      return deny(response, 400, { Error: { Code: 'InvalidIdentityToken', Message: 'no' } })
    const { Token: SessionToken, Expiration, ...rest } = made('ASIAROLE')
    const Credentials = { ...rest, SessionToken, Expiration: Date.parse(Expiration) / 1000 }
    const result = { AssumeRoleWithWebIdentityResult: { Credentials } }
    return deny(response, 200, { AssumeRoleWithWebIdentityResponse: result })
  })
  const roleArn = 'arn:aws:iam::123456789012:role/gatehouse'
  const identity: CloudIdentity = { by: 'aws_role', roleArn, file, url: server.url, region: 'us-east-1' }
  const tls = { verify: true, serverName: null, ca: server.ca, identity: null }
  const { rest, provider } = await start(t, () => json(message), { bedrock: { identity, tls } })
  equal((await rest('/v1/messages', first)).status, 200)
  const [asked] = server.asked
  deepEqual(Object.fromEntries(asked!.form), {
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: roleArn,
    RoleSessionName: 'gatehouse',
    WebIdentityToken: 'workload-token',
  })
  equal(asked!.headers.accept, 'application/json')
  const [sent] = provider.requests
  const role = { accessKeyId: 'ASIAROLE', secretAccessKey: 'secret', sessionToken: 'session' }
  equal(sent!.field('authorization'), await signatureOf(sent!, 'us-east-1', role))
})

test('a container has credentials at its endpoint', async t => {
  const server = await startTokenServer(t, (_, response) => deny(response, 200, made('ASIATASK')), {
    isPlain: true,
  })
  withEnv(t, {
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${server.url}/creds`,
    AWS_CONTAINER_AUTHORIZATION_TOKEN: 'container-token',
  })
  const { rest, provider } = await start(t, () => json(message), { bedrock: { identity: machine } })
  equal((await rest('/v1/messages', first)).status, 200)
  equal(server.asked[0]!.headers.authorization, 'container-token')
  match(provider.requests[0]!.field('authorization')!, /Credential=ASIATASK\//)
})

test('an instance has those of its role, by the second version of the metadata service', async t => {
  const server = await startTokenServer(
    t,
    ({ method, path, headers }, response) => {
      if (method === 'PUT') return response.end('imds-token')
      if (headers['x-aws-ec2-metadata-token'] !== 'imds-token') return deny(response, 401, {})
      if (path.endsWith('/security-credentials/')) return response.end('my-role')
      return deny(response, 200, { Code: 'Success', ...made('ASIAHOST') })
    },
    { isPlain: true },
  )
  withEnv(t, { AWS_EC2_METADATA_SERVICE_ENDPOINT: server.url })
  const { rest, provider } = await start(t, () => json(message), { bedrock: { identity: machine } })
  equal((await rest('/v1/messages', first)).status, 200)
  match(provider.requests[0]!.field('authorization')!, /Credential=ASIAHOST\//)
})

test('a machine without a role gets an error, and no call is sent', async t => {
  const server = await startTokenServer(t, (_, response) => deny(response, 404, {}), { isPlain: true })
  withEnv(t, { AWS_EC2_METADATA_SERVICE_ENDPOINT: server.url })
  const { rest, provider } = await start(t, () => json(message), { bedrock: { identity: machine } })
  const response = await rest('/v1/messages', first)
  equal(response.status, 503)
  match(response.text, /could not get a key for aws-bedrock/)
  equal(provider.requests.length, 0)
})

test('native streams in frames are reused as they came, if they came to their end', async t => {
  const whole = events.map(event => chunk(JSON.stringify(event)))
  const metadata = { usage: { inputTokens: 10, outputTokens: 4 } }
  const converse = [
    frame(event('contentBlockDelta'), JSON.stringify({ delta: { text: 'Hello.' }, contentBlockIndex: 0 })),
    frame(event('messageStop'), '{"stopReason":"end_turn"}'),
    frame(event('metadata'), JSON.stringify(metadata)),
  ]
  const broken = Buffer.from(whole.at(-1)!)
  broken[broken.length - 1]! ^= 1
  const failed = frame({ ':message-type': 'exception', ':exception-type': 'throttlingException' }, '{}')
  for (const [frames, isReused] of [
    [whole, true],
    [converse, true],
    [whole.slice(0, -1), false],
    [[...whole.slice(0, -1), broken], false],
    [[...whole, failed], false],
    [[...whole, Buffer.from('rest')], false],
    [converse.slice(0, 1), false],
  ] as const) {
    const { native, ai } = await start(t, () => framed(...frames), { gateway: { cacheTtl: 60 } })
    const path = `/model/${model}/${frames === converse ? 'converse' : 'invoke-with-response'}-stream`
    const [first, second] = [await native(path, { messages: [] }), await native(path, { messages: [] })]
    equal(first.field('svc-aig-cache-status'), 'MISS')
    equal(second.field('svc-aig-cache-status'), isReused ? 'HIT' : 'MISS')
    deepEqual(second.body, first.body)
    equal(second.field('content-type'), 'application/vnd.amazon.eventstream')
    const [entry] = await ai.logged(2)
    deepEqual([entry!.cached, entry!.saved?.tokensOut], isReused ? [true, 4] : [false, undefined])
  }
})

const event = (type: string) => ({ ':message-type': 'event', ':event-type': type })

test('a guard that blocks or redacts stops streams in frames, and one that flags says that it could not look', async t => {
  for (const action of ['block', 'redact', 'flag'] as const) {
    const rule = { id: 'all', isEnabled: true, action, checks: ['response'], patterns: ['*'] } as const
    const { native } = await start(t, stream, { gateway: { guard: { isEnabled: true, rules: [rule] } } })
    const response = await native(`/model/${model}/invoke-with-response-stream`, { messages: [] })
    const isFlag = action === 'flag'
    equal(response.status, isFlag ? 200 : 403)
    match(response.field('svc-aig-dlp')!, /"unreadable"/)
    equal(response.body.includes('Hello.'), false)
    equal(response.field('content-type')!.includes('eventstream'), isFlag)
  }
})

// The list of models that a caller may call, as the published clients read it, and counts of tokens.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { type AiEdge, type AiSettings, call, startAi } from '../help/ai.ts'
import { HaltingClock } from '../help/clock.ts'
import { type Asked, type Reply, say, startProvider } from '../help/provider.ts'
import { until } from '../help/until.ts'

const ofOpenai = { object: 'list', data: [{ id: 'gpt-5', object: 'model', created: 7, owned_by: 'openai' }] }
const ofAnthropic = {
  data: [
    {
      type: 'model',
      id: 'claude-opus-5-5',
      display_name: 'Claude Opus 5.5',
      created_at: '2026-02-03T04:05:06Z',
    },
    {
      type: 'model',
      id: 'claude-haiku-5-5',
      display_name: 'Claude Haiku 5.5',
      created_at: '2026-02-03T00:00:00Z',
    },
  ],
  has_more: false,
}

const lists: Reply = ({ path }, response) => {
  if (path.startsWith('/v1/messages/count_tokens')) say(response, { input_tokens: 42 })
  else say(response, path.includes('limit') ? ofAnthropic : ofOpenai)
}

async function start(t: TestContext, reply: Reply = lists, settings: AiSettings = {}) {
  const provider = await startProvider(t, reply)
  const step = { model: 'anthropic/claude-haiku-5-5', weight: null, timeout: null, retries: 0 }
  const ai = await startAi(
    t,
    {
      openai: { url: `${provider.url}/v1`, keys: ['sk-openai'] },
      anthropic: { url: provider.url, keys: ['sk-anthropic'], speaks: 'anthropic' },
      mistral: {},
    },
    { ...settings, ai: { models: [{ name: 'fast', steps: [step] }] } },
  )
  return { provider, ai, ...clients(ai) }
}

function clients(ai: AiEdge) {
  const base = `http://127.0.0.1:${ai.edge.port}`
  return {
    openai: new OpenAI({ baseURL: `${base}/v1`, apiKey: ai.token, maxRetries: 0 }),
    rest: new OpenAI({ baseURL: `${base}${ai.rest}/v1`, apiKey: ai.token, maxRetries: 0 }),
    anthropic: new Anthropic({ baseURL: base, authToken: ai.token, apiKey: null, maxRetries: 0 }),
  }
}

async function all<T extends { readonly id: string }>(pages: AsyncIterable<T>): Promise<readonly T[]> {
  const models: T[] = []
  for await (const model of pages) models.push(model)
  return models
}

const ids = [
  'fast',
  'gpt-5',
  'claude-opus-5-5',
  'claude-haiku-5-5',
  'openai/gpt-5',
  'anthropic/claude-opus-5-5',
  'anthropic/claude-haiku-5-5',
]

test('the clients of OpenAI list and retrieve models by every name that calls may use', async t => {
  const { openai, rest, provider } = await start(t)
  for (const client of [openai, rest]) {
    const models = await all(await client.models.list())
    assert.deepEqual(
      models.map(({ id }) => id),
      ids,
    )
    assert.deepEqual(models[4], { id: 'openai/gpt-5', object: 'model', created: 7, owned_by: 'openai' })
  }
  assert.equal((await openai.models.retrieve('openai/gpt-5')).owned_by, 'openai')
  await assert.rejects(openai.models.retrieve('gpt-6'), (error: { status: number }) => error.status === 404)
  assert.equal(provider.asked.length, 2)
  assert.deepEqual(provider.asked.map(keyOf).sort(), [
    '/v1/models Bearer sk-openai',
    '/v1/models?limit=1000 sk-anthropic',
  ])
})

function keyOf({ path, headers }: Asked): string {
  return `${path} ${headers.authorization ?? headers['x-api-key']}`
}

test('the client of Anthropic reads one page after another, forwards and backwards', async t => {
  const { anthropic } = await start(t)
  const models = await all(await anthropic.models.list({ limit: 2 }))
  assert.deepEqual(
    models.map(({ id }) => id),
    ids,
  )
  assert.deepEqual(models[2], {
    type: 'model',
    id: 'claude-opus-5-5',
    display_name: 'Claude Opus 5.5',
    created_at: '2026-02-03T04:05:06Z',
  })
  const before = await anthropic.models.list({ limit: 3, before_id: 'openai/gpt-5' })
  assert.deepEqual(
    before.data.map(({ id }) => id),
    ids.slice(1, 4),
  )
  assert.equal(before.has_more, true)
  assert.equal((await anthropic.models.retrieve('anthropic/claude-opus-5-5')).display_name, 'Claude Opus 5.5')
  for (const query of [
    { limit: 0 },
    { limit: 1001 },
    { after_id: 'x' },
    { after_id: 'fast', before_id: 'gpt-5' },
  ])
    await assert.rejects(anthropic.models.list(query), (error: { status: number }) => error.status === 400)
})

test('a list needs a token, is read alone, and is not logged', async t => {
  const { ai, openai } = await start(t)
  const ask = (method: string, ...fields: string[]) =>
    ai.edge.ask([`${method} /v1/models HTTP/1.1`, 'Host: ai.test', ...fields, '', ''].join('\r\n'))
  assert.equal((await ask('GET')).status, 401)
  const posted = await ask('POST', `Authorization: Bearer ${ai.token}`, 'Content-Length: 0')
  assert.equal(posted.status, 405)
  await openai.models.list()
  assert.equal(await logged(ai), 0)
})

async function logged(ai: AiEdge): Promise<number> {
  await ai.logs.close()
  const query = { filters: [], orderBy: 'created_at', descending: true, offset: 0, limit: 1 } as const
  return (await ai.store.logs.list(ai.account, 'default', query)).total
}

test('a token sees the models that it may call alone', async t => {
  const { ai } = await start(t)
  const token = await ai.mint({ models: ['anthropic/*', 'fast'] })
  const client = new OpenAI({ baseURL: `http://127.0.0.1:${ai.edge.port}/v1`, apiKey: token, maxRetries: 0 })
  const models = await all(await client.models.list())
  const mine = ids.filter(id => !id.includes('gpt'))
  assert.deepEqual(
    models.map(({ id }) => id),
    mine,
  )
})

test('a provider that does not respond holds a list up for two seconds at most', async t => {
  const { openai, anthropic } = await start(t, ({ path }, response) => {
    if (path.includes('limit')) response.end(JSON.stringify(ofAnthropic))
  })
  const clock = new HaltingClock(t)
  const began = clock.monotonic()
  const models = await all(await openai.models.list())
  assert.ok(clock.monotonic() - began < 2_000)
  assert.ok(models.some(({ id }) => id === 'claude-opus-5-5'))
  // Known by its price.
  assert.ok(models.some(({ id }) => id === 'openai/gpt-4o-mini'))
  await anthropic.models.list()
})

test('after a reload, lists are asked for again, also while an earlier request waits', async t => {
  const waiting: Parameters<Reply>[1][] = []
  const list = (id: string) => ({ object: 'list', data: [{ id, object: 'model', created: 7 }] })
  let reply: Reply = (_, response) => void response.writeHead(503).end()
  const { ai, openai } = await start(t, (asked, response) => reply(asked, response))
  const models = async () => (await all(openai.models.list())).map(({ id }) => id)
  assert.equal((await models()).includes('openai/mended'), false)
  reply = (_, response) => say(response, list('mended'))
  assert.equal((await models()).includes('openai/mended'), false)
  ai.edge.reload({ ...ai.edge.config })
  assert.ok((await models()).includes('openai/mended'))

  ai.edge.reload({ ...ai.edge.config })
  reply = (_, response) => void waiting.push(response)
  const late = models()
  await until(() => waiting.length === 2)
  reply = (_, response) => say(response, list('newer'))
  ai.edge.reload({ ...ai.edge.config })
  await until(async () => (await models()).includes('openai/newer'))
  for (const response of waiting) say(response, list('older'))
  await late
  assert.ok((await models()).includes('openai/newer'))
})

const messages = [{ role: 'user' as const, content: 'Hi, how are you?' }]

test('tokens are counted by a provider of Messages, for its models and aliases', async t => {
  const { anthropic, provider, ai } = await start(t)
  for (const model of ['claude-opus-5-5', 'anthropic/claude-opus-5-5', 'fast']) {
    const { data, response } = await anthropic.messages.countTokens({ model, messages }).withResponse()
    assert.equal(data.input_tokens, 42)
    assert.equal(response.headers.get('svc-aig-estimated'), null)
  }
  const asked = provider.asked.map(({ path, body }) => `${path} ${body.model as string}`)
  assert.deepEqual(asked, [
    '/v1/messages/count_tokens claude-opus-5-5',
    '/v1/messages/count_tokens claude-opus-5-5',
    '/v1/messages/count_tokens claude-haiku-5-5',
  ])
  // As Claude Code asks, many at once.
  const body = JSON.stringify({ model: 'claude-opus-5-5', messages })
  const counted = await Promise.all(
    Array.from({ length: 14 }, () =>
      ai.edge.ask(call('/v1/messages/count_tokens?beta=true', body, `Authorization: Bearer ${ai.token}`)),
    ),
  )
  assert.ok(counted.every(({ status, text }) => status === 200 && text === '{"input_tokens":42}'))
  assert.equal(provider.asked[3]!.path, '/v1/messages/count_tokens?beta=true')
  assert.equal(await logged(ai), 0)
})

test('tokens are estimated where the provider has no counts', async t => {
  const { anthropic, provider } = await start(t)
  const count = (content: Anthropic.MessageParam['content']) =>
    anthropic.messages
      .countTokens({ model: 'openai/gpt-5', messages: [{ role: 'user', content }] })
      .withResponse()
  const { data, response } = await count('x'.repeat(400))
  assert.equal(response.headers.get('svc-aig-estimated'), 'true')
  assert.ok(data.input_tokens >= 100 && data.input_tokens < 110)
  const source = { type: 'base64' as const, media_type: 'image/png' as const, data: 'A'.repeat(40_000) }
  const image = await count([{ type: 'image', source }])
  assert.ok(image.data.input_tokens > 1_500 && image.data.input_tokens < 1_700)
  assert.equal(provider.asked.length, 0)
  await assert.rejects(
    anthropic.messages.countTokens({ model: 'nobody/x', messages }),
    (error: { status: number }) => error.status === 404,
  )
})

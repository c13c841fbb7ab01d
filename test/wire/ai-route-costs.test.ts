// Rates of dynamic routes by what calls cost: who costs more goes beyond, whatever happens at the same time.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { compileElements } from '../../src/ai/failover/route-elements.ts'
import type { RateNode } from '../../src/ai/failover/model-route.ts'
import { rateBucket } from '../../src/edge/meter/route-rates.ts'
import { type ModelRoute, type RouteElement, routeOwner } from '../../src/store/records/model-route.ts'
import { type AiEdge, type AiSettings, call, completion, json, startAi } from '../help/ai.ts'
import { costOf, hasty, prices } from '../help/budgeted.ts'
import { startResponder } from '../help/origin.ts'
import { startRedis } from '../help/redis.ts'
import { until } from '../help/until.ts'

const usage = { prompt_tokens: 10, completion_tokens: 100, total_tokens: 110 }
/** What a call costs, in nanodollars and in dollars. */
const price = costOf(10, 100)
const dollars = price / 1e9
const failover = { statuses: [503], maxAttempts: 4, deadline: 0, retryWithin: 0 }

const to = (elementId: string) => ({ elementId })
const start: RouteElement = { id: 'start', type: 'start', outputs: { next: to('cost') } }
const end: RouteElement = { id: 'end', type: 'end', outputs: {} }
const model = (id: string, name: string, fallback = 'end'): RouteElement => ({
  id,
  type: 'model',
  properties: {
    ...{ provider: name.split('/')[0]!, model: name.split('/')[1]! },
    ...{ timeout: 20_000, retries: 0 },
  },
  outputs: { success: to('end'), fallback: to(fallback) },
})
const big = model('big', 'openai/gpt-4o')
const small = model('small', 'groq/llama')
const cost = (
  limit: number,
  changes: { key?: string; beyond?: string; within?: string; id?: string } = {},
) => {
  const { key = 'gateway', beyond = 'small', within = 'big', id = 'cost' } = changes
  return {
    ...({ id, type: 'rate' } as const),
    properties: { ...({ limitType: 'cost', window: 86_400 } as const), key, limit },
    outputs: { success: to(within), fallback: to(beyond) },
  }
}

const routeId = 'a'.repeat(32)

async function open(t: TestContext, elements: readonly RouteElement[], settings: AiSettings = {}) {
  const asked: string[] = []
  const serve = (status = '200 OK') =>
    startResponder(t, ({ body }) => {
      const { model, stream } = JSON.parse(body.toString())
      asked.push(model)
      const response = json({ ...completion, model, usage })
      return stream === true ? streamed(model) : response.replace('200 OK', status)
    })
  const [good, bad] = [await serve(), await serve('503 Service Unavailable')]
  const ai = await startAi(
    t,
    {
      openai: { url: good.url, keys: ['sk-1'] },
      groq: { url: good.url, keys: ['sk-2'] },
      mistral: { url: bad.url, keys: ['sk-3'] },
    },
    { budgets: hasty, ...settings, ai: { prices, failover, ...settings.ai } },
  )
  const owner = routeOwner({ account: ai.account, id: 'default' })
  const version = { id: randomUUID(), elements, createdAt: 0 }
  const route: ModelRoute = {
    ...{ account: owner, id: routeId, name: 'support', createdAt: 0, modifiedAt: 0 },
    versions: [version],
    deployments: [{ id: randomUUID(), version: version.id, createdAt: 0 }],
  }
  if (settings.given === undefined) await ai.store.modelRoutes.insert(route)
  const ask = (more: object = {}, ...fields: string[]) => {
    const text = JSON.stringify({ model: 'dynamic/support', messages: [], max_tokens: 100, ...more })
    const authorization = fields.some(field => field.startsWith('Authorization'))
      ? []
      : [`Authorization: Bearer ${ai.token}`]
    return ai.edge.ask(call(`${ai.rest}/v1/chat/completions`, text, ...authorization, ...fields))
  }
  /** Returns the model that responds, or the status of a refusal, once what it cost is counted. */
  const modelOf = async (...args: Parameters<typeof ask>) => {
    const response = await ask(...args)
    await spentOf(ai, elements)
    return response.status === 200 ? response.field('svc-aig-model') : response.status
  }
  return { ai, ask, modelOf, asked }
}

function streamed(model: string): string {
  const choices = [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }]
  const chunk = { ...completion, object: 'chat.completion.chunk', model, choices, usage }
  const body = `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`
  return `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

/** Returns what is spent of the first rate of a route in nanodollars, once nothing is reserved. */
async function spentOf(
  { store, account }: Pick<AiEdge, 'store' | 'account'>,
  elements: readonly RouteElement[],
  key = '',
): Promise<number> {
  const owner = routeOwner({ account, id: 'default' })
  const rate = compileElements(elements, `${owner}/${routeId}`) as RateNode
  const bucket = rateBucket({ rate, key, before: null }, Date.now())
  let spent = 0
  await until(async () => {
    const [sum] = await store.budgets.read(account, [bucket])
    spent = sum!.spent
    return sum!.leased === 0
  })
  return spent
}

test('calls go beyond a rate once they cost more, and none is refused', async t => {
  const elements = [start, cost(dollars * 2.6), big, small, end]
  const { ai, ask, modelOf } = await open(t, elements)
  deepEqual([await modelOf(), await modelOf()], ['gpt-4o', 'gpt-4o'])
  equal(await spentOf(ai, elements), 2 * price)
  const response = await ask()
  deepEqual([response.status, response.field('svc-aig-model')], [200, 'llama'])
  deepEqual([response.field('svc-aig-step'), response.field('svc-aig-budget')], ['0', null])
  // What was called beyond it does not count.
  equal(await spentOf(ai, elements), 2 * price)
  // A smaller call fits in still.
  equal(await modelOf({ max_tokens: 10 }), 'gpt-4o')
})

test('calls without an entry in the log cost as much, streamed or not', async t => {
  const elements = [start, cost(dollars * 2.6), big, small, end]
  const { ai, modelOf } = await open(t, elements)
  equal(await modelOf({}, 'svc-aig-collect-log: false'), 'gpt-4o')
  equal(await modelOf({ stream: true }, 'svc-aig-collect-log: false'), 'gpt-4o')
  equal(await spentOf(ai, elements), 2 * price)
  equal(await modelOf({}, 'svc-aig-collect-log: false'), 'llama')
})

test('each value of the key has the limit for itself', async t => {
  const elements = [start, cost(dollars * 1.5, { key: 'metadata.user' }), big, small, end]
  const { ai, ask } = await open(t, elements)
  const by = async (user: string) => {
    const response = await ask({}, `svc-aig-metadata: {"user":"${user}"}`)
    await spentOf(ai, elements, JSON.stringify(user))
    return response.field('svc-aig-model')
  }
  deepEqual([await by('ada'), await by('ada'), await by('bob')], ['gpt-4o', 'llama', 'gpt-4o'])
  equal(await spentOf(ai, elements, '"ada"'), price)
})

for (const kind of ['SQLite', 'Redis'])
  test(`however many calls two processes have at once, they cost no more: ${kind}`, async t => {
    const storeUrl = kind === 'SQLite' ? 'sqlite::memory:' : (await startRedis(t)).url
    const elements = [start, cost(dollars * 5.5), big, small, end]
    const one = await open(t, elements, { storeUrl, commandTimeout: 5_000 })
    const { store, account, token } = one.ai
    const other = await open(t, elements, { given: { store, account } })
    const bearer = `Authorization: Bearer ${token}`
    const responses = await Promise.all(
      Array.from({ length: 48 }, (_, i) => (i % 2 === 0 ? one : other).ask({}, bearer)),
    )
    deepEqual(new Set(responses.map(({ status }) => status)), new Set([200]))
    const models = responses.map(response => response.field('svc-aig-model'))
    const within = models.filter(model => model === 'gpt-4o').length
    ok(within >= 1 && within <= 5, String(within))
    equal(await spentOf(one.ai, elements), within * price)
  })

test('where nothing is beyond it, a call is refused like one beyond a rate of calls, or for good', async t => {
  const elements = [start, cost(dollars * 1.5, { beyond: 'end' }), big, end]
  const { ask, modelOf, asked } = await open(t, elements)
  const never = await ask({ max_tokens: 1000 })
  equal(never.status, 403)
  match(never.text, /with max_tokens of at most 1\d\d it could fit/)
  equal(await modelOf(), 'gpt-4o')
  const refused = await ask()
  equal(refused.status, 429)
  match(refused.field('retry-after')!, /^\d+$/)
  match(
    refused.text,
    /The route has a spend limit of \$[\d.]+ every [a-z0-9 ]+ \(\\?"cost\\?"\)\. \$[\d.]+ of it are spent/,
  )
  equal(asked.length, 1)
})

test('a model without a price goes beyond, and is refused where nothing is', async t => {
  const unpriced = model('big', 'openai/unpriced')
  const { modelOf } = await open(t, [start, cost(1), unpriced, small, end])
  equal(await modelOf(), 'llama')
  const alone = await open(t, [start, cost(1, { beyond: 'end' }), unpriced, end])
  equal(await alone.modelOf(), 403)
  const gateway = { unpricedCost: 0.01 }
  const elements = [start, cost(0.015), unpriced, small, end]
  const flat = await open(t, elements, { gateway })
  deepEqual([await flat.modelOf(), await flat.modelOf()], ['unpriced', 'llama'])
  equal(await spentOf(flat.ai, elements), 10_000_000)
})

test('a fallback within a rate counts there, and what failed does not', async t => {
  const failing = model('big', 'mistral/down', 'spare')
  const spare = model('spare', 'openai/gpt-4o')
  const list = [...prices, { ...prices[0]!, model: 'mistral/down' }]
  const elements = [start, cost(dollars * 1.5), failing, spare, small, end]
  const { ai, ask, modelOf } = await open(t, elements, { ai: { prices: list } })
  const response = await ask()
  deepEqual([response.field('svc-aig-model'), response.field('svc-aig-step')], ['gpt-4o', '1'])
  equal(await spentOf(ai, elements), price)
  equal(await modelOf(), 'llama')
})

test('a call leaves by the innermost rate that it exceeds, and counts in those before it', async t => {
  const inner = cost(dollars * 1.5, { id: 'inner', beyond: 'middle' })
  const middle = model('middle', 'openai/gpt-4o')
  const elements = [start, cost(dollars * 2.6, { within: 'inner' }), inner, big, middle, small, end]
  const { ai, ask, asked } = await open(t, elements)
  const models: string[] = []
  for (let i = 0; i < 3; i++) {
    models.push((await ask()).field('svc-aig-model')!)
    await spentOf(ai, elements)
  }
  deepEqual(models, ['gpt-4o', 'gpt-4o', 'llama'])
  equal(await spentOf(ai, elements), 2 * price)
  equal(asked.length, 3)
})

test('budgets of the gateway hold within a rate, and are what is said', async t => {
  const rule = {
    ...({ id: 'all', isEnabled: true, unit: 'cost', limit: dollars * 1.5, window: 'day' } as const),
    ...({ technique: 'fixed', whenUnreachable: 'closed' } as const),
  }
  const elements = [start, cost(1), big, small, end]
  const gateway = { spendLimits: { isEnabled: true, rules: [rule] } }
  const { ask, modelOf } = await open(t, elements, { gateway })
  equal(await modelOf(), 'gpt-4o')
  const refused = await ask()
  equal(refused.status, 429)
  match(refused.field('svc-aig-budget')!, /^"all"/)
})

test('while the store is unreachable, calls go beyond', async t => {
  const redis = await startRedis(t)
  const elements = [start, cost(dollars * 1.5), big, small, end]
  const { modelOf, ask } = await open(t, elements, { storeUrl: redis.url })
  equal(await modelOf(), 'gpt-4o')
  equal(await modelOf(), 'llama')
  await redis.kill()
  const response = await ask()
  deepEqual([response.status, response.field('svc-aig-model')], [200, 'llama'])
})

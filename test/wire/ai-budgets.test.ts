// Spend limits on the wire: what fits is served and counted, what does not is refused plainly, and nothing is free.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import { bucketsOf } from '../../src/budgets/buckets.ts'
import { openStore } from '../../src/store/open.ts'
import type { SpendRule } from '../../src/store/records/budget-rule.ts'
import type { Gateway } from '../../src/store/records/records.ts'
import { type AiSettings, call, completion, json, startAi } from '../help/ai.ts'
import { hasty, prices, rule, spentOf } from '../help/budgeted.ts'
import { HaltingClock } from '../help/clock.ts'
import { startResponder } from '../help/origin.ts'
import { connectTo } from '../help/raw.ts'
import { startRedis } from '../help/redis.ts'
import { temporaryFile } from '../store/sqlite/temporary-file.ts'
import { until } from '../help/until.ts'

const messages = [{ role: 'user', content: 'Hi' }]
const usage = { prompt_tokens: 10, completion_tokens: 100, total_tokens: 110 }
const answer = { ...completion, model: 'gpt-4o', usage }
const failover = { statuses: [503], maxAttempts: 3, deadline: 0, retryWithin: 0 }
/** What a call of it costs, in nanodollars. */
const price = 10 * 1000 + 100 * 10_000

async function start(
  t: TestContext,
  rules: readonly SpendRule[],
  settings: AiSettings = {},
  reply: object = answer,
) {
  const bodies: string[] = []
  const openai = await startResponder(t, ({ body }) => {
    bodies.push(body.toString())
    return json({ ...reply, model: /"model":"([^"]+)"/.exec(body.toString())?.[1] })
  })
  const groq = await startResponder(t, json(answer))
  const ai = await startAi(
    t,
    { openai: { url: openai.url, keys: ['sk-a'] }, groq: { url: groq.url, keys: ['sk-b'] } },
    {
      budgets: hasty,
      ...settings,
      ai: { prices, ...settings.ai },
      gateway: { spendLimits: { isEnabled: true, rules }, ...settings.gateway },
    },
  )
  const ask = (more: object = {}, ...fields: string[]) =>
    ai.edge.ask(
      call(
        `${ai.rest}/v1/chat/completions`,
        JSON.stringify({ model: 'openai/gpt-4o', messages, ...more }),
        `Authorization: Bearer ${ai.token}`,
        ...fields,
      ),
    )
  return { ai, ask, bodies, openai, groq }
}

test('a call is charged what it used, and says what is left', async t => {
  const { ai, ask, bodies } = await start(t, [rule()])
  const response = await ask({ max_tokens: 200 })
  assert.equal(response.status, 200)
  const own = /^"all";owner=gateway;unit=cost;limit=1;remaining=0\.\d{3};reset=\d+$/
  assert.match(response.field('svc-aig-budget') ?? '', own)
  assert.match(response.field('ratelimit') ?? '', /^"gateway\/all";r=99\d{4};t=\d+$/)
  assert.equal(response.field('ratelimit-policy'), '"gateway/all";q=1000000;qu="microdollars";w=86400')
  assert.equal(JSON.parse(bodies[0]!).max_tokens, 200)
  assert.equal(await spentOf(ai), price)
})

test('a call without a maximum gets the default of the gateway', async t => {
  const { ask, bodies } = await start(t, [rule()], { gateway: { defaultMaxTokens: 77 } as Partial<Gateway> })
  assert.equal((await ask()).status, 200)
  assert.equal(JSON.parse(bodies[0]!).max_completion_tokens, 77)
})

test('over a limit the refusal names rule, amounts and wait, and reaches neither provider nor log', async t => {
  const limit = (price * 2.5) / 1e9
  const { ai, ask, bodies } = await start(t, [rule({ limit })])
  for (let i = 0; i < 2; i++) {
    assert.equal((await ask({ max_tokens: 100 })).status, 200)
    await spentOf(ai)
  }
  await ai.logged(2)
  const refused = await ask({ max_tokens: 100 })
  assert.equal(refused.status, 429)
  assert.match(
    refused.text,
    /a spend limit of \$0\.002525 a day \(all\)\. \$0\.00202 of it are spent or reserved, and this call may take \$0\.001\d+\./,
  )
  const wait = Number(refused.field('retry-after'))
  assert.ok(wait > 0 && wait <= 86_400, String(wait))
  assert.equal(refused.field('ratelimit'), `"gateway/all";r=505;t=${wait}`)
  assert.match(refused.field('svc-aig-budget') ?? '', /;limit=0\.002;remaining=0;reset=\d+$/)
  assert.equal(refused.field('x-should-retry'), wait > 60 ? 'false' : 'true')
  assert.equal(bodies.length, 2)
  assert.equal((await ai.logged(2)).length, 2)
  const { atOnce, afterStep, steps } = ai.edge.metrics.budgets
  assert.deepEqual([atOnce.granted.value + afterStep.granted.value, afterStep.over.value], [2, 1])
  assert.ok(steps.granted.value > 0 && steps.refused.value > 0)
  await ask({ max_tokens: 100 })
  assert.equal(atOnce.over.value + afterStep.over.value, 2)
  const refusals = ai.edge.tallies.filter(({ kind }) => kind === 'budget')
  assert.deepEqual(
    refusals.map(({ scope, name, count }) => [scope, name, count]),
    [[`budgets ${ai.account}`, 'gateway default all', 2]],
  )
})

test('a call that can never fit is refused for good, with the maximum that would', async t => {
  const { ai, ask, bodies } = await start(t, [rule({ limit: 0.001 })])
  const refused = await ask({ max_tokens: 1000 })
  assert.equal(refused.status, 403)
  const most = Number(/with max_tokens of at most (\d+) it could fit/.exec(refused.text)?.[1])
  assert.ok(most > 50 && most < 100, String(most))
  assert.equal(refused.field('retry-after'), null)
  assert.equal(refused.field('x-should-retry'), 'false')
  assert.equal(ai.edge.metrics.budgets.atOnce.never_fits.value, 1)
  assert.equal((await ask({ max_tokens: most })).status, 200)
  assert.equal(bodies.length, 1)
})

test('of 64 callers at once only those are served whose worst case fits', async t => {
  // A call may cost 1,000 output tokens and its input, and costs a tenth of that.
  const worst = 0.0102
  const { ai, ask, bodies } = await start(t, [rule({ limit: 10 * worst })])
  const responses = await Promise.all(Array.from({ length: 64 }, () => ask({ max_tokens: 1000 })))
  const served = responses.filter(({ status }) => status === 200).length
  assert.ok(served >= 9, `${served} are served`)
  assert.equal(served + responses.filter(({ status }) => status === 429).length, 64)
  assert.equal(bodies.length, served)
  assert.equal(await spentOf(ai), served * price)
  assert.ok(served * price <= 10 * worst * 1e9)
})

test('a model without a price is refused, or counted flat', async t => {
  const { ai, ask } = await start(t, [rule()])
  const refused = await ask({ model: 'openai/gpt-unknown' })
  assert.equal(refused.status, 403)
  assert.match(refused.text, /openai\/gpt-unknown/)
  assert.equal(ai.edge.metrics.budgets.atOnce.without_price.value, 1)
  await ai.change({ unpricedCost: 0.25 } as Partial<Gateway>)
  await until(async () => (await ask({ model: 'openai/gpt-unknown' })).status === 200)
  assert.equal(await spentOf(ai), 250_000_000)
})

test('native calls count, logged or not', async t => {
  const { ai, bodies } = await start(t, [rule({ unit: 'tokens', limit: 1_000_000 })])
  const native = (body: object, ...fields: string[]) =>
    ai.edge.ask(
      call(
        `${ai.native('openai')}/v1/chat/completions`,
        JSON.stringify(body),
        `svc-aig-authorization: Bearer ${ai.token}`,
        ...fields,
      ),
    )
  assert.equal((await native({ model: 'gpt-4o', messages })).status, 200)
  assert.equal((await native({ model: 'gpt-4o', messages }, 'svc-aig-collect-log: false')).status, 200)
  assert.equal(await spentOf(ai), 220)
  assert.equal(JSON.parse(bodies[0]!).max_completion_tokens, 4096)
  assert.equal((await ai.logged(1)).length, 1)
})

for (const [name, usage, output] of [
  ['without output', { prompt_tokens: 10 }, 2000],
  ['whose output is text', { prompt_tokens: 10, completion_tokens: '100' }, 2000],
  ['whose output is negative', { prompt_tokens: 10, completion_tokens: -1, total_tokens: 9 }, 2000],
  ['without input', { completion_tokens: 100 }, 100],
] as const)
  test(`of usage ${name}, the missing part is charged as reserved`, async t => {
    const tokens = rule({ unit: 'tokens', limit: 1_000_000 })
    const { ai, ask } = await start(t, [tokens], {}, { ...answer, usage })
    assert.equal((await ask({ max_tokens: 2000 })).status, 200)
    const input = (await spentOf(ai)) - output
    assert.ok(input > 10 && input < 1000, `${input}`)
  })

test('a response whose usage has input alone, also in its total, is charged that', async t => {
  const usage = { prompt_tokens: 10, total_tokens: 10 }
  const { ai, ask } = await start(t, [rule()], {}, { ...answer, usage })
  assert.equal((await ask()).status, 200)
  assert.equal(await spentOf(ai), 10 * 1000)
})

test('a call is charged no less than it costs, whatever its caller says', async t => {
  const { ai, ask } = await start(t, [rule()])
  assert.equal((await ask({}, 'svc-aig-custom-cost: {"total_cost":0}')).status, 200)
  assert.equal(await spentOf(ai), price)
})

test('a call that its provider refuses is charged nothing', async t => {
  const refusal = json({ error: { message: 'no' } }).replace('200 OK', '400 Bad Request')
  const openai = await startResponder(t, refusal)
  const gateway = { spendLimits: { isEnabled: true, rules: [rule()] } }
  const ai = await startAi(t, { openai: { url: openai.url, keys: ['sk-a'] } }, { ai: { prices }, gateway })
  const text = JSON.stringify({ model: 'openai/gpt-4o', messages })
  const { status } = await ai.edge.ask(
    call(`${ai.rest}/v1/chat/completions`, text, `Authorization: Bearer ${ai.token}`),
  )
  assert.equal(status, 400)
  assert.equal(await spentOf(ai), 0)
})

test('calls at a time are limited', async t => {
  const { promise: go, resolve } = Promise.withResolvers<void>()
  const provider = await startResponder(t, () => go.then(() => json(answer)))
  const ai = await startAi(
    t,
    { openai: { url: provider.url, keys: ['sk-a'] } },
    {
      ai: { prices },
      gateway: {
        spendLimits: { isEnabled: true, rules: [rule({ unit: 'concurrency', limit: 2, window: null })] },
      },
    },
  )
  const ask = () =>
    ai.edge.ask(
      call(
        `${ai.rest}/v1/chat/completions`,
        JSON.stringify({ model: 'openai/gpt-4o', messages }),
        `Authorization: Bearer ${ai.token}`,
      ),
    )
  const calls = Array.from({ length: 6 }, ask)
  const refused: string[] = []
  for (const call of calls) void call.then(({ status, text }) => status === 429 && refused.push(text))
  await until(() => refused.length === 4)
  assert.match(
    refused[0]!,
    /The gateway has a limit of 2 calls at a time \(all\), and as many are under way\./,
  )
  assert.match(refused[0]!, /A call fits as soon as one of those ends: in about \d+ s/)
  resolve()
  const statuses = (await Promise.all(calls)).map(({ status }) => status)
  assert.equal(statuses.filter(status => status === 200).length, 2)
})

for (const [name, path, body, fields] of [
  ['of an operation that it does not know', '/v1/batches', '{"model":"gpt-4o"}', []],
  ['with a body that is encoded', '/v1/chat/completions', '{}', ['Content-Encoding: gzip']],
  ['with a body that is read in several ways', '/v1/chat/completions', '{"model":"gpt-4o",}', []],
] as const)
  test(`a native call ${name} is refused while dollars or tokens are limited`, async t => {
    const { ai, bodies } = await start(t, [rule({ model: { mode: 'filter', values: ['gpt-4o'] } })])
    const ask = () =>
      ai.edge.ask(
        call(`${ai.native('openai')}${path}`, body, `svc-aig-authorization: Bearer ${ai.token}`, ...fields),
      )
    const refused = await ask()
    assert.equal(refused.status, 403)
    assert.match(refused.body.toString(), /no known bound/)
    assert.deepEqual(bodies, [])
    const atOnce = rule({ unit: 'concurrency', window: null, limit: 5 })
    await ai.change({ spendLimits: { isEnabled: true, rules: [atOnce] } })
    await until(async () => (await ask()).status !== 403)
  })

test('the body names no model where a provider may read one in the path', async t => {
  const cheap = { ...prices[0]!, model: 'openai/cheap' }
  const { ai, bodies } = await start(t, [rule()], { ai: { prices: [...prices, cheap] } })
  const ask = (path: string) => {
    const field = `svc-aig-authorization: Bearer ${ai.token}`
    return ai.edge.ask(call(`${ai.native('openai')}${path}/chat/completions`, '{"model":"cheap"}', field))
  }
  for (const path of ['/deployments/%67pt-4o', '/deployments//gpt-4o', '/Deployments/gpt-4o;v=1']) {
    const { status, text } = await ask(path)
    assert.equal(status, 403, path)
    assert.match(text, path.includes(';') ? /has no known bound/ : /has no price/)
  }
  assert.deepEqual(bodies, [])
  assert.equal((await ask('/v1')).status, 200)
})

test('native calls that spend nothing are served without a price', async t => {
  const { ai } = await start(t, [rule()])
  const fields = ['Host: ai.test', `svc-aig-authorization: Bearer ${ai.token}`, 'Content-Length: 0']
  const removed = [`DELETE ${ai.native('openai')}/v1/responses/resp_1 HTTP/1.1`, ...fields, '', ''].join(
    '\r\n',
  )
  assert.notEqual((await ai.edge.ask(removed)).status, 403)
  const counted = call(
    `${ai.native('openai')}/v1/responses/input_tokens`,
    '{"model":"unpriced","input":"Hi"}',
    `svc-aig-authorization: Bearer ${ai.token}`,
  )
  assert.equal((await ai.edge.ask(counted)).status, 200)
})

test('a call that may be served by another model reserves for the dearest', async t => {
  const { ask } = await start(t, [rule()], {
    ai: { prices: [...prices, { ...prices[0]!, model: 'openai/dear', output: 1000 }] },
  })
  assert.equal((await ask({ models: ['dear'], max_tokens: 10 })).status, 200)
  const refused = await ask({ models: ['dear'], max_tokens: 2000 })
  assert.equal(refused.status, 403)
  assert.match(refused.body.toString(), /may take \$2\.0/)
  assert.equal((await ask({ models: ['unpriced'], max_tokens: 10 })).status, 403)
})

test('a rule for some models governs a call that may be served by one of them', async t => {
  const filtered = (...values: string[]) =>
    rule({ id: 'o3', unit: 'tokens', limit: 100, model: { mode: 'filter', values } })
  for (const values of [['openai/o3'], ['o3']]) {
    const { ask, bodies } = await start(t, [filtered(...values)])
    assert.equal((await ask()).status, 200)
    for (const more of [{ models: ['gpt-4o', 'o3'] }, { fallbacks: [{ model: 'o3' }] }, { models: [7] }])
      assert.equal((await ask(more)).status, 403, JSON.stringify(more))
    assert.equal((await ask({ models: ['o4'] })).status, 200)
    assert.equal(bodies.length, 2)
  }
})

test('a flat cost covers the models without a price alone, of all that a call names', async t => {
  const { ai, ask } = await start(t, [rule()], {
    ai: { prices: [...prices, { ...prices[0]!, model: 'openai/dear', output: 1000 }] },
    gateway: { unpricedCost: 0.25 },
  })
  const native = (text: string) =>
    ai.edge.ask(
      call(`${ai.native('openai')}/v1/chat/completions`, text, `svc-aig-authorization: Bearer ${ai.token}`),
    )
  const named = (more: string) => native(`{"max_tokens":2000,"messages":[],${more}}`)
  for (const answer of [
    await ask({ models: ['dear', 'unpriced'], max_tokens: 2000 }),
    await ask({ models: ['unpriced', 'dear'], max_tokens: 2000 }),
    await named('"model":"dear","Model":"unpriced"'),
    await named('"model":"unpriced","model":"dear"'),
  ]) {
    assert.equal(answer.status, 403)
    assert.match(answer.body.toString(), /may take \$2\.0/)
  }
  assert.equal((await ask({ models: ['unpriced'], max_tokens: 10 })).status, 200)
  assert.equal((await named('"model":"unpriced","Model":"gpt-4o"')).status, 200)
})

const stores: Readonly<Record<string, (t: TestContext) => Promise<string>>> = {
  Redis: async t => (await startRedis(t)).url,
  SQLite: async t => `sqlite:${temporaryFile(t)}`,
}

for (const [name, place] of Object.entries(stores))
  test(`${name}: a limit that another process raises, and a budget that it resets, count within a second`, async t => {
    const storeUrl = await place(t)
    const settings = { storeUrl, budgets: { clock: systemClock, lookPeriod: 1_000 } }
    const { ai, ask } = await start(t, [rule({ limit: 0.0013 })], settings)
    const another = await openStore(storeUrl, { commandTimeout: 1_000 })
    t.after(() => another.close())
    const clock = new HaltingClock(t)
    const admitsWithinASecond = async (change: () => Promise<unknown>) => {
      assert.equal((await ask({ max_tokens: 100 })).status, 429)
      await change()
      const changed = clock.monotonic()
      await until(async () => (await ask({ max_tokens: 100 })).status === 200)
      const ms = Math.round(clock.monotonic() - changed)
      t.diagnostic(`${ms} ms`)
      assert.ok(ms < 1_000, `${ms} ms`)
    }
    assert.equal((await ask({ max_tokens: 100 })).status, 200)
    const { record, version } = (await another.gateways.get(ai.account, 'default'))!
    const rules = [rule({ limit: 0.0023 })]
    await admitsWithinASecond(() =>
      another.gateways.replace({ ...record, spendLimits: { isEnabled: true, rules } }, version),
    )
    const facts = { provider: 'openai', model: 'gpt-4o', metadata: null }
    const [bucket] = bucketsOf(
      { ...record, spendLimits: { isEnabled: true, rules } },
      null,
      facts,
      Date.now(),
    )
    await admitsWithinASecond(() => another.budgets.reset(ai.account, bucket!))
  })

test('a fallback reserves for its own model, and the attempt that failed is charged nothing', async t => {
  const broken = json({ error: { message: 'no' } }).replace('200 OK', '503 Service Unavailable')
  const openai = await startResponder(t, broken)
  const groq = await startResponder(t, json({ ...answer, model: 'llama' }))
  const steps = ['openai/gpt-4o', 'groq/llama'].map(model => ({
    model,
    timeout: null,
    retries: 0,
    weight: null,
  }))
  const rules = [rule({ model: { mode: 'partition' } })]
  const ai = await startAi(
    t,
    { openai: { url: openai.url, keys: ['sk-a'] }, groq: { url: groq.url, keys: ['sk-b'] } },
    {
      ai: { prices, models: [{ name: 'fast', steps }], failover },
      gateway: { spendLimits: { isEnabled: true, rules } },
    },
  )
  const text = JSON.stringify({ model: 'fast', messages })
  const { status, text: body } = await ai.edge.ask(
    call(`${ai.rest}/v1/chat/completions`, text, `Authorization: Bearer ${ai.token}`),
  )
  assert.equal(status, 200, body)
  assert.equal(await spentOf(ai, 'llama', 'groq'), 10 * 1000 + 100 * 1000)
  assert.equal(await spentOf(ai), 0)
})

for (const whenUnreachable of ['closed', 'open'] as const)
  test(`while the store is unreachable, a rule that is ${whenUnreachable} ${whenUnreachable === 'open' ? 'admits' : 'refuses'} calls`, async t => {
    const redis = await startRedis(t)
    const { ai, ask } = await start(t, [rule({ whenUnreachable })], { storeUrl: redis.url })
    assert.equal((await ask({ max_tokens: 50 })).status, 200)
    await spentOf(ai)
    // The first may have read its token while the change that made it was still on its way, and not cached it.
    assert.equal((await ask({ max_tokens: 50 })).status, 200)
    // Nothing is leased that a call could have without the store.
    await spentOf(ai)
    await redis.kill()
    const { status, text } = await ask({ max_tokens: 50 })
    assert.equal(status, whenUnreachable === 'open' ? 200 : 503, text)
    const { atOnce, afterStep, uncounted } = ai.edge.metrics.budgets
    const outcome = whenUnreachable === 'open' ? 'granted_without_store' : 'store_unreachable'
    assert.equal(atOnce[outcome].value + afterStep[outcome].value, 1)
    assert.equal(uncounted.value, 1)
    if (whenUnreachable === 'open') return
    assert.match(
      text,
      /The gateway has a spend limit of \$[\d.]+ a day \(all\), and what is spent of it cannot be counted/,
    )
    assert.match(text, /tell the operator of the gateway: its store is unreachable or takes no changes\./)
    // It is not the limit that is too low.
    assert.ok(!ai.edge.tallies.some(({ kind }) => kind === 'budget'))
  })

test('while the store hangs, a call waits for it for a second, later ones do not, and all count in the end', async t => {
  const redis = await startRedis(t)
  const settings = { storeUrl: redis.url, commandTimeout: 30_000 }
  const { ai, ask } = await start(t, [rule({ whenUnreachable: 'open' })], settings)
  const clock = new HaltingClock(t)
  const msOfCalls = async (count: number) => {
    const began = clock.monotonic()
    for (let i = 0; i < count; i++) assert.equal((await ask({ max_tokens: 50 })).status, 200)
    return clock.monotonic() - began
  }
  // Its token and its gateway are known then, and nothing is leased.
  await msOfCalls(2)
  await spentOf(ai)
  redis.stop()
  const [first, others] = [await msOfCalls(1), await msOfCalls(10)]
  redis.cont()
  t.diagnostic(`${Math.round(first)} ms, and ${Math.round(others)} ms for ten more`)
  assert.ok(first > 500 && first < 2_000, `${first} ms`)
  assert.ok(others < 1_000, `${others} ms`)
  assert.equal(await spentOf(ai), 13 * price)
})

test('a call whose caller leaves while the store is asked reserves nothing for ever', async t => {
  const { ai, ask } = await start(t, [rule({ unit: 'concurrency', limit: 1, window: null })])
  const wire = await connectTo(t, ai.edge.port)
  const text = JSON.stringify({ model: 'openai/gpt-4o', messages })
  const { promise: asked, resolve: noteAsked } = Promise.withResolvers<void>()
  const { promise: go, resolve } = Promise.withResolvers<void>()
  const step = ai.store.budgets.step.bind(ai.store.budgets)
  ai.store.budgets.step = async steps => {
    noteAsked()
    await go
    return step(steps)
  }
  void wire
    .send(call(`${ai.rest}/v1/chat/completions`, text, `Authorization: Bearer ${ai.token}`))
    .catch(() => {})
  await asked
  wire.leave()
  await until(() => ai.edge.metrics.clientAborts.value === 1)
  resolve()
  await until(async () => (await ask()).status === 200)
})

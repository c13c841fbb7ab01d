// Spend limits over the attempts of a call: each is charged what it may have cost, and a model that does not fit gives
// way to the next one.

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { AliasStep } from '../../src/config/model/config.ts'
import type { SpendRule } from '../../src/store/records/budget-rule.ts'
import { type AiEdge, call, completion, json, startAi } from '../help/ai.ts'
import { costOf, hasty, prices, rule, spentOf } from '../help/budgeted.ts'
import { freePort } from '../help/free-port.ts'
import { type Origin, startOrigin, startResponder } from '../help/origin.ts'
import { chunks, type Wire } from '../help/raw.ts'
import { until } from '../help/until.ts'

const failover = { statuses: [503], maxAttempts: 4, deadline: 0, retryWithin: 0 }
const usage = { prompt_tokens: 10, completion_tokens: 100, total_tokens: 110 }
const good = json({ ...completion, model: 'llama', usage })
const { usage: _, ...silent } = completion
const busy = json({ error: { message: 'busy' } }).replace('200 OK', '503 Service Unavailable')
const eventStream = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
const step = (model: string, rest: Partial<AliasStep> = {}): AliasStep => ({
  ...{ model, timeout: null, retries: 0, weight: null },
  ...rest,
})
const eachModel = rule({ id: 'each', model: { mode: 'partition' } })
const ofModel = (model: string, changes: Partial<SpendRule>) =>
  rule({ id: model, model: { mode: 'filter', values: [model] }, ...changes })

interface Trial {
  readonly rules?: readonly SpendRule[]
  readonly steps?: readonly AliasStep[]
  readonly timeout?: number
}

/** Starts an alias `fast` of openai/gpt-4o, which answers the first call without usage, and of groq/llama. */
async function start(t: TestContext, fail: (wire: Wire) => unknown, trial: Trial = {}) {
  const { rules = [eachModel], steps = [step('openai/gpt-4o'), step('groq/llama')], timeout = 0 } = trial
  let isFirst = true
  const openai = await startOrigin(t, async wire => {
    for (;;) {
      openai.requests.push(await wire.request())
      if (isFirst) await wire.send(json(silent))
      else if ((await fail(wire)) === 'close') return wire.socket.destroy()
      isFirst = false
    }
  })
  const groq = await startResponder(t, good)
  const ai = await startAi(
    t,
    { openai: { url: openai.url, keys: ['sk-a'] }, groq: { url: groq.url, keys: ['sk-b'] } },
    {
      ai: { prices, models: [{ name: 'fast', steps }], failover },
      gateway: { spendLimits: { isEnabled: true, rules } },
      budgets: hasty,
      timeouts: { response: timeout },
    },
  )
  return { ai, openai, groq, ask: (more: object = {}) => ai.edge.ask(text(ai, more)) }
}

function text(ai: AiEdge, more: object = {}): string {
  const body = { model: 'fast', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 500, ...more }
  return call(`${ai.rest}/v1/chat/completions`, JSON.stringify(body), `Authorization: Bearer ${ai.token}`)
}

/** What a call is charged of which nobody knows what it used. */
async function chargeOfUnknown({ ai, ask }: Awaited<ReturnType<typeof start>>, more: object = {}) {
  assert.equal((await ask(more)).status, 200)
  const whole = await spentOf(ai)
  assert.ok(whole > costOf(1, 500) && whole < costOf(1_000, 500), `${whole}`)
  return whole
}

describe('an attempt that another model follows', () => {
  const opening = 'data: {"choices":[{"index":0,"delta":{"role":"assistant"}}]}\n\n'
  const cases: Readonly<
    Record<string, { fail: (wire: Wire) => unknown; charge: 'whole' | 'nothing'; more?: object }>
  > = {
    'that is refused with a status': { fail: wire => wire.send(busy), charge: 'nothing' },
    'whose stream begins with an error': {
      fail: wire => wire.send(`${eventStream}${chunks('data: {"error":{"message":"busy"}}\n\n')}`),
      charge: 'nothing',
      more: { stream: true },
    },
    'whose response is an error': { fail: wire => wire.send(json({ error: 'busy' })), charge: 'nothing' },
    'that times out': { fail: () => new Promise(() => {}), charge: 'whole' },
    'whose connection breaks before the response': { fail: () => 'close', charge: 'whole' },
    'whose response breaks off': {
      fail: async wire => {
        await wire.send(good.slice(0, -50))
        return 'close'
      },
      charge: 'whole',
    },
    'whose stream breaks off before its content': {
      fail: async wire => {
        await wire.send(`${eventStream}${chunks(opening)}`)
        return 'close'
      },
      charge: 'whole',
      more: { stream: true },
    },
  }
  for (const [name, { fail, charge, more }] of Object.entries(cases))
    test(`${name} is charged ${charge}`, async t => {
      const started = await start(t, fail, { timeout: name.includes('times out') ? 400 : 0 })
      const { ai, ask, groq } = started
      const whole = await chargeOfUnknown(started, more)
      assert.equal((await ask(more)).status, 200)
      assert.equal(groq.requests.length, 1)
      assert.equal(await spentOf(ai), charge === 'whole' ? 2 * whole : whole)
      assert.equal(await spentOf(ai, 'llama', 'groq'), 110 * 1000)
    })

  test('that reports what it used before it breaks off is charged that', async t => {
    const counted = `data: ${JSON.stringify({ choices: [], usage })}\n\n`
    const started = await start(t, async wire => {
      await wire.send(`${eventStream}${chunks(opening.replace('"choices"', '"usage":null,"choices"'))}`)
      await wire.send(chunks(counted))
      return 'close'
    })
    const whole = await chargeOfUnknown(started, { stream: true })
    await started.ask({ stream: true })
    assert.equal(await spentOf(started.ai), whole + costOf(10, 100))
  })

  test('that reaches nobody is charged nothing', async t => {
    const groq = await startResponder(t, good)
    const down = `http://127.0.0.1:${await freePort()}`
    const ai = await startAi(
      t,
      { openai: { url: down, keys: ['sk-a'] }, groq: { url: groq.url, keys: ['sk-b'] } },
      {
        ai: {
          prices,
          models: [{ name: 'fast', steps: [step('openai/gpt-4o'), step('groq/llama')] }],
          failover,
        },
        gateway: { spendLimits: { isEnabled: true, rules: [eachModel] } },
        budgets: hasty,
      },
    )
    assert.equal((await ai.edge.ask(text(ai))).status, 200)
    assert.equal(await spentOf(ai), 0)
    assert.equal(await spentOf(ai, 'llama', 'groq'), 110 * 1000)
  })
})

describe('the last attempt', () => {
  const alone = [step('openai/gpt-4o')]
  test('that times out is charged whole', async t => {
    const started = await start(t, () => new Promise(() => {}), { steps: alone, timeout: 400 })
    const whole = await chargeOfUnknown(started)
    assert.equal((await started.ask()).status, 524)
    assert.equal(await spentOf(started.ai), 2 * whole)
  })

  test('whose connection breaks is charged whole, also without a route', async t => {
    const started = await start(t, () => 'close')
    const whole = await chargeOfUnknown(started)
    assert.equal((await started.ask({ model: 'openai/gpt-4o' })).status, 520)
    assert.equal(await spentOf(started.ai), 2 * whole)
  })

  test('that is refused is charged nothing', async t => {
    const started = await start(t, wire => wire.send(busy), { steps: alone })
    const whole = await chargeOfUnknown(started)
    assert.equal((await started.ask()).status, 503)
    assert.equal(await spentOf(started.ai), whole)
  })
})

describe('another attempt at the same model', () => {
  const twice = [step('openai/gpt-4o', { retries: 2 }), step('groq/llama')]

  test('reserves again if the first may have cost something', async t => {
    const started = await start(t, () => 'close', { steps: twice })
    const whole = await chargeOfUnknown(started)
    assert.equal((await started.ask()).status, 200)
    assert.equal(started.openai.requests.length, 4)
    assert.equal(await spentOf(started.ai), 4 * whole)
  })

  test('is as free as the first if that did nothing', async t => {
    const started = await start(t, wire => wire.send(busy), { steps: twice })
    const whole = await chargeOfUnknown(started)
    assert.equal((await started.ask()).status, 200)
    assert.equal(started.openai.requests.length, 4)
    assert.equal(await spentOf(started.ai), whole)
  })

  test('that no longer fits gives way to the next model', async t => {
    const rules = [ofModel('openai/gpt-4o', { limit: 0.0125 })]
    const started = await start(t, () => 'close', { steps: twice, rules })
    const whole = await chargeOfUnknown(started)
    assert.equal((await started.ask()).status, 200)
    assert.equal(started.openai.requests.length, 2)
    assert.equal(started.groq.requests.length, 1)
    assert.equal(await spentOf(started.ai), 2 * whole)
  })

  test('reserves nothing for a caller that leaves before it', async t => {
    const steps = [step('openai/gpt-4o', { retries: 1 })]
    const started = await start(t, () => 'close', { steps })
    const whole = await chargeOfUnknown(started)
    const wire = await started.ai.edge.connect()
    await wire.send(text(started.ai))
    await until(() => started.openai.requests.length === 2)
    await until(() => started.openai.wires.at(-1)!.socket.destroyed)
    wire.leave()
    await started.ai.logged(2)
    assert.equal(await spentOf(started.ai), started.openai.requests.length * whole)
  })
})

describe('a model that does not fit', () => {
  const steps = [step('openai/gpt-4o'), step('openai/gpt-4o-mini'), step('groq/llama')]
  const cheap = { ...prices[0]!, model: 'openai/gpt-4o-mini' }

  async function startThree(t: TestContext, rules: readonly SpendRule[], openai: Origin) {
    const groq = await startResponder(t, good)
    const ai = await startAi(
      t,
      { openai: { url: openai.url, keys: ['sk-a'] }, groq: { url: groq.url, keys: ['sk-b'] } },
      {
        ai: { prices: [...prices, cheap], models: [{ name: 'fast', steps }], failover },
        gateway: { spendLimits: { isEnabled: true, rules } },
        budgets: hasty,
      },
    )
    return { ai, groq, ask: () => ai.edge.ask(text(ai)) }
  }

  test('gives way to the next one before any provider is asked', async t => {
    const openai = await startResponder(t, good)
    const rules = [eachModel, ofModel('openai/gpt-4o', { limit: 0.000_001 })]
    const { ai, ask } = await startThree(t, rules, openai)
    const response = await ask()
    assert.equal(response.status, 200)
    assert.equal(JSON.parse(openai.requests[0]!.text).model, 'gpt-4o-mini')
    assert.match(response.field('svc-aig-budget') ?? '', /^"each";[^"]+$/)
    assert.equal((await ai.entry(1)).model, 'gpt-4o-mini')
    assert.equal((await ai.entry(1)).step, 1)
  })

  test('gives way after a failure', async t => {
    const openai = await startResponder(t, busy)
    const rules = [eachModel, ofModel('openai/gpt-4o-mini', { limit: 0.000_001 })]
    const { ai, groq, ask } = await startThree(t, rules, openai)
    assert.equal((await ask()).status, 200)
    assert.deepEqual([openai.requests.length, groq.requests.length], [1, 1])
    assert.equal(await spentOf(ai, 'llama', 'groq', 'each'), 110 * 1000)
  })

  test('is refused for if it is the last', async t => {
    const openai = await startResponder(t, busy)
    const tiny = { limit: 0.000_001 }
    const rules = ['openai/gpt-4o-mini', 'groq/llama'].map(model => ofModel(model, tiny))
    const { ask, groq } = await startThree(t, rules, openai)
    const { status, text } = await ask()
    assert.deepEqual([status, groq.requests.length], [403, 0])
    assert.match(text, /groq\/llama/)
  })
})

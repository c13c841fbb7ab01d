// Spend limits over streams, and over calls whose callers leave: what came is charged, and nothing that may have cost
// something is free.

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { SpendRule } from '../../src/store/records/budget-rule.ts'
import type { Gateway } from '../../src/store/records/records.ts'
import { bucketsOf, rulesOfToken } from '../../src/budgets/buckets.ts'
import { call, completion, json, startAi } from '../help/ai.ts'
import { costOf, hasty, prices, rule, spentOf } from '../help/budgeted.ts'
import { startOrigin } from '../help/origin.ts'
import { chunks, type Wire } from '../help/raw.ts'
import { until } from '../help/until.ts'

const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
const words = 'Forty characters are about ten tokens. '
const event = (value: object) => chunks(`data: ${JSON.stringify(value)}\n\n`)
const opening = event({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] })
const delta = event({ choices: [{ index: 0, delta: { content: words } }] })
const usage = { prompt_tokens: 10, completion_tokens: 100, total_tokens: 110 }
const counted = event({ choices: [], usage })
const done = `${chunks('data: [DONE]\n\n')}0\r\n\r\n`
const { usage: _, ...silent } = completion
const maxTokens = 500
const tokens: SpendRule = rule({ id: 'tokens', unit: 'tokens', limit: 1_000_000 })

interface Trial {
  readonly gateway?: Partial<Gateway>
  readonly rules?: readonly SpendRule[]
  readonly idle?: number
}

/** Starts an edge whose provider answers the first call without usage, and any other as the script says. */
async function start(t: TestContext, script: (wire: Wire) => unknown, trial: Trial = {}) {
  const { rules = [tokens], idle = 0 } = trial
  const openai = await startOrigin(t, async wire => {
    for (;;) {
      const request = await wire.request()
      openai.requests.push(request)
      if (openai.requests.length === 1) await wire.send(json(silent))
      else if ((await script(wire)) === 'close') return wire.socket.destroy()
    }
  })
  const ai = await startAi(
    t,
    { openai: { url: openai.url, keys: ['sk-a'] } },
    {
      ai: { prices },
      gateway: { spendLimits: { isEnabled: true, rules }, ...trial.gateway },
      timeouts: { idle },
      budgets: hasty,
    },
  )
  const text = (...fields: string[]) => {
    const messages = [{ role: 'user', content: 'Hi' }]
    const body = { model: 'openai/gpt-4o', messages, max_tokens: maxTokens, stream: true }
    return call(
      `${ai.rest}/v1/chat/completions`,
      JSON.stringify(body),
      `Authorization: Bearer ${ai.token}`,
      ...fields,
    )
  }
  // The first one is charged whole.
  assert.equal((await ai.edge.ask(text())).status, 200)
  const whole = await spentOf(ai)
  const spentSince = async () => (await spentOf(ai)) - whole
  return { ai, openai, text, whole, input: whole - maxTokens, spentSince }
}

async function breakOff(wire: Wire, bytes: string): Promise<'close'> {
  await wire.send(bytes)
  return 'close'
}

/** A caller that reads until `seen`, and leaves. */
async function leave({ ai, text }: Awaited<ReturnType<typeof start>>, seen: string, ...fields: string[]) {
  const wire = await ai.edge.connect()
  await wire.send(text(...fields))
  await wire.until(seen)
  wire.leave()
}

const withoutLog = 'svc-aig-collect-log: false'

describe('a stream', () => {
  test('is charged the usage at its end, logged or not', async t => {
    const { ai, text, spentSince } = await start(t, wire =>
      wire.send(head + opening + delta + counted + done),
    )
    await ai.edge.ask(text())
    assert.equal(await spentSince(), 110)
    await ai.edge.ask(text(withoutLog))
    assert.equal(await spentSince(), 220)
  })

  test('without usage is charged whole', async t => {
    const { ai, text, whole, spentSince } = await start(t, wire => wire.send(head + opening + delta + done))
    await ai.edge.ask(text())
    assert.equal(await spentSince(), whole)
  })

  test('is charged in dollars, too', async t => {
    const script = (wire: Wire) => wire.send(head + opening + delta + counted + done)
    const { ai, text, spentSince } = await start(t, script, { rules: [rule()] })
    await ai.edge.ask(text())
    assert.equal(await spentSince(), costOf(10, 100))
  })

  for (const [name, script, idle] of [
    ['that its provider cuts off', (wire: Wire) => breakOff(wire, head + opening + delta + delta), 0],
    ['that stops', (wire: Wire) => wire.send(head + opening + delta + delta), 400],
  ] as const) {
    test(`${name} is charged about what came`, async t => {
      const started = await start(t, script, { idle })
      await started.ai.edge.ask(started.text())
      const { tokensIn, tokensOut } = await started.ai.entry(2)
      assert.deepEqual([tokensIn! > 0, tokensOut], [true, 20])
      assert.equal(await started.spentSince(), tokensIn! + 20)
    })

    test(`${name} and is not logged is charged its input at most, and what came`, async t => {
      const started = await start(t, script, { idle })
      await started.ai.edge.ask(started.text(withoutLog))
      assert.equal(await started.spentSince(), started.input + 20)
    })
  }

  for (const [name, reported, charge] of [
    ['what it reported last', [10, 19], () => 29],
    ['about what came since, where it reported only how it began', [10, 1], () => 30],
    [
      'its input at most, and what came, where it reported nothing yet',
      [0, 0],
      (input: number) => input + 20,
    ],
  ] as const)
    test(`that is cut off is charged ${name}`, async t => {
      const [prompt_tokens, completion_tokens] = reported
      const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
      const begun = event({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }], usage })
      const started = await start(t, wire => breakOff(wire, head + begun + delta + delta))
      await started.ai.edge.ask(started.text(withoutLog))
      assert.equal(await started.spentSince(), charge(started.input))
    })

  test('that ends before any text came is charged whole: it may have thought', async t => {
    const started = await start(t, wire => breakOff(wire, head + opening))
    await started.ai.edge.ask(started.text())
    assert.equal(await started.spentSince(), started.whole)
  })

  test('that was asked for again without usage is charged whole, and its maximum is sent again', async t => {
    const refusal = json({ error: { message: 'unknown field stream_options' } }).replace(
      '200 OK',
      '400 Bad Request',
    )
    const started = await start(t, wire =>
      wire.send(started.openai.requests.length === 2 ? refusal : head + opening + delta + done),
    )
    assert.equal((await started.ai.edge.ask(started.text())).status, 200)
    const bodies = started.openai.requests.slice(1).map(({ text }) => JSON.parse(text))
    assert.deepEqual(
      bodies.map(({ stream_options: options, max_tokens: most }) => [options !== undefined, most]),
      [
        [true, maxTokens],
        [false, maxTokens],
      ],
    )
    // The reservation is that of the call with the request for usage.
    const spent = await started.spentSince()
    assert.ok(Math.abs(spent - started.whole) <= 50, `${spent}, ${started.whole}`)
  })
})

describe('a call whose caller leaves', () => {
  test('is charged about what came of its stream', async t => {
    const started = await start(t, wire => wire.send(head + opening + delta))
    await leave(started, 'tokens. ')
    const { tokensIn, tokensOut } = await started.ai.entry(2)
    assert.equal(tokensOut, 10)
    assert.equal(await started.spentSince(), tokensIn! + 10)
  })

  test('and is not logged is charged its input at most, and what came', async t => {
    const started = await start(t, wire => wire.send(head + opening + delta))
    await leave(started, 'tokens. ', withoutLog)
    assert.equal(await started.spentSince(), started.input + 10)
  })

  test('before the response begins is charged whole', async t => {
    const started = await start(t, () => new Promise(() => {}))
    const wire = await started.ai.edge.connect()
    await wire.send(started.text())
    await until(() => started.openai.requests.length === 2)
    wire.leave()
    assert.equal(await started.spentSince(), started.whole)
  })

  test('is charged the usage if its provider may finish', async t => {
    const { promise: left, resolve } = Promise.withResolvers<void>()
    const script = async (wire: Wire) => {
      await wire.send(head + opening + delta)
      await left
      await wire.send(delta + counted + done)
    }
    const started = await start(t, script, { gateway: { onAbandon: 'drain' } })
    await leave(started, 'tokens. ')
    await until(() => started.ai.edge.metrics.clientAborts.value === 1)
    resolve()
    assert.equal(await started.spentSince(), 110)
  })

  test('is charged about what came if its provider may finish, but does not', async t => {
    const { promise: left, resolve } = Promise.withResolvers<void>()
    const script = async (wire: Wire) => {
      await wire.send(head + opening + delta)
      await left
      await wire.send(delta)
      return 'close'
    }
    const started = await start(t, script, { gateway: { onAbandon: 'drain' } })
    await leave(started, 'tokens. ')
    await until(() => started.ai.edge.metrics.clientAborts.value === 1)
    resolve()
    const { tokensIn } = await started.ai.entry(2)
    assert.equal(await started.spentSince(), tokensIn! + 20)
  })
})

test('a budget that starts over while a call is under way counts the call', async t => {
  const { promise: go, resolve } = Promise.withResolvers<void>()
  const started = await start(t, async wire => {
    await wire.send(head + opening + delta)
    await go
    await wire.send(counted + done)
  })
  const { ai, text } = started
  const asked = ai.edge.ask(text())
  await until(() => started.openai.requests.length === 2)
  const { record } = (await ai.store.gateways.get(ai.account, 'default'))!
  const [bucket] = bucketsOf(
    record,
    null,
    { provider: 'openai', model: 'gpt-4o', metadata: null },
    Date.now(),
  )
  await ai.store.budgets.reset(ai.account, bucket!)
  const { spent, leased } = (await ai.store.budgets.read(ai.account, [bucket!]))[0]!
  assert.equal(spent, 0)
  assert.ok(leased >= started.whole, `${leased}`)
  resolve()
  await asked
  assert.equal(await spentOf(ai), 110)
})

test('a call whose token is deleted goes on, and is charged to the budgets of both', async t => {
  const { promise: deleted, resolve } = Promise.withResolvers<void>()
  const { ai, text, spentSince } = await start(t, async wire => {
    await wire.send(head + opening + delta)
    await deleted
    await wire.send(counted + done)
  })
  const { store, account } = ai
  const spendLimits = { isEnabled: true, rules: [tokens] }
  const value = await ai.mint({ spendLimits })
  const token = (await store.tokens.list(account, { offset: 0, limit: 10 })).items.find(
    one => one.spendLimits !== undefined,
  )!
  const [bucket] = rulesOfToken(token).map(rule => rule.bucketWith([], Date.now()))
  const sum = async () => (await store.budgets.read(account, [bucket!]))[0]!
  const wire = await ai.edge.connect()
  const request = text().replaceAll(ai.token, value)
  await wire.send(request)
  await wire.until('tokens. ')
  await until(async () => (await sum()).leased > 0)
  const reported = new Promise<void>(resolve => void store.changes.follow(() => resolve()))
  await store.tokens.remove(account, token.id)
  await reported
  assert.equal((await ai.edge.ask(request)).status, 401)
  resolve()
  await wire.until('[DONE]')
  await until(async () => (await sum()).leased === 0)
  assert.equal((await sum()).spent, 110)
  assert.equal(await spentSince(), 110)
})

// A process that is killed in the middle of a stream: its call is charged what it may have cost by then.

import { equal, ok } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { dirname, join } from 'node:path'
import { systemClock } from '../../src/base/clock.ts'
import { bucketsOf } from '../../src/budgets/buckets.ts'
import { openStore } from '../../src/store/open.ts'
import { startGateway } from '../help/gateway.ts'
import { startOrigin } from '../help/origin.ts'
import { chunks } from '../help/raw.ts'
import { startRedis } from '../help/redis.ts'
import { until } from '../help/until.ts'

const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
const word = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'word ' } }] })}\n\n`
const maxTokens = 1_000_000
const call = { model: 'openai/gpt-4o', messages: [{ role: 'user', content: 'Hi' }], max_tokens: maxTokens }
const day = { limit: 100_000_000, limitType: 'tokens', window: 'day' }

for (const kind of ['SQLite', 'Redis'] as const)
  test(`${kind}: a stream of a process that was killed is charged its checkpoint, and a body whole`, async t => {
    const { url, gateway, manage, ask, store } = await start(t, kind)
    const { spend_limits, ...made } = await manage('GET', '/default')
    await manage('PUT', '/default', { ...made, spend_limits: { rules: [{ ...day, id: 'day' }] } })
    const account = (await gateway.firstStart).account
    const stored = (await store.gateways.get(account, 'default'))!.record
    const facts = { provider: 'openai', model: 'gpt-4o', metadata: null }
    const read = async () =>
      (await store.budgets.read(account, bucketsOf(stored, null, facts, systemClock.now())))[0]!
    const streamed = await ask({ ...call, stream: true })
    equal(streamed.status, 200)
    let words = 0
    void (async () => {
      for await (const bytes of streamed.body!)
        words += Buffer.from(bytes).toString().split('word').length - 1
    })().catch(() => {})
    // All of it is charged until the first look, and a part of that afterwards.
    void ask({ ...call, max_tokens: 10_000 }).catch(() => {})
    await until(async () => (await read()).leased >= maxTokens)
    // Its shares are given back by looks that told its checkpoints too.
    await until(async () => (await read()).leased < maxTokens + 20_000)
    const early = words
    // Checkpoints are told each second: one of them has these words, even on a busy machine.
    await until(() => words >= early + 40)
    gateway.signal('SIGKILL')
    await gateway.exited
    await until(async () => (await read()).leased === 0)
    const { spent } = await read()
    t.diagnostic(`${url}: ${spent} tokens`)
    ok(spent >= 10_000 + early, `${spent}, ${early}`)
    ok(spent < 10_000 + 20_000, `${spent}`)
  })

async function start(t: TestContext, kind: 'SQLite' | 'Redis') {
  const provider = await startOrigin(t, async wire => {
    const { text } = await wire.request()
    if (!JSON.parse(text).stream) await new Promise(() => {})
    await wire.send(head)
    while (!wire.socket.destroyed) {
      await wire.send(chunks(word))
      await new Promise(resolve => setTimeout(resolve, 50))
    }
  })
  const redis = kind === 'Redis' ? await startRedis(t) : null
  const place = redis === null ? '' : `store: { url: '${redis.url}', command_timeout: 5s }\n`
  const yaml = `ai: { hosts: [127.0.0.1], providers: { openai: { url: '${provider.url}', keys: [sk-a] } } }
zones: []
`
  const gateway = await startGateway(t, place + yaml)
  const { account, token } = await gateway.firstStart
  const url = redis?.url ?? `sqlite:${join(dirname(gateway.file), 'data', 'gatehouse.db')}`
  const store = await openStore(url, { commandTimeout: 4_000 })
  t.after(() => store.close())
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const base = `/client/v4/accounts/${account}`
  const manage = async (method: string, path: string, body?: object) => {
    const text = body === undefined ? null : JSON.stringify(body)
    const response = await fetch(`${gateway.admin}${base}/ai-gateway/gateways${path}`, {
      method,
      headers,
      body: text,
    })
    equal(response.status, 200, await response.clone().text())
    return ((await response.json()) as { result: Record<string, unknown> }).result
  }
  const ask = (body: object) =>
    fetch(`${gateway.edge}${base}/ai/v1/chat/completions`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
  return { url, gateway, manage, ask, store }
}

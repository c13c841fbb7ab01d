// Spend limits over calls of HTTP/2 whose callers leave: by resets of streams, or with the connection of all.

import assert from 'node:assert/strict'
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2'
import { constants } from 'node:http2'
import { type TestContext, test } from 'node:test'
import { startAi } from '../help/ai.ts'
import { hasty, rule, spentOf } from '../help/budgeted.ts'
import { connectHttp2, open, responseTo } from '../help/http2-client.ts'
import { startOrigin } from '../help/origin.ts'
import { chunks, type Wire } from '../help/raw.ts'
import { until } from '../help/until.ts'

const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
const event = (value: object) => chunks(`data: ${JSON.stringify(value)}\n\n`)
const delta = event({
  choices: [{ index: 0, delta: { content: 'Forty characters are about ten tokens. ' } }],
})
const usage = { prompt_tokens: 10, completion_tokens: 100, total_tokens: 110 }
const end = `${event({ choices: [], usage })}${chunks('data: [DONE]\n\n')}0\r\n\r\n`
const maxTokens = 500
const limit = 1_000_000

/** What the provider of a call does: nothing, begin a stream, or finish one. They are of equal length. */
type Fate = 'wait' | 'open' | 'done'

/** Starts an edge whose provider does with each call what its last message says. */
async function start(t: TestContext) {
  const openai = await startOrigin(t, async wire => {
    for (;;) await respond(wire, await wire.request())
  })
  async function respond(wire: Wire, request: { readonly text: string }): Promise<void> {
    openai.requests.push(request as never)
    if (request.text.includes('"wait"')) await new Promise(() => {})
    await wire.send(head + delta)
    if (request.text.includes('"done"')) await wire.send(end)
    else await new Promise(() => {})
  }
  const ai = await startAi(
    t,
    { openai: { url: openai.url, keys: ['sk-a'] } },
    {
      h2c: true,
      gateway: { spendLimits: { isEnabled: true, rules: [rule({ unit: 'tokens', limit })] } },
      budgets: hasty,
    },
  )
  const connect = () => connectHttp2(t, `http://127.0.0.1:${ai.edge.port}`)
  const begin = (session: ClientHttp2Session, fate: Fate): ClientHttp2Stream => {
    const fields = {
      ...{ ':method': 'POST', ':path': `${ai.rest}/v1/chat/completions`, ':authority': 'ai.test' },
      ...{ authorization: `Bearer ${ai.token}`, 'content-type': 'application/json' },
      'svc-aig-collect-log': 'false',
    }
    const stream = open(session, fields, false)
    const messages = [{ role: 'user', content: fate }]
    const body = { model: 'openai/gpt-4o', messages, max_tokens: maxTokens, stream: true }
    stream.end(JSON.stringify(body))
    return stream
  }
  const arrived = (count: number) => until(() => openai.requests.length === count)
  return { ai, connect, begin, arrived }
}

function textOf(stream: ClientHttp2Stream): Promise<void> {
  return new Promise(resolve => void stream.once('data', () => resolve()))
}

for (const how of ['reset their streams', 'close their connection'] as const)
  test(`callers that ${how} are charged what came, and nothing stays reserved`, async t => {
    const { ai, connect, begin, arrived } = await start(t)
    const session = await connect()
    const done = await responseTo(begin(session, 'done'))
    assert.equal(done.status, 200)
    assert.equal(await spentOf(ai), 110)
    // One that leaves before the response is charged whole; its input is the rest of that.
    const first = begin(session, 'wait')
    await arrived(2)
    first.close(constants.NGHTTP2_CANCEL)
    const whole = (await spentOf(ai)) - 110
    assert.ok(whole > maxTokens, `${whole}`)
    const silent = Array.from({ length: 10 }, () => begin(session, 'wait'))
    const begun = Array.from({ length: 10 }, () => begin(session, 'open'))
    await Promise.all([...begun.map(textOf), arrived(22)])
    if (how === 'reset their streams')
      for (const stream of [...silent, ...begun]) stream.close(constants.NGHTTP2_CANCEL)
    else session.destroy()
    const input = whole - maxTokens
    assert.equal(await spentOf(ai), 110 + whole + 10 * whole + 10 * (input + 10))
    assert.equal(ai.edge.metrics.clientAborts.value, 21)
    const again = how === 'reset their streams' ? session : await connect()
    assert.equal((await responseTo(begin(again, 'done'))).status, 200)
  })

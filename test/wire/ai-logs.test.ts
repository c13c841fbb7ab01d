// What is kept of a call, and what never is.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { mintToken } from '../../src/tokens/token.ts'
import { type AiEdge, type AiSettings, call, completion, json, startAi } from '../help/ai.ts'
import { deadOrigin, startResponder } from '../help/origin.ts'
import { say, startProvider } from '../help/provider.ts'
import type { Message } from '../help/raw.ts'
import { startRedis } from '../help/redis.ts'
import { until } from '../help/until.ts'

const body = '{"model":"openai/gpt-4o-mini","messages":[{"role":"user","content":"Hi"}]}'

async function start(t: TestContext, settings: AiSettings = {}, answer = json(completion)): Promise<AiEdge> {
  const provider = await startResponder(t, answer)
  return startAi(t, { openai: { url: provider.url, keys: ['SECRET-key'] } }, settings)
}

function chat(ai: AiEdge, ...fields: string[]): Promise<Message> {
  return ai.edge.ask(
    call(`${ai.rest}/v1/chat/completions`, body, `Authorization: Bearer ${ai.token}`, ...fields),
  )
}

test('an entry says what happened, without credentials', async t => {
  const ai = await start(t)
  await chat(ai, 'svc-aig-metadata: {"team":"search","run":7}', 'Cookie: SECRET-cookie')
  const entry = await ai.entry()
  const { id, createdAt, duration, timeToFirstByte, cost, tokenId, attempts, ...rest } = entry
  assert.deepEqual(
    attempts!.map(attempt => ({ ...attempt, duration: 0 })),
    [{ provider: 'openai', model: 'gpt-4o-mini', outcome: 'ok', duration: 0 }],
  )
  assert.match(tokenId!, /^[0-9a-f]{32}$/)
  assert.match(id, /^[0-9a-f]{16}$/)
  assert.ok(Math.abs(createdAt - Date.now()) < 5_000)
  assert.ok(duration > 0 && timeToFirstByte! > 0 && timeToFirstByte! <= duration)
  assert.ok(cost! > 0)
  assert.deepEqual(rest, {
    account: ai.account,
    gateway: 'default',
    provider: 'openai',
    model: 'gpt-4o-mini',
    path: '/chat/completions',
    status: 200,
    success: true,
    error: null,
    tokensIn: 9,
    tokensOut: 3,
    cached: false,
    authenticated: true,
    tokenName: 'test',
    streamed: false,
    metadata: { team: 'search', run: 7 },
    requestContentType: 'application/json',
    responseContentType: 'application/json',
    request: { text: body, isCut: false },
    response: { text: JSON.stringify(completion), isCut: false },
    providerResponse: null,
  })
  assert.doesNotMatch(JSON.stringify(entry), /SECRET|svct_/)
})

test('an entry names the token that made the call, and none where none was required', async t => {
  const ai = await start(t)
  const id = 'c0ffee'.padEnd(32, '0')
  const token = await ai.mint({ id, name: 'laptop' })
  await ai.edge.ask(call(`${ai.rest}/v1/chat/completions`, body, `Authorization: Bearer ${token}`))
  const { tokenId, tokenName } = await ai.entry()
  assert.deepEqual([tokenId, tokenName], [id, 'laptop'])
  const open = await start(t, { gateway: { authentication: false } })
  await chat(open)
  const entry = await open.entry()
  assert.deepEqual([entry.authenticated, entry.tokenId, entry.tokenName], [false, null, null])
})

test('the model of a native call is read from its response, and its query is not stored', async t => {
  const ai = await start(t)
  await ai.edge.ask(
    call(
      `${ai.native('openai')}/chat/completions?key=SECRET`,
      '{"messages":[]}',
      `svc-aig-authorization: Bearer ${ai.token}`,
    ),
  )
  const entry = await ai.entry()
  assert.deepEqual(
    [entry.model, entry.path, entry.tokensIn],
    ['gpt-4o-mini-2024-07-18', '/chat/completions', 9],
  )
  assert.equal(entry.request?.text, '{"messages":[]}')
})

test('calls are each stored with their content types', async t => {
  const ai = await start(t)
  const token = `svc-aig-authorization: Bearer ${ai.token}`
  const types = ['application/json', 'application/json', 'text/plain', 'application/json; a=b']
  for (const type of types) {
    const native = call(`${ai.native('openai')}/chat/completions`, '{}', token)
    await ai.edge.ask(native.replace('Content-Type: application/json', `Content-Type: ${type}`))
  }
  const entries = await ai.logged(types.length)
  assert.deepEqual(entries.map(({ requestContentType }) => requestContentType).sort(), types.sort())
  for (const { responseContentType } of entries) assert.equal(responseContentType, 'application/json')
})

test('native calls are each stored with their path at the provider', async t => {
  const { url } = await startResponder(t, json(completion))
  const ai = await startAi(t, { openai: url, groq: `${url}/groq` })
  const token = `svc-aig-authorization: Bearer ${ai.token}`
  for (const target of ['openai/a', 'openai/a', 'groq/a', 'openai/a?b=SECRET', 'openai/b', 'openai/b?a']) {
    const [provider, path] = target.split('/') as [string, string]
    await ai.edge.ask(call(`${ai.native(provider)}/${path}`, '{}', token))
  }
  const entries = await ai.logged(6)
  assert.deepEqual(entries.map(({ provider, path }) => `${provider} ${path}`).sort(), [
    'groq /groq/a',
    'openai /a',
    'openai /a',
    'openai /a',
    'openai /b',
    'openai /b',
  ])
})

test('bodies are kept only where gateway and caller agree', async t => {
  const ai = await start(t)
  await chat(ai, 'svc-aig-collect-log-payload: false')
  assert.deepEqual(
    [(await ai.entry(1)).request, (await ai.entry(1)).response, (await ai.entry(1)).tokensIn],
    [null, null, 9],
  )
  const silent = await start(t, { gateway: { collectLogs: false } })
  await chat(silent, 'svc-aig-collect-log-payload: true')
  assert.deepEqual([(await silent.entry(1)).request, (await silent.entry(1)).tokensIn], [null, 9])
})

test('a call is not stored if its caller says so', async t => {
  const ai = await start(t)
  await chat(ai, 'svc-aig-collect-log: false')
  await chat(ai, 'svc-aig-collect-log: true')
  await ai.logs.close()
  assert.equal(await ai.store.logs.count(ai.account, 'default'), 1)
})

test('a large body is kept in part, and marked as cut', async t => {
  const ai = await start(t)
  const large = JSON.stringify({
    model: 'openai/gpt-4o-mini',
    messages: [{ role: 'user', content: 'x'.repeat(100_000) }],
  })
  await ai.edge.ask(call(`${ai.rest}/v1/chat/completions`, large, `Authorization: Bearer ${ai.token}`))
  const { request } = await ai.entry()
  assert.deepEqual([request!.text.length, request!.isCut], [64 * 1024, true])
})

test('an encoded response reaches the caller as it is, and the log as text', async t => {
  const encoded = gzipSync(JSON.stringify(completion)).toString('latin1')
  const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: ${encoded.length}\r\n\r\n`
  const ai = await start(t, {}, head + encoded)
  const path = `${ai.native('openai')}/chat/completions`
  const answer = await ai.edge.ask(
    call(path, body, `svc-aig-authorization: Bearer ${ai.token}`, 'Accept-Encoding: gzip'),
  )
  assert.equal(answer.text, encoded)
  const entry = await ai.entry()
  assert.deepEqual([entry.tokensIn, entry.response?.text], [9, JSON.stringify(completion)])
})

test('a translated response is stored as the caller got it, and as the provider sent it', async t => {
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content: [{ type: 'text', text: 'Hello.' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 9, output_tokens: 3 },
  }
  const provider = await startResponder(t, json(message))
  const ai = await startAi(t, {
    anthropic: provider.url,
    openai: (await startResponder(t, json(completion))).url,
  })
  const ask = (model: string, path: string, gateway = `Authorization: Bearer ${ai.token}`) =>
    ai.edge.ask(call(`${ai.rest}${path}`, body.replace('openai/gpt-4o-mini', model), gateway))
  const translated = await ask('anthropic/claude-sonnet-4-5', '/v1/chat/completions')
  const entry = await ai.entry()
  assert.equal(JSON.parse(translated.text).object, 'chat.completion')
  assert.equal(entry.response!.text, translated.text)
  assert.equal(entry.providerResponse!.text, JSON.stringify(message))
  assert.equal(entry.tokensIn, 9)
  await ask('openai/gpt-4o-mini', '/v1/chat/completions')
  assert.equal((await ai.entry(2)).providerResponse, null)
  const run = `{"model":"openai/gpt-4o-mini","input":{"messages":[]}}`
  const enveloped = await ai.edge.ask(call(`${ai.rest}/run`, run, `Authorization: Bearer ${ai.token}`))
  const { response, providerResponse } = await ai.entry(3)
  assert.deepEqual([response!.text, providerResponse!.text], [enveloped.text, JSON.stringify(completion)])
})

test('an encoded request reaches the provider as it is, and the log as text', async t => {
  const ai = await start(t)
  const encoded = gzipSync(body).toString('latin1')
  const head = call(
    `${ai.native('openai')}/chat/completions`,
    '',
    `svc-aig-authorization: Bearer ${ai.token}`,
    'Content-Encoding: gzip',
  )
  await ai.edge.ask(head.replace('Content-Length: 0', `Content-Length: ${encoded.length}`) + encoded)
  const { request, model } = await ai.entry()
  assert.deepEqual([request!.text, model], [body, 'openai/gpt-4o-mini'])
})

test('calls that were not sent to a provider are not stored', async t => {
  const ai = await start(t)
  const mine = `Authorization: Bearer ${ai.token}`
  await ai.edge.ask(call(`${ai.rest}/v1/chat/completions`, '{', mine))
  await ai.edge.ask(call(`${ai.rest}/v1/chat/completions`, '{"model":"nobody/x"}', mine))
  await chat(ai)
  await ai.logs.close()
  assert.equal(await ai.store.logs.count(ai.account, 'default'), 1)
})

test('a native call whose body never came whole is not stored', async t => {
  const provider = await startResponder(t, json(completion))
  const ai = await startAi(t, { openai: provider.url }, { ai: { uploadLimit: 1_000 } })
  const begin = async (framing: string, body: string) => {
    const path = `${ai.native('openai')}/chat/completions`
    const client = await ai.edge.connect()
    const lines = ['Host: ai.test', `svc-aig-authorization: Bearer ${ai.token}`, framing]
    await client.send(`POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
    return client
  }
  const chunked = 'Transfer-Encoding: chunked'
  const large = await begin(chunked, `3e9\r\n${'x'.repeat(1_001)}\r\n`)
  const broken = await begin(chunked, 'x\r\n')
  assert.deepEqual([(await large.response()).status, (await broken.response()).status], [413, 400])
  const leaving = await begin('Content-Length: 9', '{"model"')
  await until(() => ai.edge.metrics.ai.allowed.authenticated.value === 3)
  leaving.reset()
  await until(() => ai.edge.accesses.length === 3)
  await ai.logs.close()
  assert.deepEqual([await ai.store.logs.count(ai.account, 'default'), provider.requests.length], [0, 0])
})

test('a gateway whose limit is 0 keeps nothing', async t => {
  const ai = await start(t, { gateway: { logManagement: 0 } })
  await chat(ai)
  await ai.logs.close()
  assert.equal(await ai.store.logs.count(ai.account, 'default'), 0)
  const { written, dropped, over_limit } = ai.edge.metrics.ai.logEntries
  assert.deepEqual([written.value, dropped.value, over_limit.value], [0, 0, 0])
})

test('a response of the gateway instead of the provider is in the log', async t => {
  const ai = await startAi(t, { openai: deadOrigin().url })
  const refused = await chat(ai)
  const { response, providerResponse } = await ai.entry()
  assert.deepEqual([response!.text, providerResponse], [refused.text, null])
  assert.equal(JSON.parse(refused.text).error_code, 521)
  const silent = await startAi(t, { openai: deadOrigin().url }, { gateway: { collectLogs: false } })
  await chat(silent)
  assert.equal((await silent.entry()).response, null)
})

for (const kind of ['SQLite', 'Redis'] as const)
  test(`a credential of the gateway in a body is left out of the entry, whole, encoded and in pieces (${kind})`, async t => {
    const storeUrl = kind === 'Redis' ? (await startRedis(t)).url : 'sqlite::memory:'
    const { value: other } = mintToken('svco_')
    const sent: string[] = []
    const provider = await startProvider(t, async ({ body }, response) => {
      sent.push(JSON.stringify(body))
      const { how } = body as { how?: string }
      if (how === 'whole') return say(response, { ...completion, note: `${token} and \u00e9` })
      if (how === 'gzip') {
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
        return void response.end(gzipSync(JSON.stringify({ ...completion, note: other })))
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const pieces = `Your token is ${token}, I think.`.match(/.{1,5}/g)!
      const events = pieces.map(content => ({ choices: [{ index: 0, delta: { content } }] }))
      const text = [...events, { note: token }].map(event => `data: ${JSON.stringify(event)}\n\n`).join('')
      // Cut anywhere, also within the whole one.
      for (let at = 0; at < text.length; at += 97) {
        response.write(text.slice(at, at + 97))
        await setImmediate()
      }
      response.end('data: [DONE]\n\n')
    })
    const ai = await startAi(t, { openai: { url: provider.url, keys: ['k'] } }, { storeUrl })
    const { token } = ai
    const ask = (how: string, content: string, ...fields: string[]) =>
      ai.edge.ask(
        call(
          `${ai.native('openai')}/chat/completions`,
          JSON.stringify({
            model: 'gpt-4o-mini',
            how,
            stream: how === 'pieces',
            messages: [{ role: 'user', content }],
          }),
          `svc-aig-authorization: Bearer ${token}`,
          ...fields,
        ),
      )
    const asked = `My token is ${token}; who am I?`
    for (const [i, how] of ['whole', 'gzip', 'pieces'].entries()) {
      const answer = await ask(how, asked)
      assert.equal(answer.status, 200)
      const { request, response, providerResponse } = await ai.entry(i + 1)
      const kept = JSON.stringify([request, response, providerResponse])
      assert.doesNotMatch(kept, new RegExp(`${token.slice(5, 20)}|${other.slice(5, 20)}|${token.slice(-12)}`))
      assert.match(request!.text!, /My token is svct_\[redacted\]; who am I\?/)
      assert.equal(providerResponse, null)
      if (how === 'whole') assert.match(response!.text!, /"note":"svct_\[redacted\] and é"/)
      if (how === 'gzip') assert.match(response!.text!, /"note":"svco_\[redacted\]"/)
      if (how !== 'pieces') continue
      const pieces = [...response!.text!.matchAll(/"content":"([^"]*)"/g)].map(([, text]) => text)
      assert.equal(pieces.join(''), 'Your token is svct_[redacted], I think.')
      // The caller has it as it came.
      assert.match(answer.text, new RegExp(token))
    }
    // What goes on to the provider is the caller's own business.
    assert.ok(sent.every(body => body.includes(token)))
    const listed = JSON.stringify(await ai.logged(3))
    assert.doesNotMatch(listed, new RegExp(token.slice(5, 20)))
  })

test('a credential as the model is left out too', async t => {
  const ai = await start(t)
  const { token } = ai
  const body = JSON.stringify({ model: `openai/${token}`, messages: [] })
  await ai.edge.ask(call(`${ai.rest}/v1/chat/completions`, body, `Authorization: Bearer ${token}`))
  const entry = await ai.entry()
  assert.equal(entry.model, 'svct_[redacted]')
  assert.doesNotMatch(JSON.stringify(entry), new RegExp(token.slice(5, 20)))
})

test('a caller names the event of a call, and what it costs', async t => {
  const ai = await start(t)
  await chat(ai, 'svc-aig-event-id: order-1', 'svc-aig-custom-cost: {"total_cost":0.5}')
  const { eventId, cost, hasCustomCost } = await ai.entry()
  assert.deepEqual([eventId, cost, hasCustomCost], ['order-1', 0.5, true])
  await chat(ai, 'svc-aig-custom-cost: {"per_token_in":0.25,"per_token_out":1}')
  const priced = await ai.entry(2)
  assert.deepEqual([priced.cost, priced.tokensIn, priced.tokensOut], [5.25, 9, 3])
  for (const [name, value] of [
    ['svc-aig-event-id', ''],
    ['svc-aig-event-id', 'two words'],
    ['svc-aig-event-id', 'x'.repeat(129)],
    ['svc-aig-event-id', 'a\r\nsvc-aig-event-id: b'],
    ['svc-aig-custom-cost', '{"total_cost":-1}'],
  ] as const) {
    const response = await chat(ai, `${name}: ${value}`)
    assert.equal(response.status, 400, value)
    assert.match(response.text, new RegExp(`${name} must be`))
  }
})

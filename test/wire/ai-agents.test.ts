// What coding agents send besides calls: HEAD of their base URL before the first one, and a WebSocket for Responses before they use POST.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AiEdge, call, completion, json, startAi } from '../help/ai.ts'
import { startResponder } from '../help/origin.ts'

const rest = (ai: AiEdge) => ai.rest
const native = (ai: AiEdge) => ai.native('anthropic')
const unified = (ai: AiEdge) => ai.native('compat')

/** HEAD as Claude Code sends it: without a token, and keeping the connection. */
function headOf(path: string): string {
  return `HEAD ${path} HTTP/1.1\r\nConnection: keep-alive\r\nUser-Agent: Bun/1.4.0\r\nAccept: */*\r\nHost: ai.test\r\n\r\n`
}

for (const authentication of [true, false])
  for (const base of [rest, native, unified])
    for (const end of ['', '/', '/v1'])
      test(`HEAD of a base URL reaches no provider and counts as no call (${base.name}${end}, authentication ${authentication})`, async t => {
        const provider = await startResponder(t, json(completion))
        const ai = await startAi(t, { anthropic: provider.url }, { gateway: { authentication } })
        const client = await ai.edge.connect()
        await client.send(headOf(base(ai) + end))
        const answer = await client.response('HEAD')
        assert.equal(answer.status, 204)
        assert.equal(answer.field('content-length'), null)
        assert.equal(answer.field('connection'), null)
        const { refused, allowed } = ai.edge.metrics.ai
        const counts = [...Object.values(refused), ...Object.values(allowed)].map(({ value }) => value)
        assert.equal(Math.max(...counts), 0)
        // The connection that it opened is the one for the call.
        const field = base === rest ? 'Authorization' : 'svc-aig-authorization'
        const path = base === native ? '/v1/messages' : '/v1/chat/completions'
        const body =
          '{"model":"anthropic/claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}'
        await client.send(call(base(ai) + path, body, `${field}: Bearer ${ai.token}`))
        await client.response('POST')
        assert.equal(provider.requests.length, 1)
        assert.match(provider.requests[0]!.startLine, /^POST \/v1\/messages /)
      })

test('GET of a base URL is a call, and needs a token', async t => {
  const provider = await startResponder(t, json(completion))
  const ai = await startAi(t, { anthropic: provider.url })
  for (const base of [native, rest, unified]) {
    const answer = await ai.edge.ask(headOf(base(ai)).replace('HEAD', 'GET'))
    assert.equal(answer.status, base === native ? 401 : 404)
  }
  assert.equal(provider.requests.length, 0)
})

test('HEAD of a path below a base URL is a call of the provider, and needs a token', async t => {
  const provider = await startResponder(t, json(completion))
  const ai = await startAi(t, { anthropic: provider.url })
  const client = await ai.edge.connect()
  await client.send(headOf(`${native(ai)}/v1/models`))
  assert.equal((await client.response('HEAD')).status, 401)
  assert.equal(provider.requests.length, 0)
})

const handshake = [
  'Host: ai.test',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'openai-beta: responses_websockets=2026-02-06',
]

for (const [base, path] of [
  [rest, '/v1/responses'],
  [rest, '/v1/embeddings'],
  [unified, '/chat/completions'],
] as const)
  test(`a WebSocket where there is none gets 426, and the connection serves the call (${base.name}${path})`, async t => {
    const provider = await startResponder(t, json(completion))
    const ai = await startAi(t, { openai: provider.url })
    const client = await ai.edge.connect()
    const token = `${base === rest ? 'Authorization' : 'svc-aig-authorization'}: Bearer ${ai.token}`
    await client.send(`GET ${base(ai)}${path} HTTP/1.1\r\n${[...handshake, token].join('\r\n')}\r\n\r\n`)
    const answer = await client.response()
    assert.equal(answer.status, 426)
    assert.deepEqual([answer.field('upgrade'), answer.field('connection')], ['HTTP/1.1', 'Upgrade'])
    const errors = JSON.parse(answer.text)
    assert.equal(errors.errors[0].message, 'There is no WebSocket here: send the call with POST')
    assert.equal(provider.requests.length, 0)
    await client.send(
      call(
        base(ai) + path,
        base === rest ? '{"model":"openai/gpt-5","input":"Hi"}' : '{"model":"openai/gpt-5","messages":[]}',
        token,
      ),
    )
    assert.equal((await client.response('POST')).status, 200)
    // GET that asks for no WebSocket is told of POST.
    await client.send(`GET ${base(ai)}${path} HTTP/1.1\r\nHost: ai.test\r\n${token}\r\n\r\n`)
    assert.equal((await client.response()).status, 405)
  })

test('an API that a custom provider has not is refused by us, and the error names the setting', async t => {
  const provider = await startResponder(t, json(completion))
  const ai = await startAi(t, { 'custom-lab': { url: `${provider.url}/v1`, apis: ['embeddings'] } })
  const message =
    'custom-lab has no known API for responses: if it has one, list it in ai.providers.custom-lab.apis'
  const own = `svc-aig-authorization: Bearer ${ai.token}`
  const body = '{"model":"custom-lab/m","input":"Hi"}'
  const onNative = await ai.edge.ask(call(`${ai.native('custom-lab')}/responses`, body, own))
  assert.equal(onNative.status, 404)
  assert.equal(JSON.parse(onNative.text).errors[0].message, message)
  const onRest = await ai.edge.ask(call(`${ai.rest}/v1/responses`, body, `Authorization: Bearer ${ai.token}`))
  assert.deepEqual([onRest.status, JSON.parse(onRest.text).errors[0].message], [400, message])
  // A WebSocket for it is not tried again and again.
  const lines = [...handshake, own].join('\r\n')
  const upgrade = await ai.edge.ask(`GET ${ai.native('custom-lab')}/responses HTTP/1.1\r\n${lines}\r\n\r\n`)
  assert.equal(upgrade.status, 426)
  assert.equal(provider.requests.length, 0)
})

test('an API that the configuration of a custom provider lists is called', async t => {
  const provider = await startResponder(t, json(completion))
  const ai = await startAi(t, { 'custom-lab': { url: `${provider.url}/v1`, apis: ['responses'] } })
  const body = '{"model":"custom-lab/m","input":"Hi"}'
  await ai.edge.ask(
    call(`${ai.native('custom-lab')}/responses`, body, `svc-aig-authorization: Bearer ${ai.token}`),
  )
  await ai.edge.ask(call(`${ai.rest}/v1/responses`, body, `Authorization: Bearer ${ai.token}`))
  assert.deepEqual(
    provider.requests.map(({ startLine }) => startLine),
    Array(2).fill('POST /v1/responses HTTP/1.1'),
  )
})

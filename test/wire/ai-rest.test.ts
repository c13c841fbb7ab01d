// REST routes for AI: the provider by author/model, the body with its model rewritten, and every wrong input with a clear answer.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type AiEdge, type AiSettings, call, completion, json, startAi } from '../help/ai.ts'
import { ok, type Origin, startOrigin, startResponder } from '../help/origin.ts'
import { chunks, type Message } from '../help/raw.ts'

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-5-5',
  content: [{ type: 'text', text: 'Hello.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 9, output_tokens: 3 },
}

interface Started {
  readonly ai: AiEdge
  readonly openai: Origin
  readonly anthropic: Origin
  readonly ask: (path: string, body: string, ...fields: string[]) => Promise<Message>
}

async function start(t: TestContext, settings: AiSettings = {}): Promise<Started> {
  const openai = await startResponder(t, json(completion))
  const anthropic = await startResponder(t, json(message))
  const providers = {
    openai: { url: openai.url, keys: ['sk-ours'] },
    anthropic: { url: anthropic.url, keys: ['ant-ours'] },
    ollama: openai.url,
    'custom-lab': openai.url,
  }
  const ai = await startAi(t, providers, settings)
  const ask: Started['ask'] = (path, body, ...fields) =>
    ai.edge.ask(call(`${ai.rest}${path}`, body, `Authorization: Bearer ${ai.token}`, ...fields))
  return { ai, openai, anthropic, ask }
}

/** Asserts that an answer is the envelope with these mistakes, and gives them. */
function faultsOf(answer: Message, status: number): { code: number; message: string; source?: unknown }[] {
  assert.equal(answer.status, status, answer.text)
  assert.equal(answer.field('content-type'), 'application/json')
  const { success, result, errors } = JSON.parse(answer.text)
  assert.deepEqual([success, result], [false, null])
  return errors
}

test('the model is rewritten, the key is ours, and nothing else of the body is touched', async t => {
  const { ask, openai } = await start(t)
  const body =
    '{ "temperature":1.10, "big":12345678901234567890, "model" : "openai/gpt-4o-mini" ,"messages":[ ],"model_":"openai/x"}'
  const answer = await ask('/v1/chat/completions', body)
  assert.deepEqual(JSON.parse(answer.text), completion)
  const [request] = openai.requests
  assert.equal(request!.startLine, 'POST /chat/completions HTTP/1.1')
  assert.equal(request!.text, body.replace('"openai/gpt-4o-mini"', '"gpt-4o-mini"'))
  assert.equal(request!.field('authorization'), 'Bearer sk-ours')
})

test('each operation goes to the path of its provider', async t => {
  const { ask, openai, anthropic } = await start(t)
  await ask('/v1/responses', '{"model":"openai/gpt-4o","input":"Hi"}')
  await ask('/v1/embeddings', '{"model":"openai/text-embedding-3-small","input":"Hi"}')
  await ask('/v1/chat/completions', '{"model":"@local/llama3.2","messages":[]}')
  await ask('/v1/chat/completions', '{"model":"custom-lab/m","messages":[]}')
  await ask('/v1/messages', '{"model":"anthropic/claude-sonnet-5-5","max_tokens":9,"messages":[]}')
  assert.deepEqual(
    openai.requests.map(({ target }) => target),
    ['/responses', '/embeddings', '/v1/chat/completions', '/chat/completions'],
  )
  const [messages] = anthropic.requests
  assert.equal(messages!.target, '/v1/messages')
  assert.equal(messages!.text, '{"model":"claude-sonnet-5-5","max_tokens":9,"messages":[]}')
  assert.deepEqual([messages!.field('x-api-key'), messages!.field('authorization')], ['ant-ours', null])
})

test('a field for one API goes to no provider of the other', async t => {
  const { ask, openai, anthropic } = await start(t)
  const fields = [
    'Anthropic-Beta: b',
    'anthropic-version: 2024-01-01',
    'OpenAI-Beta: b',
    'openai-organization: o',
  ]
  const names = ['anthropic-beta', 'anthropic-version', 'openai-beta', 'openai-organization']
  const sentTo = ({ requests }: Origin) => names.filter(name => requests.at(-1)!.field(name) !== null)
  const body = (model: string) =>
    `{"model":"${model}","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}`
  for (const path of ['/v1/messages', '/v1/chat/completions']) {
    await ask(path, body('openai/gpt-4o-mini'), ...fields)
    await ask(path, body('anthropic/claude-sonnet-4-5'), ...fields)
    assert.deepEqual(sentTo(openai), ['openai-beta', 'openai-organization'], path)
    assert.deepEqual(sentTo(anthropic), ['anthropic-beta', 'anthropic-version'], path)
  }
})

test('a chat completion for a provider of messages is translated both ways', async t => {
  const { ask, anthropic } = await start(t)
  const body =
    '{"model":"anthropic/claude-sonnet-5-5","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}]}'
  const answer = await ask('/v1/chat/completions', body, 'Accept-Encoding: gzip')
  const [request] = anthropic.requests
  const sent = JSON.parse(request!.text)
  assert.deepEqual(
    [sent.model, sent.messages.length, typeof sent.max_tokens],
    ['claude-sonnet-5-5', 1, 'number'],
  )
  assert.equal(request!.field('accept-encoding'), 'identity')
  const { object, choices, usage } = JSON.parse(answer.text)
  assert.equal(object, 'chat.completion')
  assert.equal(choices[0].message.content, 'Hello.')
  assert.deepEqual([usage.prompt_tokens, usage.completion_tokens], [9, 3])
})

test('messages for a provider of chat completions are translated both ways', async t => {
  const { ask, openai } = await start(t)
  const answer = await ask(
    '/v1/messages',
    '{"model":"openai/gpt-4o-mini","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}',
  )
  assert.equal(openai.requests[0]!.target, '/chat/completions')
  const { type, content, usage } = JSON.parse(answer.text)
  assert.deepEqual(
    [type, content[0].text, usage.input_tokens, usage.output_tokens],
    ['message', 'Hello.', 9, 3],
  )
})

test('a call that cannot be translated is refused with the name of the member, and reaches no provider', async t => {
  const { ask, anthropic } = await start(t)
  const body =
    '{"model":"anthropic/claude-sonnet-5-5","messages":[{"role":"user","content":"Hi"}],"logprobs":true,"seed":7}'
  const faults = faultsOf(await ask('/v1/chat/completions', body), 400)
  assert.deepEqual(faults.map(({ source }) => source).sort(), [
    { pointer: '/logprobs' },
    { pointer: '/seed' },
  ])
  assert.equal(anthropic.bytesReceived, 0)
})

test('a run wraps the response of the provider in the envelope, with the model in the body or in the path', async t => {
  const { ask, openai, anthropic } = await start(t)
  const input = '{"messages":[{"role":"user","content":"Hi"}]}'
  const inBody = await ask('/run', `{"model":"openai/gpt-4o-mini","input":${input}}`)
  const inPath = await ask('/run/openai/gpt-4o-mini', input)
  for (const answer of [inBody, inPath])
    assert.deepEqual(JSON.parse(answer.text), { success: true, errors: [], messages: [], result: completion })
  await ask('/run/anthropic/claude-sonnet-5-5', '{"max_tokens":9,"messages":[]}')
  for (const { text } of openai.requests)
    assert.deepEqual(JSON.parse(text), { model: 'gpt-4o-mini', ...JSON.parse(input) })
  assert.equal(anthropic.requests[0]!.target, '/v1/messages')
})

test('a run wraps a translated response too', async t => {
  const { ask, anthropic } = await start(t)
  const answer = await ask('/run/anthropic/claude-sonnet-5-5', '{"prompt":"Hi"}')
  const { success, result } = JSON.parse(answer.text)
  assert.deepEqual(
    [success, result.object, result.choices[0].message.content],
    [true, 'chat.completion', 'Hello.'],
  )
  assert.equal(anthropic.requests[0]!.target, '/v1/messages')
})

test('the unified endpoint takes author/model on the native base, with the key of the caller', async t => {
  const { ai, openai } = await start(t)
  const answer = await ai.edge.ask(
    call(
      `${ai.native('compat')}/chat/completions`,
      '{"model":"openai/gpt-4o-mini","messages":[]}',
      `svc-aig-authorization: Bearer ${ai.token}`,
      'Authorization: Bearer sk-own',
    ),
  )
  assert.equal(answer.status, 200)
  assert.equal(openai.requests[0]!.field('authorization'), 'Bearer sk-own')
})

test('an unknown model is 404 in the envelope', async t => {
  const { ask } = await start(t)
  for (const model of ['nobody/gpt', 'gpt', 'openai/', ''])
    assert.equal(
      faultsOf(await ask('/v1/chat/completions', JSON.stringify({ model, messages: [] })), 404)[0]!.code,
      7003,
    )
})

test('invalid bodies get a clear error, and reach no provider', async t => {
  const { ask, openai } = await start(t)
  const path = '/v1/chat/completions'
  assert.match(faultsOf(await ask(path, '{"model":'), 400)[0]!.message, /JSON/)
  assert.match(faultsOf(await ask(path, '[]'), 400)[0]!.message, /object/)
  assert.match(faultsOf(await ask(path, ''), 400)[0]!.message, /JSON/)
  assert.match(faultsOf(await ask(path, '{"messages":[]}'), 400)[0]!.message, /model/)
  assert.match(faultsOf(await ask(path, '{"model":7}'), 400)[0]!.message, /model/)
  assert.match(faultsOf(await ask(path, '{"model":"openai/a","model":"openai/b"}'), 400)[0]!.message, /model/)
  assert.equal(openai.bytesReceived, 0)
})

test('a body that is not plain JSON is 415', async t => {
  const { ai, ask } = await start(t)
  const typed = call(`${ai.rest}/v1/responses`, '{}', `Authorization: Bearer ${ai.token}`)
  assert.equal(
    faultsOf(await ai.edge.ask(typed.replace('application/json', 'text/plain')), 415)[0]!.code,
    6004,
  )
  assert.equal(faultsOf(await ask('/v1/responses', '{}', 'Content-Encoding: gzip'), 415)[0]!.code, 6004)
})

test('a body over the limit is 413, announced or not', async t => {
  const { ai, ask, openai } = await start(t, { ai: { bodyLimit: 1_000 } })
  const [fault] = faultsOf(await ask('/v1/responses', `"${'x'.repeat(1_000)}"`), 413)
  assert.deepEqual([fault!.code, fault!.message], [6005, 'The body must not be larger than 1000B'])
  const chunked = call(`${ai.rest}/v1/responses`, '', `Authorization: Bearer ${ai.token}`).replace(
    'Content-Length: 0',
    'Transfer-Encoding: chunked',
  )
  const answer = await ai.edge.ask(`${chunked}5dc\r\n${'x'.repeat(1_500)}\r\n0\r\n\r\n`)
  assert.equal(answer.status, 413)
  assert.equal(openai.bytesReceived, 0)
})

test('invalid metadata gets a clear error that names the field', async t => {
  const { ask, openai } = await start(t)
  const body = '{"model":"openai/gpt-4o-mini","messages":[]}'
  for (const metadata of ['no JSON', '[]', '{"a":{}}', '{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1}'])
    assert.match(
      faultsOf(await ask('/v1/chat/completions', body, `svc-aig-metadata: ${metadata}`), 400)[0]!.message,
      /svc-aig-metadata/,
    )
  const collect = await ask('/v1/chat/completions', body, 'svc-aig-collect-log-payload: maybe')
  assert.match(faultsOf(collect, 400)[0]!.message, /svc-aig-collect-log-payload/)
  const log = await ask('/v1/chat/completions', body, 'svc-aig-collect-log: no')
  assert.match(faultsOf(log, 400)[0]!.message, /^svc-aig-collect-log must be true or false, and given once$/)
  assert.equal(openai.bytesReceived, 0)
})

test('an unknown field for the gateway is refused by its name', async t => {
  const { ai, ask, openai } = await start(t)
  const body = '{"model":"openai/gpt-4o-mini","messages":[]}'
  for (const name of ['svc-aig-cache-tags', 'SVC-AIG-Skip', 'svc_aig_metadata', 'svc-aig-']) {
    const [fault] = faultsOf(
      await ask('/v1/chat/completions', body, 'svc-aig-metadata: {}', `${name}: 1`),
      400,
    )
    assert.equal(fault!.message, `${name.toLowerCase()} is not supported by this gateway`)
  }
  const native = await ai.edge.ask(
    call(
      `${ai.native('openai')}/chat/completions`,
      '{}',
      `svc-aig-authorization: Bearer ${ai.token}`,
      'svc-aig-cache-tags: 5000',
    ),
  )
  assert.equal(native.status, 400)
  assert.match(native.text, /svc-aig-cache-tags/)
  const stranger = await ai.edge.ask(call(`${ai.rest}/v1/chat/completions`, body, 'svc-aig-cache-tags: 1'))
  assert.equal(stranger.status, 401)
  assert.equal(openai.bytesReceived, 0)
})

test('another method is 405 with Allow', async t => {
  const { ai } = await start(t)
  const answer = await ai.edge.ask(`GET ${ai.rest}/v1/chat/completions HTTP/1.1\r\nHost: ai.test\r\n\r\n`)
  assert.deepEqual([answer.field('allow'), faultsOf(answer, 405)[0]!.code], ['POST', 7001])
})

test('a response that cannot be translated is 502, not half a response', async t => {
  const provider = await startResponder(t, json({ unexpected: true }))
  const ai = await startAi(t, { anthropic: provider.url })
  const body = '{"model":"anthropic/claude-sonnet-5-5","messages":[{"role":"user","content":"Hi"}]}'
  const answer = await ai.edge.ask(
    call(`${ai.rest}/v1/chat/completions`, body, `Authorization: Bearer ${ai.token}`),
  )
  assert.equal(answer.status, 502)
})

test('a body in chunks of one byte reaches the provider whole', async t => {
  const { ai, openai } = await start(t)
  const client = await ai.edge.connect()
  const fields = `Host: ai.test\r\nContent-Type: application/json\r\nAuthorization: Bearer ${ai.token}`
  await client.send(
    `POST ${ai.rest}/v1/chat/completions HTTP/1.1\r\n${fields}\r\nTransfer-Encoding: chunked\r\n\r\n`,
  )
  await client.send('1\r\n \r\n'.repeat(2 ** 20))
  await client.send(`${chunks('{"model":"openai/gpt-4o-mini","messages":[]}')}0\r\n\r\n`)
  assert.equal((await client.response('POST')).status, 200)
  assert.equal(openai.requests[0]!.body.length, 2 ** 20 + '{"model":"gpt-4o-mini","messages":[]}'.length)
})

test('a body of countless values is refused before it is parsed', async t => {
  const { ask, openai } = await start(t)
  const answer = await ask('/v1/chat/completions', `{"model":"openai/a","x":[${'0,'.repeat(600_000)}0]}`)
  assert.match(faultsOf(answer, 400)[0]!.message, /values/)
  assert.match(
    faultsOf(await ask('/v1/responses', JSON.stringify({ model: `openai/${'a'.repeat(300)}` })), 400)[0]!
      .message,
    /256/,
  )
  assert.equal(openai.bytesReceived, 0)
})

test('no credential of a caller reaches a provider on a REST route, in whatever field or parameter', async t => {
  const provider = await startResponder(t, json(completion))
  const ai = await startAi(t, { 'google-ai-studio': { url: provider.url, keys: ['ours'] } })
  const body = '{"model":"google/gemini-2.5-flash","messages":[]}'
  const fields = ['x-api-key: SECRET', 'x-goog-api-key: SECRET', 'api-key: SECRET', 'Cookie: SECRET']
  const path = `${ai.rest}/v1/chat/completions?key=SECRET&beta=true`
  await ai.edge.ask(call(path, body, `Authorization: Bearer ${ai.token}`, ...fields, 'X-Real-IP: 192.0.2.1'))
  const [request] = provider.requests
  assert.equal(request!.target, '/v1beta/openai/chat/completions?beta=true')
  assert.equal(request!.field('authorization'), 'Bearer ours')
  assert.doesNotMatch(request!.lines.join('\n'), /SECRET|svct_|192\.0\.2\.1/)
})

test('a run whose response is not JSON is 502, not a broken envelope', async t => {
  const provider = await startResponder(t, ok('<p>Hello', 'Content-Type: text/html'))
  const ai = await startAi(t, { openai: provider.url })
  const path = `${ai.rest}/run/openai/gpt-4o-mini`
  assert.equal(
    (await ai.edge.ask(call(path, '{"prompt":"Hi"}', `Authorization: Bearer ${ai.token}`))).status,
    502,
  )
})

test('a response that cannot be translated is 502, however slowly it arrives', async t => {
  const provider = await startOrigin(t, async wire => {
    await wire.request()
    const [head, body] = json({ unexpected: true }).split('\r\n\r\n')
    await wire.send(`${head}\r\n\r\n`)
    await new Promise(resolve => setTimeout(resolve, 50))
    await wire.send(body!)
    await wire.ending
  })
  const ai = await startAi(t, { anthropic: provider.url })
  const text = '{"model":"anthropic/claude-sonnet-5-5","messages":[{"role":"user","content":"Hi"}]}'
  const answer = await ai.edge.ask(
    call(`${ai.rest}/v1/chat/completions`, text, `Authorization: Bearer ${ai.token}`),
  )
  assert.equal(answer.status, 502)
})

test('an unknown path is 404 in the envelope, and the connection stays open', async t => {
  const { ai } = await start(t)
  const client = await ai.edge.connect()
  await client.send(call(`${ai.rest}/v1/files`, '{}').repeat(2))
  for (let i = 0; i < 2; i++) assert.equal(faultsOf(await client.response('POST'), 404)[0]!.code, 7003)
})

test('a provider that does not read a buffered body fails by timeouts.write', async t => {
  const provider = await startOrigin(t, async wire => {
    wire.socket.pause()
    await wire.ending
  })
  const ai = await startAi(t, { openai: provider.url }, { timeouts: { write: 300, response: 20_000 } })
  const text = JSON.stringify({ model: 'openai/gpt-4o', input: 'x'.repeat(2 ** 24) })
  const answer = await ai.edge.ask(call(`${ai.rest}/v1/responses`, text, `Authorization: Bearer ${ai.token}`))
  assert.equal(answer.status, 524)
})

test('a gateway in the path cannot be overridden by a header', async t => {
  const { ai, openai } = await start(t)
  const body = '{"model":"openai/gpt-4o-mini","messages":[]}'
  for (const path of [`${ai.native('openai')}/chat/completions`, `${ai.native('compat')}/chat/completions`]) {
    const named = (...fields: string[]) =>
      ai.edge.ask(call(path, body, `svc-aig-authorization: Bearer ${ai.token}`, ...fields))
    const good = 'svc-aig-gateway-id: default'
    assert.equal((await named(good)).status, 200)
    for (const fields of [['svc-aig-gateway-id: other'], ['svc-aig-gateway-id: '], [good, good]]) {
      const answer = await named(...fields)
      assert.deepEqual(
        [answer.status, JSON.parse(answer.text).errors[0].message],
        [400, 'svc-aig-gateway-id must name the gateway in the path, or be left out'],
      )
    }
  }
  assert.equal(openai.requests.length, 2)
})

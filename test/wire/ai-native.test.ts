// Provider-native routes: what goes to a provider and what comes back, byte for byte.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { type AiEdge, call, completion, json, startAi } from '../help/ai.ts'
import { codeOf, zoneTo } from '../help/edge.ts'
import { startIssuer } from '../help/issuer.ts'
import { deadOrigin, ok, startResponder } from '../help/origin.ts'
import { chunks } from '../help/raw.ts'

test('a body goes to the provider byte for byte, JSON or not, and so does the response', async t => {
  const body = randomBytes(200_000)
  const reply = randomBytes(200_000).toString('latin1')
  const provider = await startResponder(t, ok(reply, 'Content-Type: application/octet-stream'))
  const ai = await startAi(t, { openai: `${provider.url}/base` })
  const client = await ai.edge.connect()
  const head = call(
    `${ai.native('openai')}/audio/speech?a=%20b&c`,
    '',
    `svc-aig-authorization: Bearer ${ai.token}`,
  )
  await client.send(head.replace('Content-Length: 0', `Content-Length: ${body.length}`))
  await client.send(body)
  const answer = await client.response()
  assert.equal(answer.text, reply)
  const [request] = provider.requests
  assert.equal(request!.startLine, 'POST /base/audio/speech?a=%20b&c HTTP/1.1')
  assert.ok(request!.body.equals(body))
  assert.equal(answer.field('svc-ray')?.length, 16)
})

test('no field for the gateway reaches a provider, whatever its spelling', async t => {
  const provider = await startResponder(t, json(completion))
  const ai = await startAi(t, { openai: provider.url })
  await ai.edge.ask(
    call(
      `${ai.native('openai')}/chat/completions`,
      '{}',
      `SVC-AIG-Authorization: Bearer ${ai.token}`,
      'svc-aig-metadata: {"team":"SECRET"}',
      'svc-aig-collect-log-payload: true',
      'X-Forwarded-For: 192.0.2.1',
      'Authorization: Bearer sk-own',
      'OpenAI-Beta: assistants=v2',
    ),
  )
  const [request] = provider.requests
  assert.ok(request, 'the call went through')
  assert.doesNotMatch(request.lines.join('\n'), /svc[-_]aig|SECRET|svct_|forwarded/i)
  assert.equal(request.field('authorization'), 'Bearer sk-own')
  assert.equal(request.field('openai-beta'), 'assistants=v2')
  assert.equal(request.field('host'), new URL(provider.url).host)
})

test('what a gate before the origin of a provider sets, no caller sends to it', async t => {
  const [provider, other] = [
    await startResponder(t, json(completion)),
    await startResponder(t, json(completion)),
  ]
  const { gate } = await startIssuer(t)
  const protect = [{ ...gate, fields: ['X-User', 'X-Api-Key'].map(name => ({ name, claim: 'sub' })) }]
  const zones = [zoneTo([provider.url.replace('127.0.0.1', 'localhost')], { route: { protect } })]
  const ai = await startAi(
    t,
    { openai: { url: provider.url, keys: ['sk-ours'] }, anthropic: other.url },
    { zones },
  )
  const send = (name: string, ...lines: string[]) =>
    ai.edge.ask(
      call(`${ai.native(name)}/v1/models`, '{}', `svc-aig-authorization: Bearer ${ai.token}`, ...lines),
    )
  const forged = ['X-User: mallory', 'x_user: mallory', 'x-api-key: sk-mallory', 'X-Other: yes']
  for (const name of ['openai', 'anthropic', 'openai'])
    assert.equal((await send(name, ...forged)).status, 200, name)
  for (const sent of provider.requests) {
    assert.doesNotMatch(sent.lines.join(), /mallory/)
    assert.deepEqual([sent.field('authorization'), sent.field('x-other')], ['Bearer sk-ours', 'yes'])
  }
  assert.equal(provider.requests.length, 2)
  assert.deepEqual(
    [other.requests[0]!.field('x-user'), other.requests[0]!.field('x-api-key')],
    ['mallory', 'sk-mallory'],
  )
})

test('a configured key is used for a caller that sends none', async t => {
  const provider = await startResponder(t, json(completion))
  const ai = await startAi(t, {
    openai: { url: provider.url, keys: ['sk-ours'] },
    anthropic: { url: provider.url, keys: ['ant-ours'] },
  })
  const mine = `svc-aig-authorization: Bearer ${ai.token}`
  await ai.edge.ask(call(`${ai.native('openai')}/chat/completions`, '{}', mine))
  await ai.edge.ask(
    call(`${ai.native('openai')}/chat/completions`, '{}', mine, 'Authorization: Bearer sk-own'),
  )
  await ai.edge.ask(call(`${ai.native('anthropic')}/v1/messages`, '{}', mine))
  await ai.edge.ask(
    call(
      `${ai.native('anthropic')}/v1/messages`,
      '{}',
      mine,
      'x-api-key: own',
      'anthropic-version: 2024-01-01',
    ),
  )
  const sent = provider.requests.map(request => [
    request.field('authorization'),
    request.field('x-api-key'),
    request.field('anthropic-version'),
  ])
  assert.deepEqual(sent, [
    ['Bearer sk-ours', null, null],
    ['Bearer sk-own', null, null],
    [null, 'ant-ours', '2023-06-01'],
    [null, 'own', '2024-01-01'],
  ])
})

test('a custom provider gets the credential of its caller in whatever field it is', async t => {
  const provider = await startResponder(t, json(completion))
  const ai = await startAi(t, { 'custom-lab': { url: provider.url, keys: ['ours'] } })
  const mine = `svc-aig-authorization: Bearer ${ai.token}`
  await ai.edge.ask(call(`${ai.native('custom-lab')}/x`, '{}', mine, 'x-api-key: own'))
  await ai.edge.ask(call(`${ai.native('custom-lab')}/x`, '{}', mine))
  assert.deepEqual(
    provider.requests.map(request => [request.field('x-api-key'), request.field('authorization')]),
    [
      ['own', null],
      [null, 'Bearer ours'],
    ],
  )
})

test('several keys are taken in turn', async t => {
  const provider = await startResponder(t, json(completion))
  const ai = await startAi(t, { openai: { url: provider.url, keys: ['a', 'b'] } })
  for (let i = 0; i < 4; i++)
    await ai.edge.ask(call(`${ai.native('openai')}/x`, '{}', `svc-aig-authorization: Bearer ${ai.token}`))
  assert.deepEqual(
    provider.requests.map(request => request.field('authorization')),
    ['Bearer a', 'Bearer b', 'Bearer a', 'Bearer b'],
  )
})

test('any method passes, with any framing', async t => {
  const provider = await startResponder(t, json({ object: 'list', data: [] }))
  const ai = await startAi(t, { openai: provider.url })
  const client = await ai.edge.connect()
  const fields = `Host: ai.test\r\nsvc-aig-authorization: Bearer ${ai.token}\r\n`
  await client.send(`GET ${ai.native('openai')}/models HTTP/1.1\r\n${fields}\r\n`)
  assert.equal((await client.response()).status, 200)
  await client.send(
    `POST ${ai.native('openai')}/files HTTP/1.1\r\n${fields}Transfer-Encoding: chunked\r\n\r\n${chunks('one', 'two')}0\r\n\r\n`,
  )
  assert.equal((await client.response()).status, 200)
  assert.deepEqual(
    provider.requests.map(({ startLine, text }) => [startLine, text]),
    [
      ['GET /models HTTP/1.1', ''],
      ['POST /files HTTP/1.1', 'onetwo'],
    ],
  )
})

test('errors of a provider pass through unchanged, with their Retry-After', async t => {
  const body = '{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}'
  const provider = await startResponder(
    t,
    `HTTP/1.1 429 Too Many Requests\r\nRetry-After: 17\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  const ai = await startAi(t, { openai: provider.url })
  const answer = await ai.edge.ask(
    call(`${ai.native('openai')}/chat/completions`, '{}', `svc-aig-authorization: Bearer ${ai.token}`),
  )
  assert.deepEqual([answer.status, answer.field('retry-after'), answer.text], [429, '17', body])
})

test('a provider that is down gives the same record as such an origin, in the form for SDKs too', async t => {
  const ai = await startAi(t, { openai: deadOrigin().url })
  const answer = await ai.edge.ask(
    call(
      `${ai.native('openai')}/chat/completions`,
      '{}',
      `svc-aig-authorization: Bearer ${ai.token}`,
      'Accept: application/json',
    ),
  )
  assert.equal(codeOf(answer), 521)
  const { message, error, detail } = JSON.parse(answer.text)
  assert.equal(message, detail)
  assert.deepEqual(error, { message: detail, type: 'origin_down', code: 521 })
  assert.equal(answer.field('x-should-retry'), 'true')
  assert.match(answer.startLine, /^HTTP\/1\.1 521 Web server is down$/)
  assert.equal((await ai.entry()).error, 'origin_down')
})

test('an unknown provider or path is 404 by name', async t => {
  const ai = await startAi(t, {})
  const mine = `svc-aig-authorization: Bearer ${ai.token}`
  const unknown = await ai.edge.ask(call(`${ai.native('nobody')}/x`, '{}', mine))
  assert.equal(unknown.status, 404)
  assert.match(unknown.text, /Unknown provider nobody/)
  assert.equal((await ai.edge.ask(call('/somewhere', '{}', mine))).status, 404)
  assert.equal((await ai.edge.ask(call('/', '{}', mine))).status, 404)
})

test('an AI host previews errors as every host does', async t => {
  const ai = await startAi(t, {})
  const preview = 'GET /cdn-cgi/error/522 HTTP/1.1\r\nHost: ai.test\r\nAccept: application/json\r\n\r\n'
  assert.equal(codeOf(await ai.edge.ask(preview)), 522)
})

test('a token of the gateway never reaches a provider, in the place of a key or after the body', async t => {
  const provider = await startResponder(t, json(completion))
  const ai = await startAi(t, { openai: { url: provider.url, keys: ['sk-ours'] } })
  const path = `${ai.native('openai')}/chat/completions`
  const mine = `svc-aig-authorization: Bearer ${ai.token}`
  await ai.edge.ask(call(path, '{}', mine, `Authorization: Bearer ${ai.token}`))
  const chunked = call(path, '', mine).replace('Content-Length: 0', 'Transfer-Encoding: chunked')
  await ai.edge.ask(`${chunked}${chunks('{}')}0\r\nsvc-aig-authorization: Bearer ${ai.token}\r\n\r\n`)
  assert.equal(provider.requests.length, 2)
  for (const { lines, trailers } of provider.requests)
    assert.doesNotMatch([...lines, ...trailers].join('\n'), /svct_|svc-aig/)
  assert.equal(provider.requests[0]!.field('authorization'), 'Bearer sk-ours')
})

test('the unified endpoint sends the key of the caller to each provider in the field that it expects', async t => {
  const provider = await startResponder(t, json(completion))
  const ai = await startAi(t, { anthropic: { url: provider.url, keys: ['ant-ours'] } })
  const body = '{"model":"anthropic/claude-sonnet-5-5","messages":[{"role":"user","content":"Hi"}]}'
  const mine = `svc-aig-authorization: Bearer ${ai.token}`
  const path = `${ai.native('compat')}/chat/completions`
  await ai.edge.ask(call(path, body, mine, 'Authorization: Bearer ant-own'))
  await ai.edge.ask(call(path, body, mine))
  assert.deepEqual(
    provider.requests.map(request => [request.field('x-api-key'), request.field('authorization')]),
    [
      ['ant-own', null],
      ['ant-ours', null],
    ],
  )
})

test('a body is streamed, and as large as uploads may be', async t => {
  const provider = await startResponder(t, json(completion))
  const post = (ai: AiEdge, size: number, chunked = false) => {
    const mine = `svc-aig-authorization: Bearer ${ai.token}`
    const whole = call(`${ai.native('openai')}/files`, 'x'.repeat(size), mine)
    const [head, body] = whole.split('\r\n\r\n') as [string, string]
    const framed = head.replace(/Content-Length: \d+/, 'Transfer-Encoding: chunked')
    return ai.edge.ask(chunked ? `${framed}\r\n\r\n${chunks(body)}0\r\n\r\n` : whole)
  }
  const openai = { url: provider.url, keys: ['a'] }
  const unbounded = await startAi(t, { openai }, { ai: { bodyLimit: 1_000 } })
  for (const chunked of [false, true]) assert.equal((await post(unbounded, 5_000, chunked)).status, 200)
  const bounded = await startAi(t, { openai }, { ai: { bodyLimit: 1_000, uploadLimit: 4_000 } })
  for (const chunked of [false, true]) {
    assert.equal((await post(bounded, 4_000, chunked)).status, 200)
    const { status, text } = await post(bounded, 4_001, chunked)
    assert.deepEqual([status, /must not be larger than 4000B/.test(text)], [413, true], text)
  }
  const keys = { openai: { ...openai, keys: ['a', 'b'] } }
  const buffering = await startAi(t, keys, { ai: { bodyLimit: 1_000, uploadLimit: 4_000 } })
  assert.equal((await post(buffering, 4_000)).status, 200)
  assert.equal((await post(buffering, 4_001)).status, 413)
  // How much will come is unknown, and another key could need all of it.
  assert.equal((await post(buffering, 1_000, true)).status, 200)
  assert.equal((await post(buffering, 1_001, true)).status, 413)
})

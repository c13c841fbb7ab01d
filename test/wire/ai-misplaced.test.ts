// Credentials of the gateway in places from which they would go on to a provider: refused by name, whatever the gateway asks of callers.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { mintToken } from '../../src/tokens/token.ts'
import { type AiEdge, call, completion, json, startAi } from '../help/ai.ts'
import { type Origin, startResponder } from '../help/origin.ts'

const chat = '{"model":"openai/gpt-4o-mini","messages":[{"role":"user","content":"Hi"}]}'

async function start(t: TestContext, authentication: boolean): Promise<{ ai: AiEdge; provider: Origin }> {
  const provider = await startResponder(t, json(completion))
  const openai = { url: provider.url, keys: ['sk-ours'] }
  return { ai: await startAi(t, { openai }, { gateway: { authentication } }), provider }
}

const routes = {
  rest: { path: (ai: AiEdge) => `${ai.rest}/v1/chat/completions`, bearer: 'Authorization' },
  native: {
    path: (ai: AiEdge) => `${ai.native('openai')}/chat/completions`,
    bearer: 'svc-aig-authorization',
  },
  compat: {
    path: (ai: AiEdge) => `${ai.native('compat')}/chat/completions`,
    bearer: 'svc-aig-authorization',
  },
}

for (const [name, { path, bearer }] of Object.entries(routes))
  for (const authentication of [true, false])
    test(`a credential of the gateway is refused wherever it would be forwarded (${name}, authentication ${authentication})`, async t => {
      const { ai, provider } = await start(t, authentication)
      const { token } = ai
      const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
      const queries = [
        `key=${token}`,
        `key=a${token.replace('_', '%5F')}`,
        `a=b&key=%73vc%74_${token.slice(5)}`,
        token,
        `key=svcs_${'x'.repeat(43)}`,
      ]
      const fields = [
        `x-api-key: ${token}`,
        `X-Goog-Api-Key: ${mintToken('svco_').value}`,
        `Cookie: a=b; t=${token}`,
        `Referer: http://site.test/?key=${token}`,
        `Proxy-Authorization: Bearer ${token}`,
        `svc-aig-metadata: {"a":"${token}"}`,
        `svc-aig-metadata: {"a":"\\u0073${token.slice(1)}"}`,
        `x-basic: ${basic(`:${token}`)}`,
        `authorization: ${basic(`u:${token}`)}`,
        `x-two: Bearer a, ${basic(`u:${token}`)}`,
        `authorization: ${token}`,
      ]
      const good = `${bearer}: Bearer ${token}`
      const asked = [
        ...queries.map(query => [call(`${path(ai)}?${query}`, chat, good), 'the query'] as const),
        ...fields.map(line => {
          const where = `the header ${line.slice(0, line.indexOf(':')).toLowerCase()}`
          return [call(path(ai), chat, line, good), where] as const
        }),
        [call(path(ai), chat, `${token}: 1`, good), 'the name of a header'],
        [call(path(ai), chat, `X${token}: 1`, good), 'the name of a header'],
        [call(path(ai), chat, good).replace('POST', token), 'the method'],
        ...(name === 'native' ? [[call(`${path(ai)}/${token}`, chat, good), 'the path'] as const] : []),
      ] as const
      for (const [request, where] of asked) {
        const answer = await ai.edge.ask(request)
        assert.equal(answer.status, 400, where)
        const { errors, error } = JSON.parse(answer.text)
        const [{ code, message }] = errors ?? error
        const told = `A credential of this gateway must not be in ${where}: send it as ${bearer}: Bearer TOKEN`
        assert.deepEqual([code, message], [10001, told])
        assert.doesNotMatch(answer.text, new RegExp(token.slice(5)))
      }
      assert.equal(provider.bytesReceived, 0)
      assert.equal(ai.edge.metrics.ai.refused.misplaced.value, asked.length)
      assert.deepEqual(ai.edge.accesses, [])
      await ai.logs.close()
      assert.equal(await ai.store.logs.count(ai.account, 'default'), 0)
    })

for (const [name, { path, bearer }] of Object.entries(routes)) {
  const other = name === 'rest' ? 'svc-aig-authorization' : 'authorization'
  const told = `A credential of this gateway must not be in the header ${other}: send it as ${bearer}: Bearer TOKEN`

  test(`a token in the header of the other kind of route is told both headers, whether it exists or not (${name})`, async t => {
    const { ai, provider } = await start(t, true)
    const [made, key] = [mintToken().value, 'Bearer sk-of-the-caller']
    const tokens = [ai.token, made, mintToken('svco_').value, await ai.mint({ status: 'disabled' })]
    const asked = tokens.flatMap(token => [
      call(path(ai), chat, `${other}: Bearer ${token}`),
      call(path(ai), chat, `${other}: bearer ${token}`, `${bearer}: ${key}`),
      call(path(ai), chat, `${other}: Bearer ${token}`, `${other}: Bearer ${token}`),
    ])
    const texts = new Set<string>()
    for (const request of asked) {
      const answer = await ai.edge.ask(request)
      assert.deepEqual([answer.status, answer.field('x-should-retry')], [400, 'false'])
      assert.equal(answer.field('www-authenticate'), null)
      texts.add(answer.text)
    }
    assert.equal(texts.size, 1, 'one answer, whatever the token is')
    const { errors, message, error } = JSON.parse([...texts][0]!)
    assert.deepEqual(errors, [{ code: 10001, message: told }])
    assert.deepEqual([message, error], [told, { message: told, type: 'bad_request', code: 400 }])
    for (const accept of ['text/html', 'text/markdown']) {
      const answer = await ai.edge.ask(
        call(path(ai), chat, `${other}: Bearer ${ai.token}`, `Accept: ${accept}`),
      )
      assert.deepEqual([answer.status, answer.field('content-type')], [400, `${accept}; charset=utf-8`])
      assert.ok(answer.text.includes(`${told}.`), answer.text)
      assert.doesNotMatch(answer.text, new RegExp(ai.token.slice(5)))
    }
    assert.equal(provider.bytesReceived, 0)
    assert.equal(ai.edge.metrics.ai.refused.misplaced.value, asked.length + 2)
  })

  test(`a token in its own header that is not valid is no token in the wrong one (${name})`, async t => {
    const { ai } = await start(t, true)
    const made = mintToken().value
    const both = [`${bearer}: Bearer ${made}`, `${other}: Bearer ${ai.token}`]
    for (const fields of [both, both.toReversed(), [`${bearer}: Bearer ${made}`], [`${other}: Bearer svct_`]])
      assert.equal((await ai.edge.ask(call(path(ai), chat, ...fields))).status, 401, `${fields}`)
  })
}

test('a WebSocket handshake carries no credential of the gateway to a provider', async t => {
  const { ai, provider } = await start(t, true)
  const handshake = [
    `GET ${ai.native('openai')}/realtime?model=a&key=${ai.token} HTTP/1.1`,
    'Host: ai.test',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    `svc-aig-authorization: Bearer ${ai.token}`,
  ]
  const asked = `${handshake.join('\r\n')}\r\n\r\n`
  assert.equal((await ai.edge.ask(asked)).status, 400)
  const protocols = asked
    .replace(`&key=${ai.token}`, '')
    .replace(
      'Sec-WebSocket-Version',
      `Sec-WebSocket-Protocol: realtime, openai-insecure-api-key.${ai.token}\r\n$&`,
    )
  assert.equal((await ai.edge.ask(protocols)).status, 400)
  const elsewhere = asked.replace(`&key=${ai.token}`, '').replace('svc-aig-authorization', 'Authorization')
  const answer = await ai.edge.ask(elsewhere)
  assert.equal(answer.status, 400)
  assert.match(
    JSON.parse(answer.text).message,
    /the header authorization: send it as svc-aig-authorization: /,
  )
  assert.equal(provider.bytesReceived, 0)
})

test('a method or path with a credential of the gateway is not logged, even where something else refuses the call', async t => {
  const { ai } = await start(t, true)
  const paths = { [`${ai.rest}/run/${ai.token}`]: 400, [`/v1/${ai.token}`]: 404, '/v1/plain': 404 }
  for (const [path, status] of Object.entries(paths)) {
    const answer = await ai.edge.ask(`GET ${path} HTTP/1.1\r\nHost: ai.test\r\n\r\n`)
    assert.equal(answer.status, status)
  }
  assert.equal((await ai.edge.ask(`${ai.token} /v1/plain HTTP/1.1\r\nHost: ai.test\r\n\r\n`)).status, 404)
  assert.deepEqual(
    ai.edge.accesses.map(({ method, path }) => [method, path]),
    [
      ['GET', null],
      ['GET', '/v1/plain'],
      ['', '/v1/plain'],
    ],
  )
  assert.doesNotMatch(JSON.stringify(ai.edge.accesses), /svct_/)
})

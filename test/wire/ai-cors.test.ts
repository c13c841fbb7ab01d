// Pages of other sites call AI routes from the browser, where the operator allows them.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type AiSettings, call, completion, json, startAi } from '../help/ai.ts'
import { startResponder } from '../help/origin.ts'
import type { Message } from '../help/raw.ts'

const chat = '{"model":"openai/gpt-4o-mini","messages":[{"role":"user","content":"Hi"}]}'
const page = 'https://chat.example'
const corsOf = ({ lines }: Message) =>
  lines
    .filter(line => /^(?:access-control-|vary: origin)/i.test(line))
    .map(line => line.replace(/: .*\*,.*/, ': …'))
const exposed = 'Access-Control-Expose-Headers: …'

function preflight(path: string, origin = page, ...fields: string[]): string {
  const lines = [`OPTIONS ${path} HTTP/1.1`, 'Host: ai.test', `Origin: ${origin}`, ...fields]
  return `${[...lines, 'Access-Control-Request-Method: POST', 'Access-Control-Request-Headers: authorization,content-type'].join('\r\n')}\r\n\r\n`
}

async function start(t: TestContext, corsOrigins: readonly string[], settings: AiSettings = {}) {
  const provider = await startResponder(
    t,
    json(
      completion,
      'Access-Control-Allow-Origin: *',
      'Access-Control-Allow-Credentials: true',
      'Vary: Accept',
    ),
  )
  const ai = await startAi(t, { openai: provider.url }, { ...settings, ai: { corsOrigins } })
  const routes = {
    '/v1/chat/completions': 'Authorization',
    [`${ai.rest}/v1/chat/completions`]: 'Authorization',
    [`${ai.native('openai')}/chat/completions`]: 'svc-aig-authorization',
    [`${ai.native('compat')}/chat/completions`]: 'svc-aig-authorization',
  }
  return { ai, provider, routes }
}

test('pages of listed sites may call all AI routes, and read the responses', async t => {
  const { ai, provider, routes } = await start(t, [page])
  for (const [path, field] of Object.entries(routes)) {
    const asked = await ai.edge.ask(preflight(path))
    assert.equal(asked.status, 204)
    assert.deepEqual(corsOf(asked), [
      `Access-Control-Allow-Origin: ${page}`,
      exposed,
      'Vary: Origin',
      'Access-Control-Allow-Methods: GET, HEAD, POST, PUT, PATCH, DELETE',
      'Access-Control-Allow-Headers: authorization,content-type',
      'Access-Control-Max-Age: 7200',
    ])
    const seen = provider.requests.length
    const bearer = `${field}: Bearer ${ai.token}`
    const good = await ai.edge.ask(call(path, chat, bearer, `Origin: ${page}`, `Referer: ${page}/a`))
    assert.equal(good.status, 200)
    const own = [`Access-Control-Allow-Origin: ${page}`, exposed, 'Vary: Origin']
    assert.deepEqual(corsOf(good), own)
    assert.deepEqual(good.lines.filter(line => /^vary/i.test(line)).length, 2)
    const sent = provider.requests[seen]!
    assert.deepEqual([sent.field('origin'), sent.field('referer')], [null, null])
    for (const bad of [call(path, chat, `Origin: ${page}`), call(path, '{', bearer, `Origin: ${page}`)]) {
      const answer = await ai.edge.ask(bad)
      if (answer.status !== 200) assert.deepEqual(corsOf(answer), own, answer.text)
    }
  }
  const unknown = await ai.edge.ask(call('/v1/nothing', chat, `Origin: ${page}`))
  assert.deepEqual([unknown.status, corsOf(unknown).length], [404, 3])
  await ai.logs.close()
  assert.equal(await ai.store.logs.count(ai.account, 'default'), provider.requests.length)
})

test('pages of other sites learn nothing, and their preflights reach no provider', async t => {
  const { ai, provider, routes } = await start(t, [page], { gateway: { authentication: false } })
  for (const path of Object.keys(routes))
    for (const origin of ['https://evil.test', 'null', `${page}.evil.test`, 'http://chat.example']) {
      const asked = await ai.edge.ask(preflight(path, origin))
      assert.deepEqual([asked.status, corsOf(asked)], [204, ['Vary: Origin']])
      const called = await ai.edge.ask(call(path, chat, `Origin: ${origin}`))
      assert.deepEqual(corsOf(called), ['Vary: Origin'])
    }
  assert.deepEqual(corsOf(await ai.edge.ask(call('/v1/chat/completions', chat))), ['Vary: Origin'])
  assert.ok(provider.requests.every(({ startLine }) => startLine.startsWith('POST')))
})

test('with a star, pages of every site may call, without credentials of the browser', async t => {
  const { ai } = await start(t, ['*'])
  const asked = await ai.edge.ask(preflight('/v1/messages', 'null'))
  assert.equal(asked.field('access-control-allow-origin'), '*')
  assert.equal(asked.field('access-control-allow-credentials'), null)
  const refused = await ai.edge.ask(call('/v1/messages', chat))
  assert.deepEqual([refused.status, refused.field('access-control-allow-origin')], [401, '*'])
})

test('streams and failures of a provider may be read too', async t => {
  const replies = [
    'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\ne\r\ndata: [DONE]\n\n\r\n0\r\n\r\n',
    'HTTP/1.1 500 No\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: 0\r\n\r\n',
  ]
  for (const [i, status] of [200, 500].entries()) {
    const provider = await startResponder(t, replies[i]!)
    const ai = await startAi(t, { openai: provider.url }, { ai: { corsOrigins: [page] } })
    const fields = [`Authorization: Bearer ${ai.token}`, `Origin: ${page}`]
    const answer = await ai.edge.ask(call('/v1/chat/completions', chat, ...fields))
    assert.equal(answer.status, status)
    assert.deepEqual(corsOf(answer), [`Access-Control-Allow-Origin: ${page}`, exposed, 'Vary: Origin'])
  }
})

test('without the setting, nothing of this exists', async t => {
  const { ai, provider } = await start(t, [])
  const asked = await ai.edge.ask(preflight('/v1/chat/completions'))
  assert.deepEqual([asked.status, corsOf(asked)], [405, []])
  assert.equal(provider.bytesReceived, 0)
  const answer = await ai.edge.ask(call('/v1/chat/completions', chat, `Authorization: Bearer ${ai.token}`))
  assert.deepEqual(corsOf(answer), [
    'Access-Control-Allow-Origin: *',
    'Access-Control-Allow-Credentials: true',
  ])
})

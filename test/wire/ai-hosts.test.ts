// Hosts of AI routes that have other paths too: those of the zone that has the host, or none.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type AiEdge, completion, json, startAi } from '../help/ai.ts'
import { recordOf, zoneTo } from '../help/edge.ts'
import { ok, type Origin, startResponder } from '../help/origin.ts'

const browser = 'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

interface Started {
  readonly ai: AiEdge
  readonly provider: Origin
  readonly site: Origin
}

/** Starts an edge with AI routes, and with a zone for these hosts. */
async function start(t: TestContext, hosts: readonly string[], isDefault = false): Promise<Started> {
  const [provider, site] = [await startResponder(t, json(completion)), await startResponder(t, ok('site'))]
  const zones = [{ ...zoneTo([site.url]), name: 'other', hosts, isDefault }]
  return { ai: await startAi(t, { openai: provider.url }, { zones }), provider, site }
}

function get(path: string, ...fields: string[]): string {
  return `${[`GET ${path} HTTP/1.1`, 'Host: ai.test', ...fields].join('\r\n')}\r\n\r\n`
}

for (const [how, hosts, isDefault] of [
  ['by its name', ['ai.test'], false],
  ['by a wildcard', ['*.test'], false],
  ['as the default', [], true],
] as const)
  test(`a path that is no AI route is for the zone that has the host ${how}`, async t => {
    const { ai, provider } = await start(t, hosts, isDefault)
    for (const path of ['/', '/v1/products', '/v1/', '/client/v4/accounts/me/ai/x', '/client/v4/user'])
      assert.equal((await ai.edge.ask(get(path, browser))).text, 'site', path)
    assert.equal(provider.bytesReceived, 0)
    const called = await ai.edge.ask(
      get(`${ai.native('openai')}/models`, `svc-aig-authorization: Bearer ${ai.token}`),
    )
    assert.deepEqual([called.status, JSON.parse(called.text)], [200, completion])
  })

test('AI routes and everything under their prefix never reach the zone', async t => {
  const { ai, site } = await start(t, ['ai.test'])
  const account = ai.account
  for (const path of [
    `/v1/${account}/default`,
    `/v1/${account}/`,
    `/client/v4/accounts/${account}/ai/v1/files`,
  ]) {
    const answer = await ai.edge.ask(get(path))
    assert.deepEqual([answer.status, answer.field('content-type')], [404, 'application/json'], path)
  }
  assert.equal(site.bytesReceived, 0)
})

test('a credential of the gateway never reaches the zone, however wrong the call is', async t => {
  const { ai, site } = await start(t, ['ai.test'])
  const { token } = ai
  const wrong = [
    get('/v1/chat/completions', `Authorization: Bearer ${token}`),
    get('/v1/messages', `x-api-key: ${token}`),
    get('/', `svc-aig-authorization: Bearer ${token}`),
    get('/', `Authorization: Basic ${Buffer.from(`:${token}`).toString('base64')}`),
    get(`/v1beta/models?key=${token}`),
    get('/client/v4/accounts/a/tokens', `Authorization: Bearer ${token}`),
    get('/', `X${token}: 1`),
    get(`/?key=a${token.replace('_', '%5F')}`),
    get('/', `X-Auth: Bearer a, Basic ${Buffer.from(`:${token}`).toString('base64')}`),
    get('/').replace('GET', token),
  ]
  for (const request of wrong) {
    const answer = await ai.edge.ask(request)
    assert.equal(answer.status, 400)
    assert.match(String(recordOf(answer).detail), /AI calls belong to this host, under/)
  }
  assert.equal(site.bytesReceived, 0)
  assert.doesNotMatch(JSON.stringify(ai.edge.accesses), new RegExp(token.slice(5)))
})

test('a credential of the gateway behind the body does not reach the zone either', async t => {
  const { ai, site } = await start(t, ['ai.test'])
  const head = get('/x', 'Transfer-Encoding: chunked').replace('GET', 'POST')
  const trailers = [`X-Foo: ${ai.token}`, `X${ai.token}: 1`, 'X-Kept: 1']
  assert.equal((await ai.edge.ask(`${head}1\r\na\r\n0\r\n${trailers.join('\r\n')}\r\n\r\n`)).status, 200)
  assert.deepEqual(site.requests[0]!.trailers, ['X-Kept: 1'])
})

test('for an unknown host people get a page, agents Markdown, and programs their envelope', async t => {
  const { ai } = await start(t, ['elsewhere.test'])
  for (const path of ['/', '/v1/x', `/v1/${ai.account}/default`]) {
    const typed = async (...fields: string[]) => {
      const answer = await ai.edge.ask(get(path, ...fields))
      assert.equal(answer.status, 404)
      return [answer.field('content-type'), /not a route of an AI gateway/.test(answer.text)]
    }
    assert.deepEqual(await typed(browser), ['text/html; charset=utf-8', false])
    assert.deepEqual(await typed('Accept: text/markdown'), ['text/markdown; charset=utf-8', false])
    assert.deepEqual(await typed('Accept: text/plain'), ['text/plain; charset=utf-8', false])
    for (const fields of [[], ['Accept: */*'], ['Accept: application/json']])
      assert.deepEqual(await typed(...fields), ['application/json', true])
  }
})

test('a preview on a host of AI routes is that of its zone', async t => {
  const { ai } = await start(t, ['ai.test'])
  const answer = await ai.edge.ask(get('/cdn-cgi/error/522', 'Accept: */*'))
  assert.deepEqual([answer.status, answer.field('content-type')], [522, 'text/html; charset=utf-8'])
})

test('a path next to Messages gets errors in the form of Messages', async t => {
  const { ai } = await start(t, ['elsewhere.test'])
  for (const path of [`${ai.rest}/v1/messages/drafts`, `${ai.rest}/v1/messages/batches`]) {
    const answer = JSON.parse((await ai.edge.ask(get(path))).text)
    assert.deepEqual([answer.type, answer.error.type], ['error', 'not_found'])
  }
  assert.equal('type' in JSON.parse((await ai.edge.ask(get(`${ai.rest}/v1/files`))).text), false)
})

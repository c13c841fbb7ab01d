// Nobody but the gateway tells an origin who a request is from: however the name of the field is written, it does not pass.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startEdge } from '../help/edge.ts'
import { ask, connectHttp2 } from '../help/http2-client.ts'
import { ok, startResponder } from '../help/origin.ts'
import { request } from '../help/raw.ts'
import { rewriteOf } from './rewriting.ts'

const separators = ['-', '_', '.', '~', '+', '|', '!', '#', '$', '%', '&', "'", '*', '^', '`']
const spellings = separators.flatMap(mark => [
  `svc${mark}identity`,
  `SVC${mark}IDENTITY`,
  `Svc${mark}Identity`,
  `svc${mark}identity${mark}email`,
])

async function start(t: TestContext) {
  const origin = await startResponder(t, ok('site'))
  return { origin, edge: await startEdge(t, [origin.url], { h2c: true }) }
}

test('an origin sees no identity that a client claims, in any of 60 spellings', async t => {
  const { edge, origin } = await start(t)
  for (const name of spellings) {
    const answer = await edge.ask(request('GET /', `${name}: alice`, 'svc-identities: kept'))
    assert.equal(answer.status, 200, name)
    const sent = origin.requests.at(-1)!
    assert.doesNotMatch(sent.lines.join(), /alice/, name)
    assert.equal(sent.field('svc-identities'), 'kept')
  }
})

test('nor over HTTP/2, or in a trailer', async t => {
  const { edge, origin } = await start(t)
  const client = await connectHttp2(t, `http://127.0.0.1:${edge.port}`)
  for (const name of ['svc-identity', 'svc_identity', 'svc-identity-email'])
    await ask(client, { [name]: 'alice' })
  await edge.ask(
    `POST / HTTP/1.1\r\nHost: site.test\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nsvc-identity: alice\r\nSVC_Identity: alice\r\n\r\n`,
  )
  assert.equal(origin.requests.length, 4)
  for (const sent of origin.requests) assert.doesNotMatch([...sent.lines, ...sent.trailers].join(), /alice/)
})

test('a rewrite cannot read the claim', async t => {
  const origin = await startResponder(t, ok('site'))
  const rewrite = rewriteOf({
    request: { 'X-User': 'request.headers[?"svc-identity"].orValue(["nobody"])[0]' },
  })
  const edge = await startEdge(t, [origin.url], { route: { rewrite } })
  await edge.ask(request('GET /', 'svc-identity: alice'))
  assert.equal(origin.requests.at(-1)!.field('x-user'), 'nobody')
})

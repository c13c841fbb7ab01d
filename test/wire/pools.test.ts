// Several origins behind one route: each has its turn, and one that refuses is passed over.

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { codeOf, edgeConfig, startEdge, zoneTo } from '../help/edge.ts'
import { type Origin, ok, startOrigin, startResponder } from '../help/origin.ts'
import { chunks, post, request } from '../help/raw.ts'

const json = 'Accept: application/json'

const startNamed = (t: TestContext, name: string) =>
  startResponder(t, ({ text }) => ok(`${name} ${text}`.trim()))

/** Gives an origin where nobody listens. */
async function deadOrigin(t: TestContext): Promise<Origin> {
  const origin = await startOrigin(t, () => {})
  await origin.goDown()
  return origin
}

test('the members of a pool take turns', async t => {
  const members = await Promise.all(['a', 'b', 'c'].map(name => startNamed(t, name)))
  const edge = await startEdge(
    t,
    members.map(({ url }) => url),
  )
  const answers: string[] = []
  for (let i = 0; i < 7; i++) answers.push((await edge.ask(request('GET /'))).text)
  assert.deepEqual(answers, ['a', 'b', 'c', 'a', 'b', 'c', 'a'])
})

test('a member that refuses the connection is passed over, and the request arrives whole at the next', async t => {
  const dead = await deadOrigin(t)
  const alive = await startNamed(t, 'alive')
  const edge = await startEdge(t, [dead.url, alive.url])
  const long = 'x'.repeat(200_000)
  for (const [bytes, text] of [
    [request('GET /'), 'alive'],
    [post('/', 'small'), 'alive small'],
    [post('/', long), `alive ${long}`],
    [
      `${request('POST /', 'Transfer-Encoding: chunked')}${chunks('in', 'chunks')}0\r\n\r\n`,
      'alive inchunks',
    ],
  ] as const) {
    assert.equal((await edge.ask(bytes)).text, text)
    assert.equal((await edge.ask(bytes)).text, text)
  }
  assert.equal(edge.metrics.retries.value, 4)
  assert.equal(edge.metrics.errors[521], 0)
})

test('a pool whose members are all down is 521', async t => {
  const edge = await startEdge(t, [(await deadOrigin(t)).url, (await deadOrigin(t)).url])
  for (let i = 0; i < 3; i++) assert.equal(codeOf(await edge.ask(request('GET /', json))), 521)
})

test('an origin that comes back serves again', async t => {
  const first = await startNamed(t, 'before')
  const edge = await startEdge(t, [first.url])
  const client = await edge.connect()
  await client.send(request('GET /'))
  assert.equal((await client.response()).text, 'before')
  await first.goDown()
  for (let i = 0; i < 3; i++) {
    await client.send(request('GET /', json))
    assert.equal(codeOf(await client.response()), 521)
  }
  await startResponder(t, ok('after'), first.port)
  await client.send(request('GET /'))
  assert.equal((await client.response()).text, 'after')
})

test('many who wait for a dead origin are all told, and all served when it lives again', async t => {
  const dead = await deadOrigin(t)
  const edge = await startEdge(t, [dead.url])
  const crowd = () => Promise.all(Array.from({ length: 30 }, () => edge.ask(request('GET /', json))))
  for (let i = 0; i < 2; i++) assert.deepEqual([...new Set((await crowd()).map(codeOf))], [521])
  await startResponder(t, ok('alive'), dead.port)
  assert.deepEqual([...new Set((await crowd()).map(({ text }) => text))], ['alive'])
})

test('routes and zones lead to their own pools', async t => {
  const members = await Promise.all(['api', 'rest', 'wild'].map(name => startNamed(t, name)))
  const edge = await startEdge(t, [])
  const [api, rest, wild] = members.map(({ url }) => zoneTo([url]).routes[0]!)
  edge.plane.reload(
    edgeConfig([], {
      zone: { routes: [rest!, { ...api!, path: '/api' }] },
      zones: [zoneTo([], { zone: { name: 'wild', hosts: ['*.wild.test'], routes: [wild!] } })],
    }),
  )
  const texts: string[] = []
  for (const target of ['/api', '/api/x?y', '/apix', '/', '/x/../api/'])
    texts.push((await edge.ask(request(`GET ${target}`))).text)
  assert.deepEqual(texts, ['api', 'api', 'rest', 'rest', 'api'])
  assert.equal((await edge.ask(request('GET /').replace('site.test', 'A.b.Wild.Test:80'))).text, 'wild')
})

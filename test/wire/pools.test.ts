// Several origins behind one route: each has its turn, and one that refuses is passed over.

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { codeOf, edgeConfig, startEdge, zoneTo } from '../help/edge.ts'
import { freePort } from '../help/free-port.ts'
import { deadOrigin, ok, startOrigin, startResponder } from '../help/origin.ts'
import { chunks, post, request } from '../help/raw.ts'

const json = 'Accept: application/json'

const startNamed = async (t: TestContext, name: string) =>
  startResponder(t, ({ text }) => ok(`${name} ${text}`.trim()), await freePort())

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
  const dead = deadOrigin()
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
  const edge = await startEdge(t, [deadOrigin().url, deadOrigin().url])
  for (let i = 0; i < 3; i++) assert.equal(codeOf(await edge.ask(request('GET /', json))), 521)
})

test('turns go on where they were after a reload', async t => {
  const members = await Promise.all(['a', 'b', 'c'].map(name => startNamed(t, name)))
  const urls = members.map(({ url }) => url)
  const edge = await startEdge(t, urls)
  const answers: string[] = []
  for (let i = 0; i < 6; i++) {
    answers.push((await edge.ask(request('GET /'))).text)
    edge.reload(edgeConfig(urls))
  }
  assert.deepEqual(answers, ['a', 'b', 'c', 'a', 'b', 'c'])
})

test('members take turns by their weights', async t => {
  const members = await Promise.all(['a', 'b'].map(name => startNamed(t, name)))
  const edge = await startEdge(
    t,
    members.map(({ url }) => url),
    { pool: { weights: [3, 1] } },
  )
  const answers: string[] = []
  for (let i = 0; i < 8; i++) answers.push((await edge.ask(request('GET /'))).text)
  assert.equal(answers.join(''), 'aabaaaba')
})

test('the member with the fewest outstanding requests is used', async t => {
  const busy = await startOrigin(t, async wire => {
    await wire.request()
    await wire.ending
  })
  const free = await startNamed(t, 'free')
  const edge = await startEdge(t, [busy.url, free.url], { pool: { balance: { by: 'least_outstanding' } } })
  const client = await edge.connect()
  await client.send(request('GET /'))
  const waiting = await busy.wire()
  for (let i = 0; i < 4; i++) assert.equal((await edge.ask(request('GET /'))).text, 'free')
  client.leave()
  await waiting.ending
  const next = await edge.connect()
  for (let i = 0; i < 2; i++) await next.send(request('GET /'))
  await busy.wire(1)
})

test('clients keep their member by address, behind trusted hops too', async t => {
  const members = await Promise.all(['a', 'b', 'c'].map(name => startNamed(t, name)))
  const settings = { pool: { balance: { by: 'hash', header: null } }, trustedProxies: ['127.0.0.1'] } as const
  const edge = await startEdge(
    t,
    members.map(({ url }) => url),
    settings,
  )
  const homeOf = async (address: string) =>
    (await edge.ask(request('GET /', `X-Forwarded-For: ${address}`))).text
  const homes = new Map<string, string>()
  for (let i = 0; i < 20; i++) homes.set(`192.0.2.${i}`, await homeOf(`192.0.2.${i}`))
  for (const [address, home] of homes) assert.equal(await homeOf(address), home)
  assert.equal(new Set(homes.values()).size, 3)
})

test('a header keeps its member, and another one where that is dead', async t => {
  const members = await Promise.all(['a', 'b'].map(name => startNamed(t, name)))
  const edge = await startEdge(
    t,
    members.map(({ url }) => url),
    { pool: { balance: { by: 'hash', header: 'x-user' } } },
  )
  const homeOf = async (user: string) => (await edge.ask(request('GET /', `X-User: ${user}`))).text
  const users = Array.from({ length: 20 }, (_, i) => `user ${i}`)
  const homes: string[] = []
  for (const user of users) homes.push(await homeOf(user))
  assert.equal(new Set(homes).size, 2)
  for (const [i, user] of users.entries()) assert.equal(await homeOf(user), homes[i])
  await members[0]!.goDown()
  for (const user of users) assert.equal(await homeOf(user), 'b')
})

test('routes with one pool share its turns', async t => {
  const members = await Promise.all(['a', 'b'].map(name => startNamed(t, name)))
  const route = zoneTo(members.map(({ url }) => url)).routes[0]!
  const edge = await startEdge(t, [], { zone: { routes: [route, { ...route, path: '/api' }] } })
  const answers: string[] = []
  for (const target of ['/', '/api', '/', '/api'])
    answers.push((await edge.ask(request(`GET ${target}`))).text)
  assert.deepEqual(answers, ['a', 'b', 'a', 'b'])
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

test('many requests that wait for a dead origin all fail, and all are served when it is back', async t => {
  const port = await freePort()
  const edge = await startEdge(t, [`http://127.0.0.1:${port}`])
  const crowd = () => Promise.all(Array.from({ length: 30 }, () => edge.ask(request('GET /', json))))
  for (let i = 0; i < 2; i++) assert.deepEqual([...new Set((await crowd()).map(codeOf))], [521])
  await startResponder(t, ok('alive'), port)
  assert.deepEqual([...new Set((await crowd()).map(({ text }) => text))], ['alive'])
})

test('a path that origins may read in several ways has a route where all readings lead to one, and otherwise gets 400', async t => {
  const [api, rest] = await Promise.all(['api', 'rest'].map(name => startNamed(t, name)))
  const routes = [zoneTo([rest!.url]).routes[0]!, { ...zoneTo([api!.url]).routes[0]!, path: '/api' }]
  const edge = await startEdge(t, [], { zone: { routes } })
  for (const [target, text] of [
    ['/api//x', 'api'],
    ['/api/a;v=1/b', 'api'],
    ['/api/a%2fb?c', 'api'],
    ['/a//b', 'rest'],
    ['/a;v=1/b', 'rest'],
    ['/%61pi/', 'api'],
    ['/api/b/../x', 'api'],
    ['/a/../b', 'rest'],
    ['/a%252fb', 'rest'],
  ] as const)
    assert.equal((await edge.ask(request(`GET ${target}`))).text, text, target)
  for (const target of [
    '/api;x',
    '/x/../api/',
    '/api/../x',
    '/%2561pi',
    '/%u0061pi',
    '/api/..;/internal',
    '//x/api',
    '/x/..//api',
    '/x%2f..%2fapi',
    '/%2e%2e%2fapi',
  ]) {
    const answer = await edge.ask(request(`GET ${target}`, 'Accept: application/json'))
    assert.equal(codeOf(answer), 400, target)
    assert.equal(edge.accesses.at(-1)!.cause, 'ambiguous path')
  }
})

test('routes and zones lead to their own pools', async t => {
  const members = await Promise.all(['api', 'rest', 'wild'].map(name => startNamed(t, name)))
  const edge = await startEdge(t, [])
  const [api, rest, wild] = members.map(({ url }) => zoneTo([url]).routes[0]!)
  edge.reload(
    edgeConfig([], {
      zone: { routes: [rest!, { ...api!, path: '/api' }] },
      zones: [zoneTo([], { zone: { name: 'wild', hosts: ['*.wild.test'], routes: [wild!] } })],
    }),
  )
  const texts: string[] = []
  for (const target of ['/api', '/api/x?y', '/apix', '/', '/%61pi/'])
    texts.push((await edge.ask(request(`GET ${target}`))).text)
  assert.deepEqual(texts, ['api', 'api', 'rest', 'rest', 'api'])
  assert.equal((await edge.ask(request('GET /').replace('site.test', 'A.b.Wild.Test:80'))).text, 'wild')
})

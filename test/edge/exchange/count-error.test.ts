import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ruleIdOf } from '../../../src/config/model/rule-id.ts'
import { call, startAi } from '../../help/ai.ts'
import { startEdge } from '../../help/edge.ts'
import { ok, startResponder } from '../../help/origin.ts'
import { request } from '../../help/raw.ts'

const hostile = '/\x1b[2J<script>alert(1)</script>/é'

test('an error is counted by zone and code, with what leads to its line in the log', async t => {
  const deny = { action: 'deny', condition: { kind: 'path', prefixes: ['/no'] }, description: null } as const
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], {
    zone: { access: { rules: [deny], otherwise: 'allow', ban: null } },
  })
  await edge.ask(request('GET /yes'))
  await edge.ask(request('GET /no?token=SECRET', 'Accept: application/json'))
  await edge.ask(request(`DELETE /no/${'x'.repeat(1_000)}`))
  const [error, ...others] = edge.tallies.filter(({ kind }) => kind === 'error')
  assert.deepEqual(others, [])
  const { scope, name, count, occurrences } = error!
  assert.deepEqual([scope, name, count], ['zone site', '1020', 2])
  const [first, second] = occurrences
  const { at, ray, ...rest } = first!
  assert.deepEqual(rest, { method: 'GET', host: 'site.test', path: '/no', status: 403, format: 'json' })
  const line = edge.accesses.find(entry => entry.ray === ray)!
  assert.ok(Math.abs(at - Date.parse(String(line.time))) < 1_000, 'its line is found by this time')
  assert.deepEqual([second!.path.length, second!.format, second!.method], [300, 'html', 'DELETE'])
})

test('errors outside of zones are counted apart, and their paths are kept as they came', async t => {
  const edge = await startEdge(t, [])
  await edge.ask(request(`GET ${encodeURI(hostile)}`).replace('site.test', 'nobody.test'))
  const [{ scope, occurrences }] = edge.tallies as never as [(typeof edge.tallies)[number]]
  assert.equal(scope, 'none')
  const [{ host, path }] = occurrences as never as [(typeof occurrences)[number]]
  assert.deepEqual([host, path], ['nobody.test', encodeURI(hostile)])
})

test('errors of AI calls are counted by gateway, also of those without a token, and methods and paths hold no credential', async t => {
  const ai = await startAi(t, {})
  const base = `/v1/${ai.account}/default/openai`
  await ai.edge.ask(call(`${base}/x`, '{}'))
  await ai.edge.ask(call(`${base}/${ai.token}`, '{}'))
  await ai.edge.ask(call(`${base}/x`, '{}').replace('POST', ai.token))
  await ai.edge.ask(call(`/v1/${ai.account}/unknown/openai/x`, '{}'))
  const found = ai.edge.tallies.map(({ scope, name, occurrences }) => ({
    place: `${scope} ${name}`,
    paths: occurrences.map(({ path }) => path),
  }))
  assert.deepEqual(found, [
    { place: `ai ${ai.account} 401 default`, paths: [`${base}/x`] },
    { place: 'ai 400', paths: ['', `${base}/x`] },
    { place: 'ai 401', paths: [`/v1/${ai.account}/unknown/openai/x`] },
  ])
  assert.doesNotMatch(JSON.stringify(ai.edge.tallies), /svct_/)
})

test('rules are counted by zone with each decision: those of all zones, of the zone, the default, and error rules', async t => {
  const rule = (action: 'allow' | 'deny', prefix: string) =>
    ({ action, condition: { kind: 'path', prefixes: [prefix] }, description: null }) as const
  const [all, yes, no] = [rule('deny', '/all'), rule('allow', '/yes'), rule('deny', '/no')]
  const words = {
    expression: 'error.code == 1020',
    content: 'no',
    contentType: 'text/plain',
    status: null,
    description: null,
  } as const
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], {
    access: { rules: [all] },
    errors: { rules: [words] },
    zone: { access: { rules: [yes, no], otherwise: 'deny', ban: null } },
  })
  for (const path of ['/yes', '/yes', '/no', '/all', '/all', '/all', '/other'])
    await edge.ask(request(`GET ${path}`))
  await edge.ask(request('GET /all').replace('site.test', 'unknown.test'))
  const hits = edge.tallies
    .filter(({ kind, scope }) => kind !== 'error' && scope === 'zone site')
    .map(({ kind, name, count }) => [kind, name, count])
  assert.deepEqual(hits, [
    ['access_rule', ruleIdOf(yes), 2],
    ['access_rule', ruleIdOf(no), 1],
    ['error_rule', ruleIdOf(words), 4],
    ['access_rule', ruleIdOf(all), 3],
    ['access_rule', 'default', 1],
  ])
})

test('requests over a limit are counted by zone, whether they are refused or only logged', async t => {
  const origin = await startResponder(t, ok())
  const limitTo = (name: string, limit: number, action: 'block' | 'log') => ({
    name,
    limit,
    action,
    ...every,
  })
  const every = { period: 60_000, key: [], when: null }
  const edge = await startEdge(t, [origin.url], {
    rateLimits: [limitTo('watched', 1, 'log')],
    zone: { rateLimits: [limitTo('strict', 3, 'block')], quota: { day: 2, month: null } },
  })
  for (let i = 0; i < 4; i++) await edge.ask(request('GET /'))
  const over = edge.tallies.filter(({ kind }) => kind === 'limit').map(({ name, count }) => [name, count])
  assert.deepEqual(over, [
    ['rule watched', 3],
    ['quota day', 2],
  ])
})

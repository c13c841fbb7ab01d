// What responses say of themselves where a zone wants it: Proxy-Status and Server-Timing.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startEdge } from '../help/edge.ts'
import { deadOrigin, ok, startResponder } from '../help/origin.ts'
import { request } from '../help/raw.ts'

const zone = { proxyStatus: true, serverTiming: true }
const timing = /^((dns|connect|tls|origin);dur=\d+(\.\d+)?, )*total;dur=\d+(\.\d+)?$/

test('responses of ours say why they are, by default not', async t => {
  const dead = deadOrigin().url
  const silent = await (await startEdge(t, [dead])).ask(request('GET /'))
  assert.deepEqual([silent.all('proxy-status'), silent.all('server-timing')], [[], []])
  const edge = await startEdge(t, [dead], { zone, name: 'gate' })
  const got = await edge.ask(request('GET /'))
  assert.equal(got.field('proxy-status'), 'gate; error=connection_refused')
  assert.match(got.field('server-timing')!, timing)
  const head = await edge.ask(request('HEAD /'))
  assert.equal(head.field('proxy-status'), 'gate; error=connection_refused')
  const preview = await edge.ask(request('GET /cdn-cgi/error/522'))
  assert.ok(preview.all('proxy-status').length < 2)
})

test('a response that came after a retry says so behind what the origin said; one at the first attempt says nothing', async t => {
  const origin = await startResponder(t, () => ok('', 'Proxy-Status: inner; received-status=200'))
  const edge = await startEdge(t, [deadOrigin().url, origin.url], { zone, pool: { ejection: null } })
  const answers = [await edge.ask(request('GET /')), await edge.ask(request('GET /'))]
  assert.deepEqual(
    answers.map(answer => answer.all('proxy-status')).toSorted((a, b) => a.length - b.length),
    [['inner; received-status=200'], ['inner; received-status=200', 'gatehouse; received-status=200']],
  )
  for (const answer of answers) assert.match(answer.field('server-timing')!, /origin;dur=/)
})

import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { TraceConfig } from '../../../src/config/model/telemetry-config.ts'
import { outboundHead } from '../../../src/edge/forward/outbound-request.ts'
import { headText } from '../../../src/edge/origin/outbound-head.ts'
import { type EdgeSettings, startEdge } from '../../help/edge.ts'
import { stepsOver } from '../../help/exchange.ts'
import { ok as okay, startResponder } from '../../help/origin.ts'
import { request } from '../../help/raw.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const span = '00f067aa0ba902b7'
const traceparent = `00-${traceId}-${span}-01`
const form = /^00-([0-9a-f]{32})-([0-9a-f]{16})-0([0-3])$/

/** Lists what an origin gets of the trace of a request. */
function sentFor(
  t: TestContext,
  lines: readonly string[],
  trace: Partial<TraceConfig> | null = {},
  settings: EdgeSettings = {},
): string[] {
  const telemetry = { trace: trace && { continues: 'all' as const, sample: 0, ...trace } }
  const x = stepsOver(t, ['http://127.0.0.1:8080'], { telemetry, ...settings }).located(
    request('GET /', ...lines),
  )
  return headText(outboundHead(x, '127.0.0.1'))
    .split('\r\n')
    .filter(line => /^trace(parent|state):/i.test(line))
}

function parts(line: string | undefined) {
  const found = form.exec(line!.replace('traceparent: ', ''))!
  return { traceId: found[1]!, spanId: found[2]!, flags: Number(found[3]) }
}

test('without a setting what came of a trace goes on as it came, good or not', t => {
  for (const lines of [
    [],
    [`TraceParent: ${traceparent}`, 'tracestate: a=1', 'tracestate: b=2'],
    ['traceparent: what?'],
  ])
    deepEqual(sentFor(t, lines, null), lines)
})

test('a trace goes on with a span of this gateway', t => {
  const sent = sentFor(t, [`TraceParent: ${traceparent}`, 'tracestate: a=1', 'X-Other: x', 'tracestate: b=2'])
  equal(sent.length, 2)
  const { traceId: same, spanId, flags } = parts(sent[0])
  deepEqual([same, flags], [traceId, 1])
  notEqual(spanId, span)
  equal(sent[1], 'tracestate: a=1,b=2')
})

test('a trace that is not sampled goes on as it came, whatever the share of new ones', t => {
  const unsampled = `${traceparent.slice(0, -1)}0`
  for (const value of [unsampled, unsampled.replace(/00$/, '02'), `cc${unsampled.slice(2)}-more`])
    deepEqual(sentFor(t, [`TraceParent: ${value}`], { sample: 1 }), [`traceparent: ${value}`])
  const lines = [`traceparent: ${unsampled}`, 'tracestate: a=1', 'Connection: traceparent', 'tracestate: b=2']
  deepEqual(sentFor(t, lines), [`traceparent: ${unsampled}`, 'tracestate: a=1,b=2'])
  deepEqual(sentFor(t, [`traceparent: ${unsampled}`, 'tracestate: a=1,A=2']), [`traceparent: ${unsampled}`])
})

test('a trace begins where none came, or none that can be read, and nothing of what came is in it', t => {
  for (const lines of [
    [],
    ['tracestate: a=1'],
    ['traceparent: 00-x', 'tracestate: a=1'],
    [`traceparent: ff${traceparent.slice(2)}`, 'tracestate: a=1'],
    [`traceparent: ${traceparent}`, `traceparent: ${traceparent}`, 'tracestate: a=1'],
  ]) {
    const sent = sentFor(t, lines)
    equal(sent.length, 1, lines.join())
    notEqual(parts(sent[0]).traceId, traceId)
    equal(parts(sent[0]).flags, 2)
    const sampled = sentFor(t, lines, { sample: 1 })
    deepEqual([sampled.length, parts(sampled[0]).flags], [1, 3], lines.join())
  }
})

test('a state that cannot be read is dropped alone', t => {
  const sent = sentFor(t, [`traceparent: ${traceparent}`, 'tracestate: a=1,A=2'])
  deepEqual([sent.length, parts(sent[0]).traceId], [1, traceId])
})

test('the share of new traces that are sampled is that of the setting, as told from their ids', t => {
  equal(parts(sentFor(t, [], { sample: 1 })[0]).flags, 3)
  equal(parts(sentFor(t, [], { sample: 0 })[0]).flags, 2)
  const drawn = Array.from({ length: 400 }, () => parts(sentFor(t, [], { sample: 0.5 })[0]))
  for (const one of drawn) equal(one.flags, /^[89a-f]/.test(one.traceId.slice(-14)) ? 3 : 2)
  ok(new Set(drawn.map(one => one.traceId)).size === 400)
})

test('the span that a trace begins with is the ray of the request, so that logs of origins lead to ours', t => {
  const telemetry = { trace: { continues: 'all', sample: 0 } } as const
  const x = stepsOver(t, ['http://127.0.0.1:8080'], { telemetry }).located(request('GET /'))
  const lines = headText(outboundHead(x, '127.0.0.1')).split('\r\n')
  const { traceId: begun, spanId } = parts(lines.find(line => line.startsWith('traceparent')))
  deepEqual([spanId, begun.slice(16)], [x.ray, x.ray])
  equal(x.trace, null)
})

test('with trusted proxies alone, the trace of a stranger ends here', t => {
  const unsampled = `traceparent: ${traceparent.slice(0, -1)}0`
  notEqual(parts(sentFor(t, [unsampled], { continues: 'trusted_proxies' })[0]).traceId, traceId)
  const lines = [`traceparent: ${traceparent}`]
  notEqual(parts(sentFor(t, lines, { continues: 'trusted_proxies' })[0]).traceId, traceId)
  const trusted = { trustedProxies: ['192.0.2.1'] }
  equal(parts(sentFor(t, lines, { continues: 'trusted_proxies' }, trusted)[0]).traceId, traceId)
})

test('a trace that Connection names is replaced all the same', t => {
  const sent = sentFor(t, ['Connection: traceparent', `traceparent: ${traceparent}`])
  equal(sent.length, 1)
  match(sent[0]!, /^traceparent: 00-/)
})

test('an origin gets the headers that its route sets', async t => {
  const origin = await startResponder(t, () => okay())
  const requestHeaders = [{ name: 'traceparent', value: 'request.path' }]
  const route = { rewrite: { path: null, requestHeaders, responseHeaders: [] } }
  const telemetry = { trace: { continues: 'all', sample: 1 } } as const
  const edge = await startEdge(t, [origin.url], { route, telemetry })
  await edge.ask(request('GET /mine', `traceparent: ${traceparent}`, 'tracestate: a=1'))
  const got = origin.requests[0]!
  deepEqual([got.all('traceparent'), got.all('tracestate')], [['/mine'], ['a=1']])
})

// Measures what the guard with all patterns adds to the first token of a stream, in µs: the look at the request, and at the events up to the
// first text. It takes the quietest of some rounds: node bench/micro/guard/first-token.ts

import { GuardedStream } from '../../../src/edge/guard/guarded-stream.ts'
import { CompiledGuard } from '../../../src/guard/compiled-guard.ts'
import { GuardedEvents } from '../../../src/guard/guarded-events.ts'
import { GuardReport } from '../../../src/guard/report.ts'
import { matchesIn } from '../../../src/guard/text-scanner.ts'

const rounds = 15
const streams = 2_000
const { request, response } = new CompiledGuard({
  isEnabled: true,
  rules: [
    {
      ...{ id: 'all', isEnabled: true, action: 'block', patterns: ['*'] },
      checks: ['request', 'response'],
    },
  ],
})

const prose =
  'In 2024 we sold 1711 pieces of the "risk-free" kind, and a task-force asked what was said of it. '
const event = (delta: object) =>
  Buffer.from(`data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`)
const events = [event({ role: 'assistant', content: '' }), event({ content: 'Hello' })]

for (const size of [300, 4_000, 64_000])
  measure(
    `a request of ${size} bytes`,
    JSON.stringify({ messages: [{ role: 'user', content: prose.repeat(Math.ceil(size / prose.length)) }] }),
  )

function measure(name: string, body: string): void {
  const bytes = Buffer.from(body)
  let best = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let round = 0; round < rounds; round++) {
    const took = Array.from({ length: streams }, () => lookAt(bytes)).sort((one, other) => one - other)
    const [p50, p99] = [took[streams / 2]!, took[streams * 0.99]!]
    if (p99 < best[1]!) best = [p50, p99]
  }
  console.log(`${name}: p50 ${best[0]!.toFixed(1)}, p99 ${best[1]!.toFixed(1)}`)
}

function lookAt(body: Buffer): number {
  const startedAt = performance.now()
  matchesIn(body.toString(), request!.patterns)
  const stream = new GuardedStream(new GuardedEvents(response!, new GuardReport()))
  let sent = 0
  for (const event of events) sent += stream.push(event)?.length ?? 0
  if (sent === 0) throw new Error('the first token was held back')
  return (performance.now() - startedAt) * 1_000
}

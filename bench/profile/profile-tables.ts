// Writes a profile as tables of Markdown: pure functions.
import type { Interval } from '../interleaved/interval.ts'
import { fine, short, table } from '../load/report.ts'
import type { GatewayProfile, Profile } from './profile.ts'
import type { Spread } from './tails.ts'

/** Returns the tables of latency and throughput, of streams and memory, and what token and log take. */
export function profileTables({ gateways, governed }: Profile): string {
  return [speedTable(gateways), streamTable(gateways), governedLine(governed)].filter(Boolean).join('\n\n')
}

function speedTable(gateways: readonly GatewayProfile[]): string {
  const counts = Object.keys(gateways[0]?.rates ?? {}).map(Number)
  const head = [
    ...['', 'added p50 ms', 'added p99 ms'],
    ...counts.map(count => `chats/s, ${count} connections`),
    ...['first token added, p50 ms', 'p99 ms'],
  ]
  const rows = gateways.map(({ peer, added, rates, firstToken }) => [
    ...[peer, spread(added.p50), spread(added.p99)],
    ...counts.map(count => short(rates[count] ?? null)),
    ...[firstToken?.p50, firstToken?.p99].map(tail => (tail ? spread(tail) : '–')),
  ])
  return table(head, rows)
}

function streamTable(gateways: readonly GatewayProfile[]): string {
  const streams = [...new Set(gateways.flatMap(({ goodStreams }) => Object.keys(goodStreams ?? {})))].map(
    Number,
  )
  const whens = Object.keys(gateways[0]?.memory ?? {})
  const head = [
    '',
    ...streams.map(count => `of ${count} streams good`),
    ...whens.map(when => `RSS MiB, ${when}`),
  ]
  const rows = gateways.map(({ peer, goodStreams, memory }) => [
    peer,
    ...streams.map(count => `${goodStreams?.[count] ?? '–'}`),
    ...whens.map(when => short(memory[when] ?? null)),
  ])
  return table(head, rows)
}

function governedLine(governed: Profile['governed']): string {
  const ratios = Object.entries(governed).map(
    ([connections, found]) => `${interval(found)} with ${connections} connections`,
  )
  if (ratios.length === 0) return ''
  return `Requests a second with token, limit and log against those without: ${ratios.join(', ')}.`
}

function interval({ ratio, low, high }: Interval): string {
  return `${fine(ratio)}× (${fine(low)}–${fine(high)})`
}

function spread({ value, low, high }: Spread): string {
  return `${fine(value)} (${fine(low)}–${fine(high)})`
}

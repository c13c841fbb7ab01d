// The durations of the phases of a request (Server-Timing).

import type { Exchange } from './exchange.ts'

/** Writes the phases so far in ms: DNS, connect, TLS, the wait for the response, and the total. */
export function serverTimingLine({
  openingTimes,
  sentAt,
  bodySentAt,
  respondedAt,
  startedAt,
  plane,
}: Exchange): string {
  const metrics: string[] = []
  const add = (name: string, ms: number) =>
    metrics.push(`${name};dur=${Math.max(0, Math.round(ms * 100) / 100)}`)
  if (openingTimes !== null && openingTimes.resolve >= 0) add('dns', openingTimes.resolve)
  if (openingTimes !== null && openingTimes.connect >= 0) add('connect', openingTimes.connect)
  if (openingTimes !== null && openingTimes.handshake >= 0) add('tls', openingTimes.handshake)
  if (respondedAt !== 0) add('origin', respondedAt - (bodySentAt === 0 ? sentAt : bodySentAt))
  add('total', plane.clock.monotonic() - startedAt)
  return `Server-Timing: ${metrics.join(', ')}\r\n`
}

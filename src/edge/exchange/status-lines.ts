// Response fields that depend on the zone: Proxy-Status, Server-Timing and HSTS.

import {
  internalStatusLine,
  proxyStatusLine,
  retriedStatusLine,
} from '../../errors/catalogue/proxy-status.ts'
import type { Exchange } from './exchange.ts'

export function ownStatusLines(x: Exchange): string {
  const { proxyStatus, serverTiming } = settingsOf(x)
  return `${proxyStatus ? ownLine(x) : ''}${serverTiming ? serverTimingLine(x) : ''}`
}

export function relayedStatusLines(x: Exchange, status: number): string {
  const { proxyStatus, serverTiming } = settingsOf(x)
  const isRetried = proxyStatus && x.retries > 0
  return `${isRetried ? retriedStatusLine(x.snapshot.name, status, attemptsIn(x)) : ''}${serverTiming ? serverTimingLine(x) : ''}`
}

/** RFC 6797 section 6.1; browsers must ignore the line over plain HTTP. */
export function hstsLine(x: Exchange): string {
  const hsts = x.zone === null ? null : x.zone.config.tls.hsts
  return hsts === null || x.scheme !== 'https' ? '' : `Strict-Transport-Security: max-age=${hsts}\r\n`
}

function settingsOf({ zone, snapshot }: Exchange): { proxyStatus: boolean; serverTiming: boolean } {
  return zone === null ? snapshot : zone.config
}

function ownLine(x: Exchange): string {
  const { refusal, isPreview, snapshot } = x
  if (refusal === null || isPreview) return internalStatusLine(snapshot.name)
  return proxyStatusLine(snapshot.name, refusal, attemptsIn(x))
}

/** Writes the ledger of an AI call that took more than one attempt as a parameter. */
function attemptsIn({ ai }: Exchange): string {
  if (ai === null || ai.attempts.length < 2) return ''
  return `; attempts="${ai.attempts.map(({ provider, outcome }) => `${provider}=${outcome}`).join(', ')}"`
}

/** In ms. */
function serverTimingLine({
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

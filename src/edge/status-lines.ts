// What responses say of themselves where their zone, or the gateway outside of zones, wants it: Proxy-Status and Server-Timing.

import { internalStatusLine, proxyStatusLine, retriedStatusLine } from '../errors/proxy-status.ts'
import type { Exchange } from './exchange.ts'
import { serverTimingLine } from './server-timing.ts'

/** Writes the lines of a response of ours: why it is one, and how long it took. */
export function ownStatusLines(x: Exchange): string {
  const { proxyStatus, serverTiming } = settingsOf(x)
  return `${proxyStatus ? ownLine(x) : ''}${serverTiming ? serverTimingLine(x) : ''}`
}

/** Writes the lines of a response that the origin sent with this status: that it came after other attempts, and how long it took. */
export function relayedStatusLines(x: Exchange, status: number): string {
  const { proxyStatus, serverTiming } = settingsOf(x)
  const isRetried = proxyStatus && x.retries > 0
  return `${isRetried ? retriedStatusLine(x.snapshot.name, status) : ''}${serverTiming ? serverTimingLine(x) : ''}`
}

function settingsOf({ zone, snapshot }: Exchange): { proxyStatus: boolean; serverTiming: boolean } {
  return zone === null ? snapshot : zone.config
}

function ownLine({ refusal, isPreview, snapshot: { name } }: Exchange): string {
  return refusal === null || isPreview ? internalStatusLine(name) : proxyStatusLine(name, refusal)
}

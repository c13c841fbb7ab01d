// The one reader of a finished exchange: metrics and access log. Called by the client connection, once per exchange.
import { errorRows } from '../errors/catalogue.ts'
import type { AccessEntry } from '../base/log.ts'
import type { Phase } from '../base/metrics.ts'
import type { Exchange } from './exchange.ts'

/** Counts the exchange and writes its line. */
export function record(x: Exchange): void {
  const { plane } = x
  const now = plane.clock.monotonic()
  const zone = x.zone?.metrics ?? plane.metrics.zone('none')
  zone.request(x.status, now - x.startedAt)
  if (x.sentAt !== 0) countPhases(x, now)
  if (x.refusal !== null) plane.metrics.error(errorRows[x.refusal.error].code)
  if (x.aborted) plane.metrics.clientAbort()
  if (plane.accessLog !== null) plane.accessLog.write(entryOf(x, now))
}

/** Lists what is known of the time that the origin took, in ms: the phases of a new connection only where this exchange caused it. */
function phasesOf(x: Exchange, now: number): Partial<Record<Phase, number>> {
  const phases: Partial<Record<Phase, number>> = {}
  if (x.resolveTime >= 0) phases.resolve = x.resolveTime
  if (x.connectTime >= 0) phases.connect = x.connectTime
  if (x.handshakeTime >= 0) phases.handshake = x.handshakeTime
  if (x.awaitedAt !== 0) phases.send = x.awaitedAt - x.sentAt
  if (x.answeredAt !== 0) {
    phases.wait = x.answeredAt - Math.max(x.sentAt, x.awaitedAt)
    phases.receive = now - x.answeredAt
  }
  return phases
}

function countPhases(x: Exchange, now: number): void {
  const { metrics } = x.plane
  if (x.resolveTime >= 0) metrics.phase('resolve', x.resolveTime)
  if (x.connectTime >= 0) metrics.phase('connect', x.connectTime)
  if (x.handshakeTime >= 0) metrics.phase('handshake', x.handshakeTime)
  if (x.awaitedAt !== 0) metrics.phase('send', x.awaitedAt - x.sentAt)
  if (x.answeredAt === 0) return
  metrics.phase('wait', x.answeredAt - Math.max(x.sentAt, x.awaitedAt))
  metrics.phase('receive', now - x.answeredAt)
}

function entryOf(x: Exchange, now: number): AccessEntry {
  const { head, plane } = x
  return {
    time: plane.clock.now() - (now - x.startedAt),
    ray: x.ray,
    zone: x.zone?.config.name ?? 'none',
    client: x.clientAddress,
    method: head.method,
    host: x.host,
    target: head.target,
    version: `1.${head.minor}`,
    status: x.status,
    error: x.refusal?.error ?? null,
    bytesIn: x.bytesIn,
    bytesOut: x.bytesOut,
    duration: now - x.startedAt,
    phases: phasesOf(x, now),
    origin: x.origin?.config.url ?? null,
    retries: x.retries,
    aborted: x.aborted,
  }
}

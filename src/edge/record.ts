// The one reader of a finished exchange: metrics and access log. Called by the client connection, once per exchange.
import type { AccessEntry } from '../base/log.ts'
import { type EdgeMetrics, type Phase, phases } from '../base/metrics.ts'
import { errorRows } from '../errors/catalogue.ts'
import type { Exchange } from './exchange.ts'

/** Counts the exchange and writes its line. */
export function record(x: Exchange): void {
  const { plane } = x
  const now = plane.clock.monotonic()
  const zone = x.zone?.metrics ?? plane.metrics.zone('none')
  zone.request(x.status, now - x.startedAt)
  measure(x, now)
  countPhases(plane.metrics)
  if (x.refusal !== null) plane.metrics.error(errorRows[x.refusal.error].code)
  if (x.eventStream !== null) plane.metrics.eventStreams.dec()
  if (x.upgrade === 'done') plane.metrics.webSockets.dec()
  if (x.aborted) plane.metrics.clientAbort()
  if (plane.accessLog !== null) plane.accessLog.write(entryOf(x, now))
}

/** The ms of each phase of the exchange at hand, -1 where it did not happen; one object for all, since nobody keeps it. */
const times: Record<Phase, number> = {
  resolve: -1,
  connect: -1,
  handshake: -1,
  send: -1,
  wait: -1,
  receive: -1,
}

function measure(x: Exchange, now: number): void {
  const opening = x.openingTimes
  times.resolve = opening === null ? -1 : opening.resolve
  times.connect = opening === null ? -1 : opening.connect
  times.handshake = opening === null ? -1 : opening.handshake
  times.send = x.awaitedAt === 0 ? -1 : x.awaitedAt - x.sentAt
  times.wait = x.answeredAt === 0 ? -1 : x.answeredAt - Math.max(x.sentAt, x.awaitedAt)
  times.receive = x.answeredAt === 0 ? -1 : now - x.answeredAt
}

function countPhases(metrics: EdgeMetrics): void {
  for (const phase of phases) if (times[phase] >= 0) metrics.phase(phase, times[phase])
}

function knownPhases(): Partial<Record<Phase, number>> {
  const known: Partial<Record<Phase, number>> = {}
  for (const phase of phases) if (times[phase] >= 0) known[phase] = times[phase]
  return known
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
    phases: knownPhases(),
    origin: x.origin?.config.url ?? null,
    retries: x.retries,
    aborted: x.aborted,
  }
}

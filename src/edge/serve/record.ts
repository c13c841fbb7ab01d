// Turns a finished exchange into metrics and an access log line.

import type { EdgeMetrics } from '../../metrics/counters/edge-metrics.ts'
import type { Flight } from '../../answers/flight.ts'
import type { AccessEntry } from '../../log/access-log.ts'
import { dropClaim } from '../answers/claim-end.ts'
import { errorRows } from '../../errors/catalogue/catalogue.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import type { GuardReport } from '../../guard/report.ts'
import { holdsOurs } from '../../tokens/misplaced-tokens.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import { countMessages } from '../mcp/count-messages.ts'
import { askedOf } from '../mcp/asked-of.ts'
import { countDenied } from '../meter/count-budget.ts'
import { observationOf } from '../meter/observe-call.ts'
import type { Tap } from '../ai-call/tap.ts'
import type { Dial } from '../origin/dial/dial.ts'
import type { ClientTls, Exchange } from '../exchange/exchange.ts'
import type { McpExchange } from '../exchange/mcp-exchange.ts'
import { countError } from '../exchange/count-error.ts'
import { releaseBody, releaseCall } from '../exchange/gather-body.ts'
import { sendSpans } from '../spans/request-spans.ts'

/** Logs an exception of its own, since the exchange itself is complete. */
export function record(x: Exchange): void {
  try {
    recordAll(x)
  } catch (bug) {
    x.plane.log.error({ err: bug, ray: x.ray }, 'recording a request failed: internal error')
  }
}

function recordAll(x: Exchange): void {
  const { plane } = x
  const now = plane.clock.monotonic()
  const zone = x.zone?.metrics ?? plane.metrics.zone(x.audience.kind === 'ai' ? 'ai' : 'none')
  if (x.isPreview) zone.preview(now - x.startedAt)
  else zone.request(x.status, now - x.startedAt)
  plane.metrics.versions[x.head.version].inc()
  countPhases(x, now)
  if (x.refusal !== null && !x.isPreview) {
    plane.metrics.error(errorRows[x.refusal.error].code)
    countError(x, x.refusal.error, now)
  }
  if (x.eventStream !== null) plane.metrics.eventStreams.dec()
  if (x.upgrade === 'done') plane.metrics.webSockets.dec()
  if (x.aborted) plane.metrics.clientAbort()
  if (x.ai !== null) recordCall(x, x.ai)
  if (x.mcp !== null) recordMessages(x, x.mcp, now)
  if (x.ai !== null && x.ai.claim !== null) dropClaim(x.ai)
  if (x.ai !== null && x.ai.flight !== null) endFlight(x, x.ai.flight)
  if (x.trace !== null && x.trace.recording !== null) sendSpans(x, x.trace, x.trace.recording, now)
  if (x.tap?.isUnderWay) logCall(x, x.ai!, x.tap, now)
  else if (x.ai !== null && x.ai.budget !== null) x.ai.budget.release()
  // A flood of invalid tokens must not become a flood of lines.
  if (x.ai?.isDenied) return
  if (plane.accessLog?.wants(x.status)) plane.accessLog.write(entryOf(x, now))
}

function recordMessages(x: Exchange, mcp: McpExchange, now: number): void {
  releaseBody(x, mcp)
  countMessages(x, mcp, now)
}

function recordCall(x: Exchange, ai: AiExchange): void {
  releaseCall(x, ai)
  if (ai.findings !== null) countFindings(x, ai.findings)
  const decision = ai.allowance ?? ai.denial
  if (decision === null) return
  x.plane.metrics.ai.policyDecisions[decision.type].inc()
  if (decision.type !== 'allow') countDenied(x, ai)
}

function countFindings(x: Exchange, { findings }: GuardReport): void {
  const { guardFindings } = x.plane.metrics.ai
  for (const { check, action, count } of findings) guardFindings[check][action].value += count
}

/** Those who wait get what came, and begin anew if nothing did. */
function endFlight({ aborted, refusal }: Exchange, flight: Flight): void {
  flight.refusal = refusal
  flight.fail(aborted)
}

/** A call that its provider may finish without its caller is logged once that is over. */
function logCall(x: Exchange, ai: AiExchange, tap: Tap, now: number): void {
  const log = () => x.plane.ai!.logs.add(observationOf(x, ai, tap, now))
  if (tap.remainder === null) log()
  else tap.remainder.onEnd = log
}

function countPhases(x: Exchange, now: number): void {
  const { phases } = x.plane.metrics
  if (x.openingTimes !== null) countOpening(x.openingTimes, phases)
  if (x.bodySentAt !== 0) phases.send.observe(x.bodySentAt - x.sentAt)
  if (x.respondedAt === 0) return
  phases.wait.observe(waitTime(x))
  phases.receive.observe(now - x.respondedAt)
}

function countOpening({ resolve, connect, handshake }: Dial['times'], phases: EdgeMetrics['phases']): void {
  if (resolve >= 0) phases.resolve.observe(resolve)
  if (connect >= 0) phases.connect.observe(connect)
  if (handshake >= 0) phases.handshake.observe(handshake)
}

/** The head of a response may come before the end of the request. */
function waitTime(x: Exchange): number {
  return Math.max(0, x.respondedAt - (x.bodySentAt === 0 ? x.sentAt : x.bodySentAt))
}

function entryOf(x: Exchange, now: number): AccessEntry {
  const { head, plane } = x
  return {
    time: plane.clock.now() - (now - x.startedAt),
    ray: x.ray,
    zone: x.zone?.config.name ?? (x.audience.kind === 'ai' ? 'ai' : 'none'),
    client: x.clientAddress,
    // A method or path that contains one of our credentials must not be logged.
    method: holdsOurs(head.method) ? '' : head.method,
    host: x.host,
    target: holdsOurs(head.target) ? '' : head.target,
    version: head.version,
    status: x.status,
    error: x.isPreview ? null : (x.refusal?.error ?? null),
    cause: causeOf(x.refusal),
    preview: x.isPreview,
    bytesIn: x.bytesIn,
    bytesOut: x.bytesOut,
    compressed: x.compressed,
    duration: now - x.startedAt,
    opening: x.openingTimes,
    send: x.bodySentAt === 0 ? -1 : x.bodySentAt - x.sentAt,
    wait: x.respondedAt === 0 ? -1 : waitTime(x),
    receive: x.respondedAt === 0 ? -1 : now - x.respondedAt,
    origin: x.origin?.config.url ?? null,
    retries: x.retries,
    aborted: x.aborted,
    tls: tlsOf(x.client.tls),
    mcp: x.mcp === null || x.mcp.request === null ? null : askedOf(x.mcp.request),
  }
}

function tlsOf(tls: ClientTls | null): AccessEntry['tls'] {
  if (tls === null) return null
  const { version, cipher, certificate } = tls
  return { version, cipher, fingerprint: certificate === null ? null : certificate.fingerprint }
}

function causeOf(refusal: Refusal | null): string | null {
  const code = (refusal?.cause as { readonly code?: unknown } | null | undefined)?.code
  return typeof code === 'string' ? code : null
}

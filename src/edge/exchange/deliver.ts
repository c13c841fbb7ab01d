// Delivers a refusal, whatever was sent before: nothing, part of an event stream or a gRPC call, or too much.
// Only this file distinguishes these cases; the audience writes the text.

import { ruleIdOf } from '../../config/model/rule-id.ts'
import { type Options, type WrittenResponse, written } from '../../errors/audience/audience.ts'
import { composeCustom } from '../../errors/custom/compose-custom.ts'
import type { Occasion } from '../../errors/catalogue/problem.ts'
import { inNameOf } from '../../errors/catalogue/provider-wording.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import { evidenceLines } from '../ai-call/response-fields.ts'
import { type Exchange, logIdOf } from './exchange.ts'
import { factsOf } from './facts.ts'
import { talliesOf } from './count-error.ts'
import { hstsLine, ownStatusLines } from './status-lines.ts'

/** Ends the exchange with the refusal, as far as the client can still be informed. */
export function deliver(x: Exchange, original: Refusal): void {
  if (x.stage === 'complete') return
  const occasion = occasionOf(x)
  const options = optionsOf(x)
  const refusal = x.ai === null ? original : inNameOfProvider(x, x.ai, original)
  x.refusal = refusal
  if (x.stage === 'none')
    return respond(x, x.ai?.isExhausted ? { ...refusal, mayRetry: false } : refusal, occasion, options)
  if (x.upgrade === 'done') return x.handler?.isFullySent ? x.client.finish(x) : x.client.cutOff(x, true)
  // A body that is shorter than its announced length is not a response.
  if (x.responseFraming === 'chunked') {
    const trailers = x.audience.composeTrailers(refusal, occasion, options)
    if (trailers !== null) return x.client.cutOff(x, true, trailers)
  }
  if (x.eventStream === null || x.eventStream.isEncoded || x.responseFraming === 'length')
    return x.client.cutOff(x, false)
  const { opening, sequence } = x.eventStream
  const event = opening + x.audience.composeEvent(refusal, { ...occasion, sequence }, options)
  x.tap?.noteOwnEnd(event)
  x.client.append(x, event)
  // SDKs understand the event, but many lose it if the connection breaks right after.
  if (x.audience.kind === 'ai' || occasion.messageId != null) x.client.endBody(x)
  else x.client.cutOff(x, true)
}

/** The client only learns that the gateway failed. Never throws. */
export function deliverBug(x: Exchange, bug: unknown): void {
  const { log } = x.plane
  log.error({ err: bug, ray: x.ray }, 'request failed: internal error')
  try {
    x.handler?.abort()
    // It is unknown how far the request was read.
    x.keepAlive = false
    deliver(x, refuse('internal_server_error', {}, bug))
  } catch (worse) {
    log.error({ err: worse, ray: x.ray }, 'request cut off: internal error')
    x.handler = null
    if (x.stage !== 'complete') x.client.cutOff(x, false)
  }
}

function inNameOfProvider(x: Exchange, { provider, course }: AiExchange, refusal: Refusal): Refusal {
  if (provider === null) return refusal
  return inNameOf(provider.name, refusal, {
    ...x.route!.config.timeouts,
    content: course?.timeout ?? x.route!.config.timeouts.response,
  })
}

function respond(x: Exchange, refusal: Refusal, occasion: Occasion, options: Options): void {
  // The client keeps its connection if the rest of its body is read before the refusal.
  if (
    (x.audience.kind === 'ai' || x.audience.kind === 'mcp') &&
    x.keepAlive &&
    !x.requestBody.done &&
    x.handler === null &&
    x.client.discardBody(x, () => respond(x, refusal, occasion, options))
  )
    return
  const custom = x.audience.kind === 'people' ? composeByOperator(x, refusal, occasion) : null
  const { status, reason, lines, body: whole } = custom ?? x.audience.compose(refusal, occasion, options)
  x.status = status
  const body = x.head.method === 'HEAD' ? '' : whole
  x.bytesOut = body.length
  x.tap?.noteOwnResponse(body)
  const all = `${lines}${hstsLine(x)}${x.addedLines}${x.ai === null ? '' : evidenceLines(x.ai, logIdOf(x))}${ownStatusLines(x)}Date: ${x.plane.date()}\r\n`
  x.client.respond(x, { status, reason, lines: all }, body)
  x.client.finish(x)
}

function optionsOf(x: Exchange): Options {
  return {
    documentation: x.plane.documentation,
    operator: (x.zone === null ? x.snapshot.operator : x.zone.config.errors.operator) ?? null,
    challenge: x.ai === null ? null : x.ai.challenge,
  }
}

/** Composes the operator's custom content; null if there is none, or a bug in it. */
function composeByOperator(x: Exchange, refusal: Refusal, occasion: Occasion): WrittenResponse | null {
  const custom = x.zone?.errors ?? x.snapshot.errors
  if (custom.isEmpty) return null
  const { log, metrics } = x.plane
  try {
    const facts = factsOf(x)
    const match = custom.find(refusal.error, facts)
    if (match === null) return null
    const composed = written(composeCustom(match.content, refusal, occasion, facts))
    if (x.isPreview) return composed
    metrics.customErrors[match.source].inc()
    if (match.rule !== null) talliesOf(x).counter('error_rule', ruleIdOf(match.rule)).inc()
    return composed
  } catch (bug) {
    log.error({ err: bug, ray: x.ray }, 'custom error content failed to render')
    metrics.customErrorFailures.inc()
    return null
  }
}

function occasionOf(x: Exchange): Occasion {
  return {
    ray: x.ray,
    zone: x.host,
    origin: requestedOrigin(x),
    accept: x.head.accept,
    time: x.plane.clock.now(),
    ...(x.mcp !== null && { messageId: x.mcp.id }),
  }
}

/** Empty if the client named no host. */
function requestedOrigin(x: Exchange): string {
  const { host } = x
  if (host === '') return ''
  return `${x.scheme}://${host.includes(':') ? `[${host}]` : host}${portIn(x.head.host!)}`
}

/** With its colon. */
function portIn(authority: string): string {
  const at = authority.lastIndexOf(':')
  return at === -1 || at < authority.lastIndexOf(']') || at === authority.length - 1
    ? ''
    : authority.slice(at)
}

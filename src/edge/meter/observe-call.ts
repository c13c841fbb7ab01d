// What the edge saw of an AI call, for the log and for its budgets.

import { withoutQuery } from '../../base/path/path.ts'
import { ownText } from '../../base/text/own-text.ts'
import type { Provider } from '../../ai/providers/providers.ts'
import type { Observation } from '../../ai-logs/observation.ts'
import { firstValue } from '../../http1/fields/fields.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import type { Tap } from '../ai-call/tap.ts'
import type { Exchange } from '../exchange/exchange.ts'

/** Returns what is known of a call, or of its present attempt. */
export function observationOf(x: Exchange, ai: AiExchange, tap: Tap, now: number): Observation {
  const { clock } = x.plane
  return {
    gateway: ai.gateway!,
    ray: x.ray,
    // Both clocks at once: a process that has to wait between them would date its calls later.
    startedAt: clock.now() - (clock.monotonic() - x.startedAt),
    provider: ai.provider!.name,
    model: ai.model,
    path: pathOf(ai),
    status: x.status,
    error: x.refusal?.error ?? null,
    isWhole: x.refusal === null && !x.aborted,
    isReadToEnd: tap.remainder?.isWhole === true,
    isAbandoned: ai.mayHaveWorked && (tap.head === null || tap.head.status < 300),
    duration: now - x.startedAt,
    timeToFirstByte: tap.firstByteAt === 0 ? null : tap.firstByteAt - x.startedAt,
    authenticated: ai.token !== null,
    token: ai.token,
    metadata: ai.metadata,
    eventId: tap.eventId,
    customCost: tap.customCost,
    attempts: ai.attempts,
    step: ai.course === null ? 0 : ai.course.step,
    requestContentType: requestType(ai.fields.contentType),
    responseContentType: responseType(tap.head?.contentType ?? null),
    requestEncoding: cut(ai.fields.contentEncoding),
    responseEncoding: cut(tap.head?.contentEncoding ?? null),
    // Members after a spread are defined one by one, each by a call of the runtime.
    headCounts: ai.provider!.hasFrames && tap.head !== null ? countsOfBedrock(tap.head.fields) : null,
    keepsPayloads: tap.keepsPayloads,
    request: tap.request,
    response: tap.response,
    session: tap.session,
    relayed: tap.relayed,
    dropped: ai.dropped,
    saved: ai.reused,
    findings: ai.findings === null || ai.findings.action === null ? null : ai.findings.findings,
    isGuarded: ai.isGuarded,
    isReused: ai.reused !== null,
    isStored: tap.isStored,
    budget: ai.budget,
  }
}

/** Charges what the present attempt may have cost, which failed and is not the last one. */
export function chargeAttempt(x: Exchange, ai: AiExchange, tap: Tap): void {
  const now = x.plane.clock.monotonic()
  x.plane.ai!.logs.add({
    ...observationOf(x, ai, tap, now),
    ...{ status: tap.head?.status ?? 0, isWhole: false, keepsPayloads: false, isStored: false },
  })
  ai.budget = null
  ai.mayHaveWorkedBefore ||= ai.mayHaveWorked
  ai.mayHaveWorked = false
}

/** Null unless both counts are there, as they are for models that are invoked. */
function countsOfBedrock(fields: readonly string[]) {
  const count = (name: string) => {
    const digits = firstValue(fields, `x-amzn-bedrock-${name}-token-count`)
    return digits !== null && /^\d{1,15}$/.test(digits) ? Number(digits) : null
  }
  const [tokensIn, tokensOut] = [count('input'), count('output')]
  return tokensIn === null || tokensOut === null ? null : { tokensIn, tokensOut }
}

let last: { readonly provider: Provider | null; readonly target: string; readonly path: string } = {
  provider: null,
  target: '',
  path: '',
}

/** It usually equals the previous one, and the same string is cheaper to handle than an equal one. */
function pathOf({ target, provider, path }: AiExchange): string {
  if (target.api !== 'native') return cut(withoutQuery(path))
  if (target.path !== last.target || provider !== last.provider)
    last = { provider, target: target.path, path: ownText(cut(withoutQuery(path))) }
  return last.path
}

const requestType = ownType()
const responseType = ownType()

/** Copies a content type unless it equals the previous one: JSON is written twice as fast without slices. */
function ownType(): (type: string | null) => string | null {
  let last = ''
  return type => {
    if (type === null) return null
    if (type !== last) last = ownText(cut(type))
    return last
  }
}

function cut<T extends string | null>(text: T): T | string {
  return text !== null && text.length > maxLength ? ownText(text.slice(0, maxLength)) : text
}

const maxLength = 1024

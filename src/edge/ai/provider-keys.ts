// Chooses among the keys of a provider: one that is refused rests, and the call continues with the next.

import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { equalsIgnoreCase, firstValue } from '../../http1/fields/fields.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'
import { retryAfterIn } from '../../http1/fields/retry-after.ts'
import type { Key } from '../../ai/providers/key-ring.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import type { Course } from '../ai-call/course.ts'
import type { MadeKey } from '../cloud-keys/made-key.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { secondsOf } from '../snapshot/limit-fields.ts'

/** Refuses a call if every key is resting (1015), with the shortest wait. */
export function refuseWithoutKey(x: Exchange, ai: AiExchange): Refusal | null {
  const now = x.plane.clock.monotonic()
  const first = ai.keys === null ? null : ai.keys.firstBack(now)
  return first && outOfKeys(x, ai, first, now)
}

/**
 * Null relays the response; `another` retries with another key; a refusal (1015) means that none is left.
 * `isWhole`: the call can be repeated.
 */
export function verdictOnKey(
  x: Exchange,
  ai: AiExchange,
  head: ResponseHead,
  isWhole: boolean,
): 'another' | 'given_up' | Refusal | null {
  const { key, keys, course } = ai
  if (key === null) return null
  const isFinal = course !== null && !course.mayChangeKey(ai.attempts.length - ai.uncounted + 1)
  // Its provider may have revoked it, or forgotten its kind of keys: a new one decides.
  if (ai.made !== null && replaces(ai.made, head) && isWhole && !isFinal) return 'another'
  if (keys === null) return course !== null && head.status === 401 ? 'given_up' : null
  const now = x.plane.clock.monotonic()
  if (head.status < 400) keys.worked(key, now)
  // The provider accepts a key for this call, so the others were at fault.
  if (ai.doubtedKeys !== null && head.status < 500 && head.status !== 401)
    for (const other of ai.doubtedKeys) setAside(x, ai, other, 401, null, [])
  if (head.status !== 429 && head.status !== 401) return null
  const wait = waitOf(x, head)
  if (head.status === 401 && wait === null && keys.isTrusted(key, now) && mayRefuseCall(x, ai)) {
    const doubtedKeys = (ai.doubtedKeys ??= [])
    doubtedKeys.push(key)
    return isWhole && !isFinal && keys.hasAnother(now, doubtedKeys) ? 'another' : orGivenUp(course)
  }
  setAside(x, ai, key, head.status, wait, limitsIn(head.fields))
  const first = keys.firstBack(now)
  if (first !== null) return outOfKeys(x, ai, first, now)
  // A key that is available again must not keep a call retrying forever.
  return isWhole && !isFinal && ++ai.keyChanges < keys.size ? 'another' : orGivenUp(course)
}

/** Whether a refused key gives way to a new one, or its signatures to those by the provider's clock. */
function replaces(made: MadeKey, { status, fields }: ResponseHead): boolean {
  if (status === 401) return made.drop()
  const reason = status === 403 ? firstValue(fields, 'x-amzn-errortype') : null
  if (reason === null) return false
  if (/InvalidSignature|SignatureDoesNotMatch|RequestExpired|TimeTooSkewed/.test(reason))
    return made.follow(firstValue(fields, 'date') ?? '')
  return /ExpiredToken|UnrecognizedClient|InvalidClientTokenId/.test(reason) && made.drop()
}

function orGivenUp(course: Course | null): 'given_up' | null {
  return course === null ? null : 'given_up'
}

/** Null if the provider does not ask to wait. */
export function waitOf(x: Exchange, { fields }: ResponseHead): number | null {
  return millisecondsIn(fields) ?? retryAfterIn(fields, x.plane.clock.now())
}

function setAside(
  x: Exchange,
  ai: AiExchange,
  key: Key,
  status: 401 | 429,
  wait: number | null,
  limits: readonly string[],
): void {
  const keys = ai.keys!
  // With 429 the provider has accepted the key.
  if (status === 401) keys.refused(key)
  key.status = status
  const rest = keys.setAside(key, x.plane.clock.monotonic(), wait, limits)
  if (rest === 0) return
  x.plane.metrics.ai.keysSetAside[`${status}`].inc()
  const place = keys.placeOf(key)
  const own = ai.ownKeys?.records[place - 1]
  const ofGateway = own && { gateway: ai.gateway!.id, alias: own.alias, end: own.end }
  const facts = { provider: ai.provider!.name, key: place, ...ofGateway, status, seconds: secondsOf(rest) }
  x.plane.log.warn(facts, 'provider key set aside')
}

/** A 401 may be due to the caller's path or organization: it must not disable all keys for others. */
function mayRefuseCall({ head }: Exchange, { target }: AiExchange): boolean {
  if (target.api === 'native') return true
  for (let i = 0; i < head.fields.length; i += 2)
    if (head.fields[i]!.slice(0, openAiPrefix.length).toLowerCase() === openAiPrefix) return true
  return false
}

const openAiPrefix = 'openai-'

/** Refuses with the wait and limits of the key that is available first. */
function outOfKeys(x: Exchange, { provider }: AiExchange, { saidUntil, limits }: Key, now: number): Refusal {
  const wait = saidUntil - now
  let mayRetry: boolean | null = null
  for (let i = 0; i < limits.length; i += 2) {
    const name = limits[i]!
    const lower = name.toLowerCase()
    if (lower === 'x-should-retry') mayRetry = limits[i + 1] === 'true'
    else if (lower === inMilliseconds)
      x.addedLines += `${name}: ${Math.min(Math.ceil(wait), Number.MAX_SAFE_INTEGER)}\r\n`
    else x.addedLines += `${name}: ${limits[i + 1]}\r\n`
  }
  const cause = { code: `all keys of ${provider!.name} are set aside` }
  return refuse('rate_limited', { retryAfter: secondsOf(wait), mayRetry }, cause)
}

/** Names and values in turns. */
function limitsIn(fields: readonly string[]): readonly string[] {
  const limits: string[] = []
  for (let i = 0; i < fields.length; i += 2)
    if (aboutLimits.test(fields[i]!)) limits.push(fields[i]!, fields[i + 1]!)
  return limits.length > maxLimits ? [] : limits
}

/** As in x-ratelimit-reset-tokens, anthropic-ratelimit-requests-limit, ratelimitbysize-query-cost. */
const aboutLimits = /^(?:(?:x-|anthropic-)?rate-?limit|retry-after-ms$|x-should-retry$)/i
const maxLimits = 128

/** OpenAI's SDKs read this field before Retry-After. */
function millisecondsIn(fields: readonly string[]): number | null {
  for (let i = 0; i < fields.length; i += 2)
    if (equalsIgnoreCase(fields[i]!, inMilliseconds) && /^\d{1,15}(?:\.\d+)?$/.test(fields[i + 1]!))
      return Number(fields[i + 1])
  return null
}

const inMilliseconds = 'retry-after-ms'

// Turns what the edge saw of a call into the stored entry, which keeps nothing of the call alive.

import { isUtf8 } from 'node:buffer'
import { type ResponseExcerpt, noTokens, type Usage } from '../ai/usage/usage.ts'
import { estimatedIn, estimatedOut } from '../ai/usage/estimate.ts'
import { sumOf } from '../ai/usage/session.ts'
import type { CallBudget } from '../budgets/call-budget.ts'
import { appOf, personal } from '../store/records/audit-entry.ts'
import type { ActingApp, LedgerAttempt, LogSummary, SavedUse, Token } from '../store/records/records.ts'
import type { Bodies, Body } from '../store/log-batch/batch.ts'
import type { Batch } from './batch.ts'
import { type Capture, headSize, tailSize } from './capture.ts'
import { customCostOf } from './custom-cost.ts'
import { mask, redacted } from '../tokens/redaction.ts'
import { decode } from './decode.ts'
import type { Observation } from './observation.ts'
import { withoutPieces } from './pieces.ts'
import { requestedModel } from './requested-model.ts'

/** Reads responses, and prices them. */
export interface Meter {
  usageOf(response: ResponseExcerpt): Usage
  costOf(provider: string, model: string | null, usage: Usage): number | null
}

/** What is kept of a body, decoded if possible. */
interface Excerpt {
  /** Whether it is still encoded, so that nothing can be read from it. */
  readonly isEncoded: boolean
  readonly head: Buffer
  /** The kept end, which may begin in the head; empty where the head has all. */
  readonly tail: Buffer
  readonly isCut: boolean
  /** Whether the end of what came is there. */
  readonly hasEnd: boolean
}

/** What is kept of the request, and of the provider's response. */
export interface Excerpts {
  readonly request: Excerpt | null
  readonly answer: Excerpt | null
}

/** Adds the entry, without headers, query and our credentials; bodies are cut at 64 KiB. */
export function writeEntry(o: Observation, { request, answer }: Excerpts, meter: Meter, batch: Batch): void {
  const measured = measure(o, { request, answer }, meter)
  const { use, modelName, streamed } = measured
  const isReused = o.isReused === true
  const { tokensIn, tokensOut } = isReused ? nothingUsed : use
  const cost = o.customCost === null ? costOf(o, modelName, use, meter) : undefined
  if (o.budget !== null) settleFor(o, o.budget, measured, meter, cost)
  const model = modelName && redacted(modelName)
  const entry: Draft = {
    id: o.ray,
    account: o.gateway.account,
    gateway: o.gateway.id,
    createdAt: Math.round(o.startedAt),
    provider: o.provider,
    model,
    path: o.path,
    status: o.status,
    success: o.isWhole && isGood(o),
    error: o.error,
    duration: inMicroseconds(o.duration),
    timeToFirstByte: o.timeToFirstByte === null ? null : inMicroseconds(o.timeToFirstByte),
    tokensIn,
    tokensOut,
    cost: isReused
      ? 0
      : o.customCost === null
        ? (cost ?? null)
        : customCostOf(o.customCost, tokensIn, tokensOut),
    cached: isReused,
    authenticated: o.authenticated,
    tokenId: o.token?.id ?? null,
    tokenName: o.token?.name ?? null,
    streamed,
    metadata: o.metadata,
    requestContentType: o.requestContentType,
    responseContentType: o.responseContentType && redacted(o.responseContentType),
  }
  if (use.isEstimated && !isReused) entry.usageIsEstimated = true
  if (o.customCost !== null && !isReused) entry.hasCustomCost = true
  if (o.attempts.length > 0) entry.attempts = o.attempts.map(attemptOf)
  if (o.step > 0) entry.step = o.step
  if (o.eventId !== null) entry.eventId = o.eventId
  if (o.dropped.length > 0) entry.dropped = o.dropped
  if (o.findings !== null) entry.findings = o.findings
  if (o.saved !== null) noteReuse(entry, o.saved)
  const actor = o.token?.actor ?? ownerOf(o.token)
  if (actor !== undefined) entry.app = appOf(actor)
  batch.add(entry, o.keepsPayloads ? bodiesOf(o, request, answer, streamed) : noBodies)
}

/** No provider was asked, whatever the response and the caller say. */
function noteReuse(entry: Draft, saved: SavedUse): void {
  entry.cached = true
  entry.saved = saved
  entry.tokensIn = 0
  entry.tokensOut = 0
  entry.cost = 0
  delete entry.usageIsEstimated
  delete entry.hasCustomCost
}

/** Settles the budget of a call by what the call used. */
export function settle(o: Observation, excerpts: Excerpts, meter: Meter): void {
  if (o.budget !== null) settleFor(o, o.budget, measure(o, excerpts, meter), meter)
}

const nothingUsed = { tokensIn: 0, tokensOut: 0 }

interface Measured {
  readonly use: Use
  /** The model, as far as request or response name it. */
  readonly modelName: string | null
  readonly streamed: boolean
}

function measure(o: Observation, { request, answer }: Excerpts, meter: Meter): Measured {
  const isEventStream = hasType(o.responseContentType, eventStream)
  const streamed = o.session !== null || isEventStream || hasType(o.responseContentType, jsonLines)
  const use = useOf(o, { request, answer }, meter, isEventStream, streamed)
  const modelName =
    o.model ??
    requestedModel(o.path, request === null || request.isEncoded ? null : request.head) ??
    o.session?.model ??
    use.usage?.model ??
    null
  return { use, modelName, streamed }
}

/** What the caller says that a call costs is no reason to charge less. `cost`: of `modelName`, if known. */
function settleFor(
  o: Observation,
  budget: CallBudget,
  { use, modelName }: Measured,
  meter: Meter,
  cost?: number | null,
): void {
  const { tokensIn, tokensOut, isEstimated } = use
  const model = budget.model ?? modelName
  const knownCost = cost === undefined || model !== modelName ? costOf(o, model, use, meter) : cost
  // Before any text came, the provider may have thought for long.
  const isHidden = isEstimated && tokensOut === 0
  // What a provider does not report beside the rest is charged as reserved.
  const lacksInput = tokensIn === null
  const lacksOutput = tokensOut === null && budget.mayWrite
  const isKnown = !lacksInput && !lacksOutput && !isHidden
  budget.settle({
    isBillable: isGood(o) || o.isAbandoned,
    cost: isKnown ? knownCost : null,
    tokens: isKnown ? tokensIn + (tokensOut ?? 0) : null,
    tokensOut: (isEstimated || lacksInput) && !isHidden ? tokensOut : null,
  })
}

/** Filled in member by member: spreading the optional ones takes most of the time of an entry. */
type Draft = { -readonly [Name in keyof LogSummary]: LogSummary[Name] }

function attemptOf({ provider, model, outcome, duration }: LedgerAttempt): LedgerAttempt {
  return { provider, model: model && redacted(model), outcome, duration: Math.round(duration) }
}

/** Returns the person whose own token made a call. */
function ownerOf(token: Pick<Token, 'name' | 'person'> | null): ActingApp | undefined {
  if (token?.person === undefined) return undefined
  return { ...token.person, ...personal, clientName: token.name }
}

/** Whether the provider did what was asked for. */
function isGood({ status, session }: Observation): boolean {
  return session === null ? status >= 200 && status < 300 : status === 101
}

/** What a call used, and whether that is an estimate. */
interface Use {
  readonly usage: Usage | null
  readonly tokensIn: number | null
  readonly tokensOut: number | null
  readonly isEstimated: boolean
}

function useOf(
  o: Observation,
  { request, answer }: Excerpts,
  meter: Meter,
  isEventStream: boolean,
  isStreamed: boolean,
): Use {
  if (o.session !== null) {
    const usage = { ...sumOf(o.session.responses), model: o.session.model }
    return { usage, tokensIn: usage.tokensIn, tokensOut: usage.tokensOut, isEstimated: o.session.isEstimated }
  }
  if (answer === null || answer.isEncoded) return noUse
  const isWhole = (o.isWhole || o.isReadToEnd) && answer.hasEnd
  const bodyUsage = meter.usageOf({ head: answer.head, tail: answer.tail, isEventStream, isWhole })
  const isSilent = bodyUsage.tokensIn === null && bodyUsage.tokensOut === null
  const usage =
    isSilent && o.headCounts ? { ...noTokens, model: bodyUsage.model, ...o.headCounts } : bodyUsage
  const { tokensIn, tokensOut } = usage
  const isBroken = isStreamed && !o.isWhole && !o.isReadToEnd && o.status >= 200 && o.status < 300
  if (!isBroken) return { usage, tokensIn, tokensOut, isEstimated: false }
  const wroteOut = estimatedOut({ head: answer.head, isEventStream }, o.response!.size)
  // Some providers report the counts so far in each event, and others zeros, or those of the beginning.
  const isUpToDate = tokensOut !== null && tokensOut > 0 && tokensOut >= wroteOut / 2
  if (isUpToDate) return { usage, tokensIn, tokensOut, isEstimated: false }
  const wentIn =
    (tokensIn || null) ??
    (request === null || request.isEncoded || request.isCut ? null : estimatedIn(request.head))
  return { usage, tokensIn: wentIn, tokensOut: wroteOut, isEstimated: true }
}

const noUse: Use = { usage: null, tokensIn: null, tokensOut: null, isEstimated: false }

/** Returns the cost; of a session the sum over its responses, null where that of one is not known. */
function costOf(o: Observation, model: string | null, use: Use, meter: Meter): number | null {
  const { usage, tokensIn, tokensOut, isEstimated } = use
  if (usage === null) return null
  if (o.session === null)
    return meter.costOf(o.provider, model, isEstimated ? { ...partsOf(usage), tokensIn, tokensOut } : usage)
  let sum: number | null = null
  for (const response of o.session.responses) {
    const cost = meter.costOf(o.provider, model, response)
    if (cost === null) return null
    sum = (sum ?? 0) + cost
  }
  return sum === null ? null : Math.round(sum * 1e12) / 1e12
}

/** Copies usage, whose model and tier are searched for when they are asked for. */
function partsOf(usage: Usage): Usage {
  return { ...usage, model: usage.model, tier: usage.tier }
}

const noBodies: Bodies = { request: null, response: null, providerResponse: null }

function bodiesOf(
  { relayed, isWhole, isGuarded }: Observation,
  requestExcerpt: Excerpt | null,
  answer: Excerpt | null,
  isStream: boolean,
): Bodies {
  const request = bodyOf(requestExcerpt, isWhole, false)
  // What a model repeats in pieces was in the request, as far as that is known.
  const isClean = () =>
    requestExcerpt !== null &&
    !requestExcerpt.isCut &&
    !requestExcerpt.isEncoded &&
    !request!.bytes.includes(mask)
  const inPieces = isStream && !isClean()
  const sent = bodyOf(answer, isWhole, inPieces)
  if (relayed === null) return { request, response: isGuarded ? null : sent, providerResponse: null }
  const response = bodyOf(excerptOf(relayed), isWhole, inPieces)
  const isSame =
    response !== null && sent !== null && response.isCut === sent.isCut && response.bytes.equals(sent.bytes)
  return { request, response, providerResponse: isSame || isGuarded ? null : sent }
}

/** Returns the kept part of a body that is not encoded; null for none. */
export function excerptOf(capture: Capture | null): Excerpt | null {
  if (capture === null || capture.size === 0 || capture.isEncoded) return null
  return { isEncoded: false, head: capture.head(), tail: capture.tail(), isCut: capture.isCut, hasEnd: true }
}

/** Returns the kept part of a body that may be encoded, decoded if possible. */
export async function decodedExcerptOf(
  capture: Capture | null,
  coding: string | null,
): Promise<Excerpt | null> {
  if (capture === null || !capture.isEncoded || capture.size === 0) return excerptOf(capture)
  const raw = capture.head()
  const decoded = await decode(raw, coding ?? '')
  const isEncoded = decoded === null || decoded.bytes.length === 0
  const bytes = isEncoded ? raw : decoded.bytes
  const head = bytes.subarray(0, headSize)
  const tail = bytes.length > headSize ? bytes.subarray(-tailSize) : bytes.subarray(0, 0)
  const isDecodedCut = !isEncoded && decoded.isCut
  const isCut = isDecodedCut || capture.isCut || bytes.length > headSize
  return { isEncoded, head, tail, isCut, hasEnd: !isDecodedCut && !capture.isCut }
}

const eventStream = 'text/event-stream'
const jsonLines = 'application/x-ndjson'

/** Drops a character at the end that was cut off. */
function bodyOf(excerpt: Excerpt | null, isWhole: boolean, inPieces: boolean): Body | null {
  if (excerpt === null) return null
  const { head, isCut, isEncoded } = excerpt
  if (isEncoded) return { bytes: head, isCut, isBinary: true }
  const text = isCut || !isWhole ? wholeCharacters(head) : head
  if (!isUtf8(text)) return { bytes: head, isCut, isBinary: true }
  const bytes = inPieces ? withoutPieces(text) : text
  return { bytes, isCut: isCut || text.length < head.length, isBinary: false }
}

/** Removes a UTF-8 character that was cut at the end. */
function wholeCharacters(bytes: Buffer): Buffer {
  let start = bytes.length - 1
  while (start > bytes.length - 4 && (bytes[start]! & 0xc0) === 0x80) start--
  const first = bytes[start]!
  const size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1
  return start + size > bytes.length ? bytes.subarray(0, start) : bytes
}

function hasType(contentType: string | null, type: string): boolean {
  if (contentType === null || contentType.length < type.length) return false
  const end = contentType.charCodeAt(type.length)
  const isBorder = Number.isNaN(end) || end === 0x3b || end === 0x20
  return isBorder && contentType.slice(0, type.length).toLowerCase() === type
}

/** Rounds ms to thousandths, which keeps a record short. */
function inMicroseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000
}

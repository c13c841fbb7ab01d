// The token usage of a call, from the retained parts of its response.

import { lastMember } from '../../base/json/members.ts'
import { endOfEvents, levelOf } from './level.ts'
import { numberOf, type Tokens, tokensIn as tokensOfObject, usageName, usageAt } from './usage-member.ts'
import { UsagePatterns } from './patterns.ts'
import { premiums } from './price-rows.ts'

export interface Usage extends Tokens {
  readonly model: string | null
}

export interface ResponseExcerpt {
  readonly head: Buffer
  readonly tail: Buffer
  readonly isEventStream: boolean
  /** Whether the response, and the retained part of it, came to its end. */
  readonly isWhole: boolean
}

/**
 * Of OpenAI's chat, responses and embeddings, Anthropic, Google and Ollama, as JSON, event stream or JSON
 * lines. Parses only the usage objects of the response itself. Never throws.
 */
export function usageOf(excerpt: ResponseExcerpt): Usage {
  const { head, tail, isEventStream, isWhole } = excerpt
  const isAll = tail.length === 0
  const bytes = isAll ? head : tail
  const last = isEventStream
    ? lastOfStream(isWhole ? bytes : wholeEvents(bytes))
    : lastOfDocument(head, bytes, isWhole)
  // Anthropic reports input at the beginning of a stream, and how long cached input stays only there.
  const isHalf = last === null || last.tokensIn === null || last.tokensOut === null
  const hidesLong = last !== null && last.cacheWritten > last.cacheWrittenLong
  const first =
    isEventStream && (isHalf || hidesLong) ? firstOfStream(isWhole && isAll ? head : wholeEvents(head)) : null
  if (last === null && first === null) return new ResponseUsage(excerpt, ...metricsOf(bytes, isEventStream))
  const wentIn = last?.tokensIn == null ? first : withLong(last, first)
  return new ResponseUsage(excerpt, wentIn, last ?? first, last?.tokensOut ?? first?.tokensOut)
}

function wholeEvents(bytes: Buffer): Buffer {
  return bytes.subarray(0, endOfEvents(bytes))
}

/** The last report may lack the long-lived part of cached input. */
function withLong(last: Tokens, first: Tokens | null): Tokens {
  if (first === null || first.cacheWritten !== last.cacheWritten) return last
  return { ...last, cacheWrittenLong: Math.max(last.cacheWrittenLong, first.cacheWrittenLong) }
}

/** Searches for facts other than the counts only when needed: mostly the request named the model. */
class ResponseUsage implements Usage {
  readonly tokensIn: number | null
  readonly tokensOut: number | null
  readonly cacheRead: number
  readonly cacheWritten: number
  readonly cacheWrittenLong: number
  readonly audioIn: number
  readonly audioOut: number
  readonly searches: number
  readonly cost: number | null
  readonly advice?: NonNullable<Tokens['advice']>
  readonly #excerpt: ResponseExcerpt
  readonly #tier: string | null

  /** Reads the input counts from one member, since parts of it are counted there too. */
  constructor(
    excerpt: ResponseExcerpt,
    wentIn: Tokens | null,
    last: Tokens | null,
    tokensOut: number | null = null,
  ) {
    this.tokensIn = wentIn?.tokensIn ?? null
    this.tokensOut = tokensOut
    this.cacheRead = wentIn?.cacheRead ?? 0
    this.cacheWritten = wentIn?.cacheWritten ?? 0
    this.cacheWrittenLong = wentIn?.cacheWrittenLong ?? 0
    this.audioIn = wentIn?.audioIn ?? 0
    this.audioOut = last?.audioOut ?? 0
    this.searches = last?.searches ?? 0
    this.cost = last?.cost ?? null
    if (last?.advice !== undefined) this.advice = last.advice
    this.#excerpt = excerpt
    this.#tier = last?.tier ?? wentIn?.tier ?? null
  }

  get model(): string | null {
    const { head, tail } = this.#excerpt
    return within(head, modelIn) ?? modelIn(tail.toString('latin1'))
  }

  get tier(): string | null {
    return premiumAtStart(this.#excerpt) ?? this.#tier ?? tierOf(this.#excerpt)
  }
}

/** Bytes at an end of a response within which nearly all members are found. */
const nearEnd = 1024

/** Searches near the beginning, then in all of the bytes; the pattern is ASCII. */
function within<T>(bytes: Buffer, find: (text: string) => T | null): T | null {
  const result = find(bytes.toString('latin1', 0, nearEnd))
  return result !== null || bytes.length <= nearEnd ? result : find(bytes.toString('latin1'))
}

const patterns = new UsagePatterns()

function lastOfStream(bytes: Buffer): Tokens | null {
  return patterns.lastIn(bytes, nearEnd, true) ?? lastUsage(bytes, true)
}

function lastOfDocument(head: Buffer, bytes: Buffer, isWhole: boolean): Tokens | null {
  const usage = isWhole ? (patterns.lastIn(bytes, nearEnd, false) ?? lastUsage(bytes, false)) : null
  // The usage is far from the end, or the end is missing.
  return usage ?? usageFromFront(head) ?? (isWhole ? countsOfOllama(bytes) : null)
}

/** From its beginning, since nesting is only known from there. */
function usageFromFront(head: Buffer): Tokens | null {
  if (!head.includes(usageName)) return null
  for (const name of names) {
    const member = lastMember(head, name)
    const tokens = member && tokensOfObject(head.toString('latin1', member.start, member.end))
    if (tokens) return tokens
  }
  return null
}

const names = ['"usage"', '"usageMetadata"'].map(name => Buffer.from(name))

function lastUsage(bytes: Buffer, isEventStream: boolean): Tokens | null {
  let at = bytes.length
  for (let tries = 0; tries < maxTries; tries++) {
    at = at === 0 ? -1 : bytes.lastIndexOf(usageName, at - 1)
    if (at === -1) return null
    const tokens = usageIn(bytes, at, isEventStream)
    if (tokens !== null) return tokens
  }
  return null
}

function firstOfStream(bytes: Buffer): Tokens | null {
  let at = -1
  for (let tries = 0; tries < maxTries; tries++) {
    at = bytes.indexOf(usageName, at + 1)
    if (at === -1) return null
    const tokens = usageIn(bytes, at, true)
    if (tokens !== null) return tokens
  }
  return null
}

/** A hostile text has thousands. */
const maxTries = 64
const largest = 4200

function usageIn(bytes: Buffer, at: number, isEventStream: boolean): Tokens | null {
  const member = usageAt(bytes.toString('latin1', at, at + largest), 0)
  if (member === null) return null
  const level = levelOf(bytes, at, at + member.text.length, isEventStream)
  if (level === 0) return null
  if (level === 1) {
    patterns.learn(member.text, bytes, nearEnd)
    return member
  }
  const parent = parentIn(bytes, at)
  // The output is yet to come when a message begins: Anthropic writes a number all the same.
  return parent === null ? null : parent === 'message' ? { ...member, tokensOut: null } : member
}

/** Of its event: 'response' if its beginning was not retained, since only those are so long; else null. */
function parentIn(bytes: Buffer, at: number): keyof typeof parents | null {
  const line = Math.max(bytes.lastIndexOf('\n', at), bytes.lastIndexOf('\r', at)) + 1
  const start = bytes.indexOf('{', line)
  if (!startsWithField(bytes, line)) return 'response'
  const event = bytes.subarray(start)
  for (const name of Object.keys(parents) as (keyof typeof parents)[]) {
    const member = lastMember(event, parents[name])
    if (member !== null && start + member.start < at && at < start + member.end) return name
  }
  return null
}

const parents = {
  response: Buffer.from('"response"'),
  message: Buffer.from('"message"'),
  x_groq: Buffer.from('"x_groq"'),
} as const

function startsWithField(bytes: Buffer, line: number): boolean {
  return bytes.subarray(line, line + dataField.length).equals(dataField)
}

const dataField = Buffer.from('data:')

function modelIn(text: string): string | null {
  const at = text.indexOf('"model')
  if (at === -1) return null
  modelMember.lastIndex = at
  const model = modelMember.exec(text)?.[1]
  return model === undefined ? null : Buffer.from(model, 'latin1').toString()
}

const modelMember = /"model(?:Version)?"\s*:\s*"([^"\\]{1,256})"/g

/** Claude says it where a stream begins, and its end may not. */
function premiumAtStart({ head, isEventStream }: ResponseExcerpt): string | null {
  if (!isEventStream) return null
  const start = head.subarray(0, nearEnd)
  if (!start.includes('"speed"') && !start.includes('"inference_geo"')) return null
  const tier = firstOfStream(wholeEvents(head))?.tier ?? null
  return premiums.has(tier) ? tier : null
}

function tierOf({ head, tail, isEventStream }: ResponseExcerpt): string | null {
  const all = tail.length === 0 ? head : tail
  const bytes = isEventStream && head[0] !== firstOfEvent ? all.subarray(-nearTier) : all
  // Underscores are rare, and quotes are not: most responses without a tier are told by this search.
  if (!bytes.includes(tierEnd)) return null
  let at = bytes.length
  for (let tries = 0; tries < maxTries; tries++) {
    at = at === 0 ? -1 : bytes.lastIndexOf(tierName, at - 1)
    if (at === -1) return null
    const [member, tier] = tierMember.exec(bytes.toString('latin1', at, at + 64)) ?? []
    if (member !== undefined && levelOf(bytes, at, at + member.length, isEventStream) > 0) return tier!
  }
  return null
}

const tierName = Buffer.from('"service_tier"')
const tierEnd = Buffer.from('_tier"')
/** Bytes; each chunk has the tier. Named events begin with `event`, and may be long. */
const nearTier = 4096
const firstOfEvent = 0x65
const tierMember = /^"service_tier"\s*:\s*"(\w{1,32})"/

/** In the last line among many other members. */
function countsOfOllama(bytes: Buffer): Tokens | null {
  const tokensOut = countOf(bytes, '"eval_count"')
  if (tokensOut === null) return null
  return { ...noTokens, tokensIn: countOf(bytes, '"prompt_eval_count"'), tokensOut }
}

export const noTokens: Tokens = {
  tokensIn: null,
  tokensOut: null,
  cacheRead: 0,
  cacheWritten: 0,
  cacheWrittenLong: 0,
  audioIn: 0,
  audioOut: 0,
  searches: 0,
  cost: null,
  tier: null,
}

/** Of Bedrock, for models whose own responses have no usage; twice, as input and output. */
function metricsOf(bytes: Buffer, isEventStream: boolean): [Tokens | null, Tokens | null, number | null] {
  const at = bytes.lastIndexOf(metricsName)
  const [member = '', object] =
    at === -1 ? [] : (metricsMember.exec(bytes.toString('latin1', at, at + 512)) ?? [])
  if (object === undefined || levelOf(bytes, at, at + member.length, isEventStream) !== 1)
    return [null, null, null]
  const count = (name: string) => {
    const [, digits] = new RegExp(`"${name}"\\s*:\\s*(\\d{1,15})\\b`).exec(object) ?? []
    return digits === undefined ? null : numberOf(Number(digits))
  }
  const tokens = { ...noTokens, tokensIn: count('inputTokenCount'), tokensOut: count('outputTokenCount') }
  return [tokens, tokens, tokens.tokensOut]
}

const metricsName = '"amazon-bedrock-invocationMetrics"'
const metricsMember = /^"amazon-bedrock-invocationMetrics"\s*:\s*(\{[^{}]*\})/

function countOf(bytes: Buffer, name: string): number | null {
  let at = bytes.length
  for (let tries = 0; tries < maxTries; tries++) {
    at = at === 0 ? -1 : bytes.lastIndexOf(name, at - 1)
    if (at === -1) return null
    const [member, digits] = countMember.exec(bytes.toString('latin1', at, at + 64)) ?? []
    if (member !== undefined && levelOf(bytes, at, at + member.length, false) === 1)
      return numberOf(Number(digits))
  }
  return null
}

const countMember = /^"\w+"\s*:\s*(\d{1,15})\b/

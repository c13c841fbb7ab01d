// How many tokens a call used, from the kept parts of its response.

import { isSpace } from '../members.ts'
import { numberOf, type Tokens, usageName, type UsageMember, usageAt } from './member.ts'
import { UsagePatterns } from './patterns.ts'

/** Null where the response does not report it; for a stream or a truncated response, as far as the kept parts report it. */
interface Usage extends Tokens {
  readonly model: string | null
}

/**
 * Reads the usage from the beginning of a response and, where that is not all of it, its end: OpenAI's chat, responses and embeddings, Anthropic, Google and
 * Ollama, as JSON, event stream or JSON lines. It searches for the usage objects and parses nothing else: strings are escaped in a response and cannot be
 * mistaken for one, and tool inputs come before the last one. Never throws.
 */
export function usageOf(head: Buffer, tail: Buffer, isEventStream: boolean): Usage {
  const last = lastTokens(tail.length === 0 ? head : tail)
  // Anthropic reports input at the beginning of a stream, and how long cached input stays only there.
  const isHalf = last === null || last.tokensIn === null || last.tokensOut === null
  const hidesLong = last !== null && last.cacheWritten > last.cacheWrittenLong
  const first = isEventStream && (isHalf || hidesLong) ? within(head, firstUsage) : null
  const wentIn = last?.tokensIn == null ? first : withLong(last, first)
  return new Found(head, tail, wentIn, last?.tokensOut ?? first?.tokensOut)
}

/** Takes the long-lived part of cached input from the first report, where the last report of the same lacks it. */
function withLong(last: Tokens, first: Tokens | null): Tokens {
  if (first === null || first.cacheWritten !== last.cacheWritten) return last
  return { ...last, cacheWrittenLong: Math.max(last.cacheWrittenLong, first.cacheWrittenLong) }
}

/** Searches for the model only when it is needed: mostly the request named it. */
class Found implements Usage {
  readonly tokensIn: number | null
  readonly tokensOut: number | null
  readonly cacheRead: number
  readonly cacheWritten: number
  readonly cacheWrittenLong: number
  readonly #head: Buffer
  readonly #tail: Buffer

  /** Takes the input counts from one member, since parts of it are counted there too. */
  constructor(head: Buffer, tail: Buffer, wentIn: Tokens | null, tokensOut: number | null = null) {
    this.tokensIn = wentIn?.tokensIn ?? null
    this.tokensOut = tokensOut
    this.cacheRead = wentIn?.cacheRead ?? 0
    this.cacheWritten = wentIn?.cacheWritten ?? 0
    this.cacheWrittenLong = wentIn?.cacheWrittenLong ?? 0
    this.#head = head
    this.#tail = tail
  }

  get model(): string | null {
    return within(this.#head, modelIn) ?? modelIn(this.#tail.toString('latin1'))
  }
}

/** Bytes at an end of a response in which nearly all of them have what is searched for. */
const nearEnd = 1024

/** Searches near the beginning, then in all of the bytes; the pattern is ASCII, so they need not be decoded. */
function within<T>(bytes: Buffer, find: (text: string) => T | null): T | null {
  const found = find(bytes.toString('latin1', 0, nearEnd))
  return found !== null || bytes.length <= nearEnd ? found : find(bytes.toString('latin1'))
}

/** The forms of recent responses. */
const patterns = new UsagePatterns()

function lastTokens(bytes: Buffer): Tokens | null {
  const isOfOllama = endsWithCounts(bytes)
  const known = isOfOllama ? null : patterns.lastIn(bytes, nearEnd)
  if (known !== null) return known
  const near = bytes.toString('latin1', Math.max(0, bytes.length - nearEnd))
  if (isOfOllama) return lastLine(near)
  const member = lastUsage(near)
  if (member !== null) patterns.learn(member.text, bytes, nearEnd)
  const found = member ?? lastLine(near)
  if (found !== null || bytes.length <= nearEnd) return found
  const all = bytes.toString('latin1')
  return lastUsage(all) ?? lastLine(all)
}

function modelIn(text: string): string | null {
  const at = text.indexOf('"model')
  if (at === -1) return null
  modelMember.lastIndex = at
  const model = modelMember.exec(text)?.[1]
  return model === undefined ? null : Buffer.from(model, 'latin1').toString()
}

const modelMember = /"model(?:Version)?"\s*:\s*"([^"\\]{1,256})"/g

/** Reads the counts of Ollama, which are in the last line among many other members, behind what a tool was called with. */
function lastLine(text: string): Tokens | null {
  const end = text.slice(Math.max(0, text.lastIndexOf('"done"')))
  if (!end.includes('"eval_count"')) return null
  const [tokensIn, tokensOut] = ollamaCounts.map(count => numberOf(Number(count.exec(end)?.[1])))
  return { tokensIn: tokensIn!, tokensOut: tokensOut!, ...noCache }
}

const noCache = { cacheRead: 0, cacheWritten: 0, cacheWrittenLong: 0 }
const ollamaCounts = [/"prompt_eval_count"\s*:\s*(\d{1,15})\b/, /"eval_count"\s*:\s*(\d{1,15})\b/]

/** Whether a response ends with a count of Ollama: then an object that looks like usage is what a tool was called with, since Ollama has none. */
function endsWithCounts(bytes: Buffer): boolean {
  let at = bytes.length
  while (isSpace(bytes[at - 1]) || bytes[at - 1] === braceEnd) at--
  const end = at
  while (bytes[at - 1]! >= zero && bytes[at - 1]! <= zero + 9) at--
  if (at === end) return false
  while (isSpace(bytes[at - 1])) at--
  if (bytes[--at] !== colon) return false
  while (isSpace(bytes[at - 1])) at--
  return lastNames.some(
    name => at >= name.length && bytes.compare(name, 0, name.length, at - name.length, at) === 0,
  )
}

const colon = 0x3a
const zero = 0x30
const braceEnd = 0x7d
const lastNames = ['"eval_duration"', '"eval_count"'].map(name => Buffer.from(name))

function firstUsage(text: string): UsageMember | null {
  let at = -1
  for (let tries = 0; tries < mostTried; tries++) {
    at = text.indexOf(usageName, at + 1)
    const member = at === -1 ? null : usageAt(text, at)
    if (member !== null || at === -1) return member
  }
  return null
}

function lastUsage(text: string): UsageMember | null {
  let at = text.length
  for (let tries = 0; tries < mostTried; tries++) {
    at = at === 0 ? -1 : text.lastIndexOf(usageName, at - 1)
    const member = at === -1 ? null : usageAt(text, at)
    if (member !== null || at === -1) return member
  }
  return null
}

/** Members of the name that are examined before giving up: a hostile text has thousands. */
const mostTried = 64

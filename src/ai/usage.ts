// How many tokens a call took, from what was kept of its answer. The log asks, after the call is over.

/** Null where the answer does not say; of a stream or a cut answer, what the kept parts say. */
export interface Usage {
  readonly model: string | null
  /** Cached ones included. */
  readonly tokensIn: number | null
  /** Those of reasoning included. */
  readonly tokensOut: number | null
}

/**
 * Reads the usage from the beginning of an answer and, where that is not all of it, its end: OpenAI's chat, responses and embeddings, Anthropic, Google and
 * Ollama, as JSON, event stream or JSON lines. Never throws.
 */
export function usageOf(head: string, tail: string, isEventStream: boolean): Usage {
  const whole = tail === '' && !isEventStream ? parse(head) : null
  return isRecord(whole) ? usageOfAnswer(whole) : usageOfText(head, tail)
}

/** Names of what is counted, in the APIs of OpenAI, Anthropic, Google and Ollama; the counts of one list are added up. */
const counted = {
  tokensIn: [
    ['prompt_tokens'],
    ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'],
    ['promptTokenCount'],
    ['prompt_eval_count'],
  ],
  tokensOut: [
    ['completion_tokens'],
    ['output_tokens'],
    ['candidatesTokenCount', 'thoughtsTokenCount'],
    ['eval_count'],
  ],
} as const

const MODEL = /"model(?:Version)?"\s*:\s*"([^"\\]{1,256})"/
const PROMPT_COUNT = /"prompt_eval_count"\s*:\s*(\d{1,15})\b/
const OUTPUT_COUNT = /"eval_count"\s*:\s*(\d{1,15})\b/

function usageOfAnswer(answer: Record<string, unknown>): Usage {
  const counts = firstRecord(answer.usage, answer.usageMetadata, answer)
  return { model: modelOf(answer.model) ?? modelOf(answer.modelVersion), ...tokensOf(counts) }
}

/** Looks for usage objects in a text: what people and models wrote stands escaped there, and can't be mistaken for one. */
function usageOfText(head: string, tail: string): Usage {
  const model = MODEL.exec(head)?.[1] ?? MODEL.exec(tail)?.[1] ?? null
  const end = tail === '' ? head : tail
  let tokensIn = numberOf(PROMPT_COUNT.exec(end)?.[1])
  let tokensOut = numberOf(OUTPUT_COUNT.exec(end)?.[1])
  // Anthropic counts what went in at the beginning of a stream; where several say the same, the last one is final.
  for (const object of [firstUsage(head), lastUsage(end)]) {
    if (object === null) continue
    const tokens = tokensOf(object)
    tokensIn = tokens.tokensIn ?? tokensIn
    tokensOut = tokens.tokensOut ?? tokensOut
  }
  return { model, tokensIn, tokensOut }
}

function firstUsage(text: string): Record<string, unknown> | null {
  let at = -1
  for (let tries = 0; tries < MOST_TRIED; tries++) {
    at = text.indexOf(USAGE, at + 1)
    const object = at === -1 ? null : usageAt(text, at)
    if (object !== null || at === -1) return object
  }
  return null
}

function lastUsage(text: string): Record<string, unknown> | null {
  let at = text.length
  for (let tries = 0; tries < MOST_TRIED; tries++) {
    at = at === 0 ? -1 : text.lastIndexOf(USAGE, at - 1)
    const object = at === -1 ? null : usageAt(text, at)
    if (object !== null || at === -1) return object
  }
  return null
}

/** Members of the name that are looked at before a text is given up: a hostile one has thousands. */
const MOST_TRIED = 64
const USAGE = '"usage'
const USAGE_MEMBER = /"usage(?:Metadata)?"\s*:\s*(?=\{)/y
const LARGEST_USAGE = 4096

/** Reads the object of a usage member that begins there, if it is one and counts tokens. */
function usageAt(text: string, at: number): Record<string, unknown> | null {
  USAGE_MEMBER.lastIndex = at
  if (!USAGE_MEMBER.test(text)) return null
  const object = parse(objectAt(text, USAGE_MEMBER.lastIndex))
  if (!isRecord(object)) return null
  const { tokensIn, tokensOut } = tokensOf(object)
  return tokensIn === null && tokensOut === null ? null : object
}

/** Gives the text from a brace to the one that closes it; no string of a usage object has braces. */
function objectAt(text: string, start: number): string {
  let depth = 0
  const end = Math.min(text.length, start + LARGEST_USAGE)
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === BRACE) depth++
    else if (code === BRACE_END && --depth === 0) return text.slice(start, at + 1)
  }
  return ''
}

function tokensOf(counts: Record<string, unknown>): Pick<Usage, 'tokensIn' | 'tokensOut'> {
  return { tokensIn: countOf(counts, counted.tokensIn), tokensOut: countOf(counts, counted.tokensOut) }
}

function countOf(
  counts: Record<string, unknown>,
  spellings: readonly (readonly [string, ...string[]])[],
): number | null {
  for (const [name, ...others] of spellings) {
    const count = numberOf(counts[name])
    if (count === null) continue
    return others.reduce((sum, other) => sum + (numberOf(counts[other]) ?? 0), count)
  }
  return null
}

function numberOf(value: unknown): number | null {
  const number = typeof value === 'string' ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : null
}

function modelOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= 256 ? value : null
}

function parse(json: string): unknown {
  const first = json.charCodeAt(0)
  if (first !== BRACE && !/^\s*\{/.test(json)) return null
  try {
    return JSON.parse(json)
  } catch {
    return null
  }
}

function firstRecord(...values: readonly unknown[]): Record<string, unknown> {
  return values.find(isRecord) ?? {}
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const BRACE = 0x7b
const BRACE_END = 0x7d

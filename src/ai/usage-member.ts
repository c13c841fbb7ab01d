// The member of an answer that counts its tokens, in the APIs of OpenAI, Anthropic and Google. Called by usage.ts.

export interface Tokens {
  /** Cached ones included. */
  readonly tokensIn: number | null
  /** Those of reasoning included. */
  readonly tokensOut: number | null
}

/** A usage member, from its name on, as it stands in an answer. */
export interface UsageMember extends Tokens {
  readonly text: string
}

/** What the name of a usage member begins with. */
export const USAGE = '"usage'

/** Names of what is counted; the counts of one list are added up. */
const counted = {
  tokensIn: [
    ['prompt_tokens'],
    ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'],
    ['promptTokenCount'],
  ],
  tokensOut: [['completion_tokens'], ['output_tokens'], ['candidatesTokenCount', 'thoughtsTokenCount']],
} as const

/** Reads the usage member that begins there, if it is an object and counts tokens. */
export function usageAt(text: string, at: number): UsageMember | null {
  NAME.lastIndex = at
  if (!NAME.test(text)) return null
  const end = endOfObject(text, NAME.lastIndex)
  const counts = countsIn(text.slice(NAME.lastIndex, end))
  if (counts === null || (counts.tokensIn === null && counts.tokensOut === null)) return null
  return { text: text.slice(at, end), tokensIn: sum(counts.tokensIn), tokensOut: sum(counts.tokensOut) }
}

const NAME = /"usage(?:Metadata)?"\s*:\s*(?=\{)/y

/** What is to be added up; null where nothing is counted. */
interface Counts {
  readonly tokensIn: readonly number[] | null
  readonly tokensOut: readonly number[] | null
}

/** Reads the counts of a usage object; null for a text that is no JSON. */
export function countsIn(object: string): Counts | null {
  const members = parse(object)
  if (members === null) return null
  return { tokensIn: countsOf(members, counted.tokensIn), tokensOut: countsOf(members, counted.tokensOut) }
}

const LARGEST = 4096

/** Tells where the brace is behind that closes the one there; no string of a usage object has braces. */
function endOfObject(text: string, start: number): number {
  let depth = 0
  const end = Math.min(text.length, start + LARGEST)
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === BRACE) depth++
    else if (code === BRACE_END && --depth === 0) return at + 1
  }
  return start
}

function countsOf(
  members: Record<string, unknown>,
  spellings: readonly (readonly string[])[],
): readonly number[] | null {
  for (const names of spellings) {
    if (numberOf(members[names[0]!]) === null) continue
    return names.map(name => numberOf(members[name])).filter(count => count !== null)
  }
  return null
}

function sum(counts: readonly number[] | null): number | null {
  return counts === null ? null : counts.reduce((sum, count) => sum + count)
}

function parse(object: string): Record<string, unknown> | null {
  if (object === '') return null
  try {
    return JSON.parse(object)
  } catch {
    return null
  }
}

/** Takes a count as such: a whole number. */
export function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}

const BRACE = 0x7b
const BRACE_END = 0x7d

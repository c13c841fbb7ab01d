// The member of a response with its token counts, in the APIs of OpenAI, Anthropic and Google.

export interface Tokens {
  /** Including cached ones. */
  readonly tokensIn: number | null
  /** Including those of reasoning. */
  readonly tokensOut: number | null
  /** Those of `tokensIn` that were read from a cache, those written to one, and the part of the latter that stays there for an hour; 0 where not reported. */
  readonly cacheRead: number
  readonly cacheWritten: number
  readonly cacheWrittenLong: number
}

/** A usage member in a response, from its name on. */
export interface UsageMember extends Tokens {
  readonly text: string
}

/** The prefix of the name of a usage member. */
export const usageName = '"usage'

type Path = readonly string[]

/** The positions of the counts in the object; those in one list are added up. */
const counted = {
  tokensIn: [
    [['prompt_tokens']],
    [['input_tokens'], ['cache_creation_input_tokens'], ['cache_read_input_tokens']],
    [['promptTokenCount']],
  ],
  tokensOut: [
    [['completion_tokens']],
    [['output_tokens']],
    [['candidatesTokenCount'], ['thoughtsTokenCount']],
  ],
  cacheRead: [
    [['cache_read_input_tokens']],
    [['prompt_tokens_details', 'cached_tokens']],
    [['input_tokens_details', 'cached_tokens']],
    [['cachedContentTokenCount']],
    [['prompt_cache_hit_tokens']],
  ],
  cacheWritten: [[['cache_creation_input_tokens']], [['prompt_tokens_details', 'cache_write_tokens']]],
  cacheWrittenLong: [[['cache_creation', 'ephemeral_1h_input_tokens']]],
} as const satisfies Record<keyof Tokens, readonly (readonly Path[])[]>

/** Reads the usage member at this position, if it is an object with token counts. */
export function usageAt(text: string, at: number): UsageMember | null {
  usageMember.lastIndex = at
  if (!usageMember.test(text)) return null
  const end = endOfObject(text, usageMember.lastIndex)
  const counts = countsIn(text.slice(usageMember.lastIndex, end))
  if (counts === null || (counts.tokensIn === null && counts.tokensOut === null)) return null
  return {
    text: text.slice(at, end),
    tokensIn: sum(counts.tokensIn),
    tokensOut: sum(counts.tokensOut),
    cacheRead: sum(counts.cacheRead) ?? 0,
    cacheWritten: sum(counts.cacheWritten) ?? 0,
    cacheWrittenLong: sum(counts.cacheWrittenLong) ?? 0,
  }
}

const usageMember = /"usage(?:Metadata)?"\s*:\s*(?=\{)/y

/** The numbers to add up; null where there are none. */
type Counts = Readonly<Record<keyof Tokens, readonly number[] | null>>

/** Reads the counts of a usage object; null for invalid JSON. */
export function countsIn(object: string): Counts | null {
  const members = parse(object)
  if (members === null) return null
  return {
    tokensIn: countsOf(members, counted.tokensIn),
    tokensOut: countsOf(members, counted.tokensOut),
    cacheRead: countsOf(members, counted.cacheRead),
    cacheWritten: countsOf(members, counted.cacheWritten),
    cacheWrittenLong: countsOf(members, counted.cacheWrittenLong),
  }
}

const largest = 4096

/** Returns the offset after the brace that closes the one there; no string in a usage object contains braces. */
function endOfObject(text: string, start: number): number {
  let depth = 0
  const end = Math.min(text.length, start + largest)
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === brace) depth++
    else if (code === braceEnd && --depth === 0) return at + 1
  }
  return start
}

function countsOf(
  members: Record<string, unknown>,
  spellings: readonly (readonly Path[])[],
): readonly number[] | null {
  for (const paths of spellings) {
    if (countAt(members, paths[0]!) === null) continue
    return paths.map(path => countAt(members, path)).filter(count => count !== null)
  }
  return null
}

function countAt(members: Record<string, unknown>, [name, inner]: Path): number | null {
  const value = members[name!]
  if (inner === undefined) return numberOf(value)
  return typeof value === 'object' && value !== null ? numberOf((value as typeof members)[inner]) : null
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

/** Accepts a whole number as a count. */
export function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}

const brace = 0x7b
const braceEnd = 0x7d

// The member of a response with its token counts, in the APIs of OpenAI, Anthropic and Google.

import { isObject } from '../../base/text/json.ts'
import { premiumOf } from './price-rows.ts'

export interface Tokens {
  /** Including cached ones. */
  readonly tokensIn: number | null
  /** Including reasoning. */
  readonly tokensOut: number | null
  /** Of `tokensIn`: read from a cache, written to one, and of the latter for an hour; else 0. */
  readonly cacheRead: number
  readonly cacheWritten: number
  readonly cacheWrittenLong: number
  /** Among `tokensIn` not read from a cache, and among `tokensOut`; 0 where not reported. */
  readonly audioIn: number
  readonly audioOut: number
  /** Web searches that the provider made and charges for; 0 where not reported. */
  readonly searches: number
  /** US dollars, if the provider reports them; else null. */
  readonly cost: number | null
  readonly tier: string | null
  /** Of these, what other models used for the response; absent for none. */
  readonly advice?: readonly Advice[]
}

export interface Advice extends Tokens {
  readonly model: string
}

interface UsageMember extends Tokens {
  readonly text: string
}

export const usageName = '"usage'

type Path = readonly string[]

/** Those in one list are added up; the first list whose first member is present applies. */
const counted = {
  tokensIn: [
    [['prompt_tokens']],
    [['input_tokens'], ['cache_creation_input_tokens'], ['cache_read_input_tokens']],
    [['promptTokenCount'], ['toolUsePromptTokenCount']],
    [['toolUsePromptTokenCount']],
    // Of Converse.
    [['inputTokens'], ['cacheReadInputTokens'], ['cacheWriteInputTokens']],
  ],
  tokensOut: [
    [['completion_tokens']],
    [['output_tokens']],
    [['candidatesTokenCount'], ['thoughtsTokenCount']],
    // A model that only thought has no candidates.
    [['thoughtsTokenCount']],
    [['outputTokens']],
  ],
  total: [[['total_tokens']], [['totalTokenCount']], [['totalTokens']]],
  cacheRead: [
    [['cache_read_input_tokens']],
    [['prompt_tokens_details', 'cached_tokens']],
    [['input_tokens_details', 'cached_tokens']],
    [['input_token_details', 'cached_tokens']],
    [['cachedContentTokenCount']],
    [['prompt_cache_hit_tokens']],
    [['cacheReadInputTokens']],
  ],
  cacheWritten: [
    [['cache_creation_input_tokens']],
    [['prompt_tokens_details', 'cache_write_tokens']],
    [['cacheWriteInputTokens']],
  ],
  cacheWrittenLong: [[['cache_creation', 'ephemeral_1h_input_tokens']]],
  audioIn: [
    [['prompt_tokens_details', 'audio_tokens']],
    [['input_tokens_details', 'audio_tokens']],
    [['input_token_details', 'audio_tokens']],
    [['promptTokensDetails', 'AUDIO']],
  ],
  audioCached: [
    [['input_token_details', 'cached_tokens_details', 'audio_tokens']],
    [['cacheTokensDetails', 'AUDIO']],
  ],
  audioOut: [
    [['completion_tokens_details', 'audio_tokens']],
    [['output_tokens_details', 'audio_tokens']],
    [['output_token_details', 'audio_tokens']],
    [['candidatesTokensDetails', 'AUDIO']],
  ],
  searches: [[['server_tool_use', 'web_search_requests']], [['num_search_queries']]],
} as const satisfies Record<string, readonly (readonly Path[])[]>

type Count = keyof typeof counted

export type Counts = Readonly<Record<Count, readonly number[] | null>>

export function usageAt(text: string, at: number): UsageMember | null {
  usageMember.lastIndex = at
  if (!usageMember.test(text)) return null
  const end = endOfObject(text, usageMember.lastIndex)
  const tokens = tokensIn(text.slice(usageMember.lastIndex, end))
  return tokens && { ...tokens, text: text.slice(at, end) }
}

const usageMember = /"usage(?:Metadata)?"\s*:\s*(?=\{)/y

export function tokensIn(object: string): Tokens | null {
  const members = parse(object)
  const counts = members && countsOf(members)
  if (counts === null || (counts.tokensIn === null && counts.tokensOut === null)) return null
  const sums = {} as Record<Count, number | null>
  for (const name of names) sums[name] = sum(counts[name])
  const tokens = tokensOf(sums, costIn(members!), tierIn(members!))
  return Array.isArray(members!.iterations) ? withIterations(tokens, members!.iterations) : tokens
}

/** Of Claude: its counts have neither what it used to compact the context, nor advice by another model. */
function withIterations(tokens: Tokens, iterations: readonly unknown[]): Tokens {
  let all = tokens
  const advice: Advice[] = []
  for (const iteration of iterations) {
    if (!isObject(iteration) || !beyondCounts.has(iteration.type)) continue
    const counts = countsOf(iteration)
    const sums = {} as Record<Count, number | null>
    for (const name of names) sums[name] = sum(counts[name])
    const used = tokensOf(sums, null, null)
    all = { ...all, ...sumOf(all, used) }
    if (typeof iteration.model === 'string') advice.push({ ...used, model: iteration.model })
  }
  return advice.length === 0 ? all : { ...all, advice }
}

const beyondCounts: ReadonlySet<unknown> = new Set(['compaction', 'advisor_message'])

function sumOf(one: Tokens, other: Tokens): Partial<Tokens> {
  return {
    tokensIn: (one.tokensIn ?? 0) + (other.tokensIn ?? 0),
    tokensOut: (one.tokensOut ?? 0) + (other.tokensOut ?? 0),
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWritten: one.cacheWritten + other.cacheWritten,
    cacheWrittenLong: one.cacheWrittenLong + other.cacheWrittenLong,
  }
}

/**
 * A total beyond input and output counts as output too: some providers do not count reasoning in it. Where
 * the input is all of it, there is no output.
 */
export function tokensOf(
  sums: Readonly<Record<Count, number | null>>,
  cost: number | null,
  tier: string | null,
): Tokens {
  const { tokensIn, tokensOut, total } = sums
  const rest = total === null || tokensIn === null ? null : total - tokensIn
  return {
    tokensIn,
    tokensOut: rest !== null && rest >= (tokensOut ?? 0) ? rest : tokensOut,
    cacheRead: sums.cacheRead ?? 0,
    cacheWritten: sums.cacheWritten ?? 0,
    cacheWrittenLong: sums.cacheWrittenLong ?? 0,
    audioIn: Math.max(0, (sums.audioIn ?? 0) - (sums.audioCached ?? 0)),
    audioOut: sums.audioOut ?? 0,
    searches: sums.searches ?? 0,
    cost,
    tier,
  }
}

export function countsIn(object: string): Counts | null {
  const members = parse(object)
  return members && countsOf(members)
}

function countsOf(members: Record<string, unknown>): Counts {
  const counts = {} as Record<Count, readonly number[] | null>
  for (const name of names) counts[name] = numbersOf(members, counted[name])
  return counts
}

const names = Object.keys(counted) as readonly Count[]

/** OpenRouter's own share and, with a key of the caller's own, what the provider behind it charges. */
function costIn({ cost, is_byok, cost_details }: Record<string, unknown>): number | null {
  const own = dollarsOf(cost)
  if (own === null || is_byok !== true) return own
  const { upstream_inference_cost } = (cost_details ?? {}) as Record<string, unknown>
  return own + (dollarsOf(upstream_inference_cost) ?? 0)
}

function dollarsOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null
}

/** What Claude charges more for is like a tier of its own. */
function tierIn({ service_tier, speed, inference_geo }: Record<string, unknown>): string | null {
  const tier = typeof service_tier === 'string' ? service_tier : null
  return tier === 'batch' ? tier : (premiumOf(speed === 'fast', inference_geo === 'us') ?? tier)
}

const largest = 4096

/** No string in a usage object contains braces. */
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

function numbersOf(
  members: Record<string, unknown>,
  spellings: readonly (readonly Path[])[],
): readonly number[] | null {
  for (const paths of spellings) {
    if (countAt(members, paths[0]!) === null) continue
    return paths.map(path => countAt(members, path)).filter(count => count !== null)
  }
  return null
}

function countAt(members: Record<string, unknown>, path: Path): number | null {
  let value: unknown = members
  for (const name of path) {
    if (typeof value !== 'object' || value === null) return null
    value = Array.isArray(value) ? countOfKind(value, name) : (value as typeof members)[name]
  }
  return numberOf(value)
}

function countOfKind(list: readonly unknown[], kind: string): unknown {
  for (const item of list as readonly ({ modality?: unknown; tokenCount?: unknown } | null)[])
    if (item?.modality === kind) return item.tokenCount
  return null
}

function sum(counts: readonly number[] | null): number | null {
  return counts === null ? null : counts.reduce((sum, count) => sum + count)
}

function parse(object: string): Record<string, unknown> | null {
  if (object === '') return null
  try {
    const value = JSON.parse(object)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

export function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}

const brace = 0x7b
const braceEnd = 0x7d

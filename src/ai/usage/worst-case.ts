// The most tokens that a call can use, as its body says it, and the default that it gets if it says nothing.

import { isObject } from '../../base/text/json.ts'
import {
  edit,
  elementsAt,
  type Member,
  membersAt,
  membersOf,
  type Span,
  splice,
} from '../parsing/json-members.ts'
import { estimatedTokens } from './estimate.ts'

interface WorstCase {
  readonly tokensIn: number
  readonly tokensOut: number
  /** Searches on the web that the provider may make. */
  readonly searches: number
  /** The body with a maximum for its output, if it had none and its API takes one. */
  readonly body: Buffer | null
}

/** Text has fewer tokens than bytes: usually a quarter of them, and half is more than any that was seen. */
const bytesOfToken = 2
/** Bodies that are longer may have images, whose tokens do not depend on their bytes. */
const shortBody = 16 * 1024
/** No provider writes more. */
const mostTokens = 10_000_000
const mostChoices = 128
const searchesOfTool = 10

/** The maximum of the output by API, from the end of the path; nested in a member, if there are two names. */
const maxNames: readonly (readonly [path: RegExp, names: readonly [string] | readonly [string, string]])[] = [
  [/\/chat\/completions$/, ['max_tokens']],
  [/\/responses$/, ['max_output_tokens']],
  [
    /\/(?:messages|completions|invoke(?:-with-response-stream)?)$|:(?:rawPredict|streamRawPredict)$/,
    ['max_tokens'],
  ],
  [/:(?:generateContent|streamGenerateContent)$/, ['generationConfig', 'maxOutputTokens']],
  [/\/converse(?:-stream)?$/, ['inferenceConfig', 'maxTokens']],
  [/\/api\/(?:chat|generate)$/, ['options', 'num_predict']],
]

/** Members that are a maximum in some API, at the top and in another member; some readers ignore case. */
const maxima: ReadonlySet<string> = new Set(['max_tokens', 'max_completion_tokens', 'max_output_tokens'])
const nestedMaxima: ReadonlySet<string> = new Set([
  'maxoutputtokens',
  'max_output_tokens',
  'maxtokens',
  'num_predict',
])
const nests: ReadonlySet<string> = new Set([
  'generationconfig',
  'generation_config',
  'inferenceconfig',
  'options',
])
const choices: ReadonlySet<string> = new Set(['n', 'best_of'])
const nestedChoices: ReadonlySet<string> = new Set(['candidatecount', 'candidate_count'])

/** Paths of calls whose output has no tokens. */
const silent =
  /\/(?:embeddings|embed|moderations|rerank|api\/embed(?:dings)?)$|:(?:embedContent|batchEmbedContents|countTokens)$/

/**
 * Reads the body that goes to a provider; `path` is that at the provider, without its query. Duplicates count
 * as the largest, and what is no sensible number as the default.
 */
export function worstCaseOf(body: Buffer, path: string, provider: string, defaultMax: number): WorstCase {
  const tokensIn = tokensInOf(body)
  const searches = body.includes('web_search') || body.includes('google_search') ? searchesOfTool : 0
  if (silent.test(path)) return { tokensIn, tokensOut: 0, searches: 0, body: null }
  const members = isJson(body) ? membersOf(body) : []
  const { max, odd, count } = limitsOf(body, members)
  const perChoice = odd.length === 0 ? (max ?? defaultMax) : Math.max(max ?? 0, defaultMax)
  const worst = { tokensIn, tokensOut: perChoice * count * promptsOf(body, members, path), searches }
  if (members.length === 0) return { ...worst, body: null }
  // A provider may read nonsense as no limit.
  if (odd.length > 0)
    return {
      ...worst,
      body: edit(
        body,
        odd.map(span => ({ ...span, text: `${defaultMax}` })),
      ),
    }
  return { ...worst, body: max === null ? withMax(body, members, path, provider, defaultMax) : null }
}

/** Prompts of a legacy completion, each of which gets an output of its own. */
function promptsOf(body: Buffer, members: readonly Member[], path: string): number {
  if (!path.endsWith('/completions') || path.endsWith('/chat/completions')) return 1
  const prompt = members.findLast(({ name }) => name === 'prompt')
  return prompt === undefined ? 1 : Math.max(1, elementsAt(body, prompt).length)
}

function isJson(body: Buffer): boolean {
  const first = body.find(byte => byte > 0x20)
  return first === 0x7b
}

function tokensInOf(body: Buffer): number {
  const ofText = Math.ceil(body.length / bytesOfToken) + picturesIn(body) * tokensOfPicture
  if (body.length <= shortBody || !body.includes('base64')) return ofText
  try {
    const request: unknown = JSON.parse(body.toString())
    return isObject(request) ? 2 * estimatedTokens(request) : ofText
  } catch {
    return ofText
  }
}

/** Pictures may be named by their address alone; each has the word more than once. */
function picturesIn(body: Buffer): number {
  let count = 0
  for (let at = body.indexOf(pictureName); at !== -1; at = body.indexOf(pictureName, at + 1)) count++
  return count
}

const pictureName = Buffer.from('"image')
/** The most that is usual. */
const tokensOfPicture = 1600

interface Limits {
  max: number | null
  /** Where there is a maximum that is no sensible number. */
  readonly odd: Span[]
  count: number
}

function limitsOf(body: Buffer, members: readonly Member[]): Limits {
  const limits: Limits = { max: null, odd: [], count: 1 }
  for (const member of members) {
    const name = member.name.toLowerCase()
    if (maxima.has(name)) noteMax(limits, body, member)
    else if (choices.has(name)) noteCount(limits, numberAt(body, member))
    else if (nests.has(name))
      for (const inner of membersAt(body, member)) {
        const nested = inner.name.toLowerCase()
        if (nestedMaxima.has(nested)) noteMax(limits, body, inner)
        else if (nestedChoices.has(nested)) noteCount(limits, numberAt(body, inner))
      }
  }
  return limits
}

function noteMax(limits: Limits, body: Buffer, { start, end }: Span): void {
  const value = numberAt(body, { start, end })
  if (value === null) limits.odd.push({ start, end })
  else limits.max = Math.max(limits.max ?? 0, value)
}

function noteCount(limits: Limits, value: number | null): void {
  limits.count = Math.max(limits.count, value === null ? 1 : Math.min(value, mostChoices))
}

/** Null for anything but a whole number from 0 up. */
function numberAt(body: Buffer, { start, end }: Pick<Member, 'start' | 'end'>): number | null {
  const text = body.toString('latin1', start, Math.min(end, start + 24))
  const value = Number(text)
  return text !== '' && Number.isInteger(value) && value >= 0 ? Math.min(value, mostTokens) : null
}

/** Null for an API that takes none, so that the default is only an estimate. */
function withMax(
  body: Buffer,
  members: readonly Member[],
  path: string,
  provider: string,
  max: number,
): Buffer | null {
  const names = maxNames.find(([end]) => end.test(path))?.[1]
  if (names === undefined) return null
  const [name, nested] = names
  if (nested === undefined) {
    const own = name === 'max_tokens' && path.endsWith('/chat/completions') && provider === 'openai'
    return withMember(body, members[0]!.nameStart, `"${own ? 'max_completion_tokens' : name}":${max},`)
  }
  const outer = members.findLast(member => member.name === name)
  if (outer === undefined) return withMember(body, members[0]!.nameStart, `"${name}":{"${nested}":${max}},`)
  const [first] = membersAt(body, outer)
  if (first === undefined) return splice(body, outer.start, outer.end, `{"${nested}":${max}}`)
  return withMember(body, first.nameStart, `"${nested}":${max},`)
}

function withMember(body: Buffer, at: number, text: string): Buffer {
  return splice(body, at, at, text)
}

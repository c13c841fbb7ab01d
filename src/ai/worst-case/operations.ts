// What a call makes its provider do, by its path: where its limit is, and what else bounds its output.

import { memoizeLast } from '../../base/memo.ts'
import { withoutQuery } from '../../base/path/path.ts'
import { limitOf } from '../translate/messages-call-to-chat.ts'
import type { LimitPlace } from './max-tokens.ts'
import type { TopName } from './request-scan.ts'

type Operation =
  /** Counts tokens. */
  | { readonly kind: 'free' }
  /** Of embeddings, moderations and rankings: nothing is written. */
  | { readonly kind: 'reading' }
  | { readonly kind: 'images' | 'speech' | 'transcription' }
  | Writing

/** Of text, and of sound and images in its place. */
export interface Writing {
  readonly kind: 'writing'
  readonly limit: LimitPlace
  /** Responses that each prompt has. */
  readonly times: readonly TopName[]
  /** Whether they are in the object of the limit. */
  readonly hasCandidates: boolean
  /** The provider's own default, where that is known. */
  readonly usual: number | null
  /** What limits the uses of a tool: nothing does where a provider may not read it. */
  readonly usesLimit: 'max_uses' | 'max_tool_calls' | null
  /** The input of tool calls, and the response of functions, may be objects. */
  readonly toolInput: boolean
  readonly functionResponse: boolean
  /** Input is written to a cache only where the request says so. */
  readonly cachesIfMarked: boolean
}

interface Facts {
  readonly provider: string
  readonly model: string
}

/** Null for what is unknown, such as batches: they spend later what no response reports. */
export function operationOf(provider: string, model: string | null, path: string): Operation | null {
  const { row, plain } = rowAt(path)
  return row === null ? null : row.of({ provider, model: model ?? '' }, plain)
}

/** Most calls are like the one before. */
const rowAt = memoizeLast((path: string) => {
  const plain = withoutQuery(path)
  if (cut.test(plain)) return { row: null, plain }
  if (plain.endsWith('/chat/completions')) return { row: chatRow, plain }
  const last = plain.slice(plain.lastIndexOf('/') + 1)
  const method = last.includes(':') ? last.slice(last.lastIndexOf(':')) : last
  const row = operations.get(method)
  if (row === undefined) return { row: null, plain }
  const isThere = row.below === anywhere || row.below.some(folder => plain.endsWith(folder + last))
  return { row: isThere ? row : null, plain }
})

/** Where some servers end a path, or a segment of it: what follows may not be read at all. */
const cut = /[;#\\]|%(?:00|2[35]|3[bf]|5c)/i

interface OperationRow {
  /** What precedes the last segment of the path. */
  readonly below: readonly string[]
  of(facts: Facts, path: string): Operation | null
}

const anywhere: readonly string[] = []

function at(below: readonly string[], of: OperationRow['of']): OperationRow {
  return { below, of }
}

function always(operation: Operation, below = anywhere): OperationRow {
  return at(below, () => operation)
}

function place(within: TopName | null, names: readonly string[], more: Partial<LimitPlace> = {}): LimitPlace {
  return { within, names, others: [], min: 1, ...more }
}

function writing(limit: LimitPlace, more: Partial<Omit<Writing, 'kind' | 'limit'>> = {}): Writing {
  return {
    kind: 'writing',
    limit,
    times: [],
    hasCandidates: false,
    usual: null,
    usesLimit: null,
    toolInput: false,
    functionResponse: false,
    cachesIfMarked: false,
    ...more,
  }
}

const newer = 'max_completion_tokens'
const older = 'max_tokens'

const chats = {
  newer: writing(place(null, [newer, older]), { times: ['n'] }),
  both: writing(place(null, [older, newer]), { times: ['n'] }),
  older: writing(place(null, [older], { others: [newer] }), { times: ['n'] }),
}

/** Others read the older name alone, as far as is known. */
const readsBoth: ReadonlySet<string> = new Set([
  'groq',
  'openrouter',
  'google-ai-studio',
  'google-vertex-ai',
  'aws-bedrock',
])

function chatOf({ provider, model }: Facts): Writing {
  if (isOpenAi(provider) || limitOf(model) === newer) return chats.newer
  return readsBoth.has(provider) ? chats.both : chats.older
}

function isOpenAi(provider: string): boolean {
  return provider === 'openai' || provider === 'azure-openai'
}

// Legacy ones may have no output, to score a prompt.
const completions = writing(place(null, [older], { min: 0 }), { times: ['n', 'best_of'] })
const ofOpenAi = writing(place(null, [older], { min: 0 }), { times: ['n', 'best_of'], usual: 16 })

const responses = writing(place(null, ['max_output_tokens']))
const responsesOfOpenAi: Writing = { ...responses, usesLimit: 'max_tool_calls' }
// Without output, a call only fills the cache.
const messages = writing(place(null, [older], { min: 0 }), { toolInput: true, cachesIfMarked: true })
const messagesOfClaude: Writing = { ...messages, usesLimit: 'max_uses' }
const gemini = writing(place('generationConfig', ['maxOutputTokens', 'max_output_tokens']), {
  hasCandidates: true,
  functionResponse: true,
})
const ollama = writing(place('options', ['num_predict']))
const converse = writing(place('inferenceConfig', ['maxTokens']), { toolInput: true, cachesIfMarked: true })

const free: Operation = { kind: 'free' }
const reading: Operation = { kind: 'reading' }
const images: Operation = { kind: 'images' }
const speech: Operation = { kind: 'speech' }
const transcription: Operation = { kind: 'transcription' }

/** Models of Bedrock in their own formats. */
const invoked: readonly (readonly [RegExp, Operation])[] = [
  [/embed|rerank/, reading],
  [/\banthropic\.claude-/, messagesOfClaude],
  [/\bamazon\.nova-/, writing(place('inferenceConfig', ['max_new_tokens', 'maxTokens']))],
  [/\bamazon\.titan-text-/, writing(place('textGenerationConfig', ['maxTokenCount']))],
  [/\bmeta\.llama/, writing(place(null, ['max_gen_len']))],
  [/\bcohere\.command-/, writing(place(null, [older]), { times: ['num_generations'] })],
  [/\bopenai\.gpt-oss/, chats.newer],
  [/\b(?:mistral|ai21|deepseek|qwen|google|minimax|moonshot|nvidia|zai)\./, chats.older],
]

function invokedModel({ model }: Facts): Operation | null {
  return invoked.find(([pattern]) => pattern.test(model))?.[1] ?? null
}

/** Models of other publishers at Google, in their own formats. */
function rawOf(_: Facts, path: string): Operation | null {
  if (path.includes('/publishers/anthropic/models/')) return messagesOfClaude
  return path.includes('/publishers/mistralai/models/') ? chats.older : null
}

const chatRow = at(anywhere, chatOf)
const operations: ReadonlyMap<string, OperationRow> = new Map([
  ['completions', at(anywhere, ({ provider }) => (isOpenAi(provider) ? ofOpenAi : completions))],
  ['responses', at(anywhere, ({ provider }) => (isOpenAi(provider) ? responsesOfOpenAi : responses))],
  ['messages', at(anywhere, ({ provider }) => (provider === 'anthropic' ? messagesOfClaude : messages))],
  ['embeddings', always(reading)],
  ['embed', always(reading)],
  ['moderations', always(reading)],
  ['rerank', always(reading)],
  ['generations', always(images, ['/images/'])],
  ['edits', always(images, ['/images/'])],
  ['variations', always(images, ['/images/'])],
  ['speech', always(speech, ['/audio/'])],
  ['transcriptions', always(transcription, ['/audio/'])],
  ['translations', always(transcription, ['/audio/'])],
  ['count_tokens', always(free, ['/messages/'])],
  ['input_tokens', always(free, ['/responses/'])],
  ['count-tokens', always(free, ['/'])],
  [':countTokens', always(free)],
  [':generateContent', always(gemini)],
  [':streamGenerateContent', always(gemini)],
  [':embedContent', always(reading)],
  [':batchEmbedContents', always(reading)],
  [':rawPredict', at(anywhere, rawOf)],
  [':streamRawPredict', at(anywhere, rawOf)],
  ['chat', always(ollama, ['/api/'])],
  ['generate', always(ollama, ['/api/'])],
  ['converse', always(converse)],
  ['converse-stream', always(converse)],
  ['invoke', at(anywhere, invokedModel)],
  ['invoke-with-response-stream', at(anywhere, invokedModel)],
])

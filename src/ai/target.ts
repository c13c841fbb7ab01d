// The target of a request on an AI host, read from its path alone.

import { type PlainOperation, plainOperations } from '../config/model/config.ts'

export type Operation = 'chat' | 'messages' | 'responses' | 'embeddings' | 'run' | PlainOperation

export interface RestTarget {
  readonly api: 'rest'
  /** Null on a short route, where it is that of the token. */
  readonly account: string | null
  readonly operation: Operation
  /** Decoded; null if the body names it. */
  readonly model: string | null
  /** With its question mark; '' for none. */
  readonly query: string
}

/** Of the tokens in a call of Messages that is not made. */
export interface CountTarget extends Omit<RestTarget, 'operation'> {
  readonly operation: 'count_tokens'
}

/** The models that the caller may call; `model` is null for all of them. */
export interface ModelsTarget extends Omit<RestTarget, 'operation'> {
  readonly operation: 'models'
}

/** The unified endpoint beside the native ones: the body names provider and model. */
export interface CompatTarget {
  readonly api: 'compat'
  readonly account: string
  readonly gateway: string
  readonly operation: 'chat'
  readonly query: string
}

export interface NativeTarget {
  readonly api: 'native'
  readonly account: string
  readonly gateway: string
  readonly provider: string
  /** The rest as received, query included; begins with a slash. */
  readonly path: string
}

export type AiTarget = RestTarget | CountTarget | ModelsTarget | CompatTarget | NativeTarget

/** Whether the body of a call may be a multipart form. */
export function takesForm({ operation }: RestTarget | CompatTarget): boolean {
  return ofForms.has(operation)
}

const ofForms: ReadonlySet<Operation> = new Set([
  'images/edits',
  'images/variations',
  'audio/transcriptions',
  'audio/translations',
])

/** Null for other routes. Only a model is decoded, so that `%2F` and `%2E` never act as separators. */
export function parseAiTarget(target: string): AiTarget | null {
  if (target.startsWith(native)) return parseNative(target) ?? parseShort(target)
  if (target.startsWith(rest)) return parseRest(target)
  return null
}

/** Without the short routes: a site may have these paths too. */
export function isAmongAiRoutes(target: string): boolean {
  if (target.startsWith(native)) return isAmongNativeRoutes(target)
  if (!target.startsWith(rest) || accountAt(target, rest.length) === null) return false
  const end = rest.length + accountLength
  return target.startsWith('/ai/', end) || target.slice(end) === '/ai'
}

export function isShortRoute(target: string): boolean {
  return target.startsWith(native) && parseShort(target) !== null
}

/** Whether a target is a base URL from the configuration of programs, rather than a call. */
export function isBaseOfCalls(target: string): boolean {
  return baseOfCalls.test(target)
}

/** Whether a path names an account and what follows is for a provider, known or not. */
export function isAmongNativeRoutes(target: string): boolean {
  return target.startsWith(native) && accountAt(target, native.length) !== null
}

const native = '/v1/'
const rest = '/client/v4/accounts/'
const run = 'run/'
const oneModel = 'v1/models/'
const accountLength = 32
const longestName = 64
const longestModel = 256
const baseOfCalls =
  /^(?:\/v1\/[\da-f]{32}\/[a-z\d_-]{1,64}\/[a-z\d_-]{1,64}|\/client\/v4\/accounts\/[\da-f]{32}\/ai|)(?:\/v1)?\/?$/

const operations: ReadonlyMap<string, Operation | 'count_tokens' | 'models'> = new Map([
  ['v1/chat/completions', 'chat'],
  ['v1/messages', 'messages'],
  ['v1/responses', 'responses'],
  ['v1/embeddings', 'embeddings'],
  ['v1/messages/count_tokens', 'count_tokens'],
  ['v1/models', 'models'],
  ['run', 'run'],
  ...plainOperations.map(operation => [`v1/${operation}`, operation] as const),
])

type AccountTarget = RestTarget | CountTarget | ModelsTarget

function parseNative(target: string): CompatTarget | NativeTarget | null {
  const account = accountAt(target, native.length)
  const from = native.length + accountLength + 1
  const gatewayEnd = nameEnd(target, from)
  if (account === null || gatewayEnd === from || target.charCodeAt(gatewayEnd) !== slash) return null
  const providerEnd = nameEnd(target, gatewayEnd + 1)
  const next = target.charCodeAt(providerEnd)
  const isWhole = providerEnd === target.length
  if (providerEnd === gatewayEnd + 1 || (!isWhole && next !== slash && next !== questionMark)) return null
  const gateway = target.slice(from, gatewayEnd)
  const provider = target.slice(gatewayEnd + 1, providerEnd)
  const path = next === slash ? target.slice(providerEnd) : `/${target.slice(providerEnd)}`
  if (provider !== 'compat') return { api: 'native', account, gateway, provider, path }
  const { beginning, query } = splitQuery(path)
  if (beginning !== '/chat/completions' && beginning !== '/v1/chat/completions') return null
  return { api: 'compat', account, gateway, operation: 'chat', query }
}

function parseRest(target: string): AccountTarget | null {
  const account = accountAt(target, rest.length)
  const from = rest.length + accountLength
  if (account === null || !target.startsWith('/ai/', from)) return null
  const { beginning, query } = splitQuery(target.slice(from + '/ai/'.length))
  const model = beginning.startsWith(run) ? decodeModel(beginning.slice(run.length)) : null
  if (model !== null) return { api: 'rest', account, operation: 'run', model, query }
  return parseVersioned(account, beginning, query)
}

/** Every operation with a version has one; `/ai/run` does not. */
function parseShort(target: string): AccountTarget | null {
  const { beginning, query } = splitQuery(target.slice('/'.length))
  return parseVersioned(null, beginning, query)
}

function parseVersioned(account: string | null, beginning: string, query: string): AccountTarget | null {
  // A base URL that ends in /v1, for an SDK that writes the version too.
  const path = beginning.startsWith('v1/v1/') ? beginning.slice('v1/'.length) : beginning
  const operation = operations.get(path)
  if (operation !== undefined) return { api: 'rest', account, operation, model: null, query }
  const model = path.startsWith(oneModel) ? decodeModel(path.slice(oneModel.length)) : null
  return model === null ? null : { api: 'rest', account, operation: 'models', model, query }
}

function accountAt(target: string, from: number): string | null {
  const end = from + accountLength
  if (target.charCodeAt(end) !== slash) return null
  for (let i = from; i < end; i++) {
    const code = target.charCodeAt(i)
    if (!isDigit(code) && !(code >= 0x61 && code <= 0x66)) return null
  }
  return target.slice(from, end)
}

/** The end of a name of at most 64 lower-case letters, digits, hyphens and underscores. */
function nameEnd(target: string, from: number): number {
  const end = Math.min(target.length, from + longestName)
  let i = from
  while (i < end && isNameCode(target.charCodeAt(i))) i++
  return i
}

function splitQuery(path: string): { beginning: string; query: string } {
  const mark = path.indexOf('?')
  return mark === -1
    ? { beginning: path, query: '' }
    : { beginning: path.slice(0, mark), query: path.slice(mark) }
}

function decodeModel(text: string): string | null {
  if (text === '' || text.length > longestModel) return null
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

function isNameCode(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || isDigit(code) || code === hyphen || code === underscore
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

const hyphen = 0x2d
const slash = 0x2f
const questionMark = 0x3f
const underscore = 0x5f

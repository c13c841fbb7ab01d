// An AI call as its provider sees it, without anything about the client behind the gateway.

import { crosses, equalsIgnoreCase, field, type FieldId } from '../../http1/fields/fields.ts'
import { isMethodOverride } from '../../http1/fields/method-override.ts'
import type { RequestHead } from '../../http1/heads/request-head.ts'
import type { KeyRing } from '../../ai/providers/key-ring.ts'
import type { Dialect } from '../../ai/providers/provider-rows.ts'
import type { Provider } from '../../ai/providers/providers.ts'
import { bearerOf } from '../../tokens/bearer.ts'
import { holdsOurs } from '../../tokens/misplaced-tokens.ts'
import { isTraceField } from '../trace/trace.ts'
import { isForGateway, isIdempotencyKey } from './request-fields.ts'
import type { AiExchange } from './ai-exchange.ts'

export interface ProviderLines {
  readonly ids: readonly FieldId[]
  readonly provider: Provider
  readonly api: AiExchange['target']['api']
  readonly dialect: Dialect | null
  readonly isRewritten: boolean
  readonly isTraced: boolean
  readonly isRouted: boolean
  /** Whether the gateway keeps an Idempotency-Key to itself. */
  readonly isOnce: boolean
  readonly forwarded: string
  readonly credential: string
  readonly defaults: string
}

/**
 * A configured credential is added only if the caller brought none that may be forwarded; trace fields are
 * left out if the gateway writes its own. Reuses `last` for a call with the same fields.
 */
export function providerFields(
  head: RequestHead,
  ai: AiExchange,
  last: { providerLines: ProviderLines | null },
  keys: KeyRing,
  now: number,
  isTraced = false,
): string {
  const { forwarded, credential, defaults } = linesOfCaller(head, ai, last, isTraced)
  const bringsOwn = credential !== '' || hasKeyInQuery(ai.path, ai.provider!.credentialParameter)
  return forwarded + (bringsOwn ? credential : configuredCredential(head, ai, keys, now)) + defaults
}

/** Returns the fields of the caller that its provider gets, and the credential among them. */
export function linesOfCaller(
  head: RequestHead,
  ai: AiExchange,
  last: { providerLines: ProviderLines | null },
  isTraced: boolean,
): ProviderLines {
  if (!isFor(last.providerLines, head, ai, isTraced)) last.providerLines = writeLines(head, ai, isTraced)
  return last.providerLines
}

function isFor(
  lines: ProviderLines | null,
  { ids }: RequestHead,
  { provider, target, providerDialect, readsResponse, isRouted, idempotencyKey }: AiExchange,
  isTraced: boolean,
): lines is ProviderLines {
  if (lines === null || lines.ids !== ids || lines.provider !== provider || lines.api !== target.api)
    return false
  return (
    lines.dialect === providerDialect &&
    lines.isRewritten === readsResponse &&
    lines.isTraced === isTraced &&
    lines.isRouted === isRouted &&
    lines.isOnce === (idempotencyKey !== null)
  )
}

function writeLines(head: RequestHead, ai: AiExchange, isTraced: boolean): ProviderLines {
  const provider = ai.provider!
  const { fields, ids, hopByHop } = head
  let lines = ''
  let credential = ''
  let signature = ''
  for (let i = 0; i < ids.length; i++) {
    const name = fields[2 * i]!
    if (!crosses(ids[i]!, 'request') || isNotForwarded(name) || hopByHop?.has(name.toLowerCase())) continue
    if (ai.providerDialect !== null && isOfOtherApi(name, ai.providerDialect)) continue
    if (isTraced && isTraceField(ids[i]!)) continue
    if (ai.withheld?.concerns(name)) continue
    if (ai.idempotencyKey !== null && isIdempotencyKey(name)) continue
    if (ai.isRouted && ids[i] === field.other && !isForProvider(name, ai)) continue
    const line = `${name}: ${fields[2 * i + 1]}\r\n`
    if (provider.isSigned && isOneOf(name, signatureFields)) signature += line
    else if (isOneOf(name, credentials)) credential += callersCredential(ai, name, fields[2 * i + 1]!, line)
    else if (!ai.readsResponse || !equalsIgnoreCase(name, 'accept-encoding')) lines += line
  }
  if (ai.readsResponse) lines += 'Accept-Encoding: identity\r\n'
  return {
    ids,
    provider,
    api: ai.target.api,
    dialect: ai.providerDialect,
    isRewritten: ai.readsResponse,
    isTraced,
    isRouted: ai.isRouted,
    isOnce: ai.idempotencyKey !== null,
    forwarded: lines,
    credential: credential === '' ? '' : credential + signature,
    defaults: defaults(provider, fields),
  }
}

/**
 * Whether a field is for the provider that an alias chose. Others may name an account or a credential of the
 * caller somewhere else.
 */
function isForProvider(name: string, { provider, providerDialect }: AiExchange): boolean {
  if (isOneOf(name, credentials)) return true
  if (providerDialect === 'anthropic') return startsWith(name, 'anthropic-')
  return provider!.name === 'openai' && startsWith(name, 'openai-')
}

function startsWith(name: string, prefix: string): boolean {
  return name.length > prefix.length && equalsIgnoreCase(name.slice(0, prefix.length), prefix)
}

/** Whether the caller brought a credential that replaces the configured one. */
export function bringsCredential({ fields, hopByHop }: RequestHead, ai: AiExchange): boolean {
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!
    if (ai.withheld?.concerns(name)) continue
    if (!isOneOf(name, credentials) || callersCredential(ai, name, fields[i + 1]!, name) === '') continue
    if (!hopByHop?.has(name.toLowerCase())) return true
  }
  return hasKeyInQuery(ai.path, ai.provider!.credentialParameter)
}

/** Beside an Authorization that is a signature for AWS. */
const signatureFields = ['x-amz-date', 'x-amz-security-token', 'x-amz-content-sha256']

const credentials = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key']

/**
 * REST routes use only configured credentials. On the unified endpoint, if an alias chose the provider, the
 * caller's may be for another.
 */
function callersCredential(
  { target, provider, isRouted }: AiExchange,
  name: string,
  value: string,
  line: string,
): string {
  if (target.api === 'rest' || isRouted) return ''
  if (target.api === 'native')
    return isOneOf(name, provider!.credentialFields) && !isPlaceholder(value) && !holdsOurs(value) ? line : ''
  if (!equalsIgnoreCase(name, 'authorization') || holdsOurs(value)) return ''
  const key = bearerOf(value)
  return key === null ? '' : credentialLine(provider!, key)
}

/** SDKs of AWS cannot but sign. An id this short is none of an access key, so its signature means nothing. */
function isPlaceholder(value: string): boolean {
  return value.startsWith(ofAws) && value.indexOf('/', ofAws.length) - ofAws.length < minAccessKey
}

const ofAws = 'AWS4-HMAC-SHA256 Credential='
const minAccessKey = 16

function configuredCredential({ method }: RequestHead, ai: AiExchange, keys: KeyRing, now: number): string {
  const provider = ai.provider!
  ai.key = keys.next(now, ai.doubtedKeys ?? undefined)
  if (ai.key === null) return ''
  const { value, sign } = ai.key
  if (sign === undefined || sign === null) return credentialLine(provider, value)
  const { host } = provider.base
  return sign({ method, host, path: ai.path, region: provider.resource!, body: ai.body })
}

function credentialLine({ keyField, keyPrefix }: Provider, key: string): string {
  return `${keyField}: ${keyPrefix}${key}\r\n`
}

function hasKeyInQuery(path: string, parameter: string | null): boolean {
  return parameter !== null && (path.includes(`?${parameter}=`) || path.includes(`&${parameter}=`))
}

function defaults({ defaultFields }: Provider, fields: readonly string[]): string {
  let lines = ''
  for (const [name, value] of defaultFields) if (!isSent(name, fields)) lines += `${name}: ${value}\r\n`
  return lines
}

function isSent(name: string, fields: readonly string[]): boolean {
  for (let i = 0; i < fields.length; i += 2) if (equalsIgnoreCase(fields[i]!, name)) return true
  return false
}

/** Not forwarded: the log reads what providers send over a WebSocket, which an extension would compress. */
const extensions = 'sec-websocket-extensions'

/** Providers refuse pages by their origin, which the gateway has judged. */
const ofPage = ['cookie', 'origin', 'referer']

/** Budgets count a call by its own method: what only reads costs nothing. */
function isNotForwarded(name: string): boolean {
  if (isForGateway(name) || isMethodOverride(name)) return true
  return isOneOf(name, ofPage) || equalsIgnoreCase(name, extensions)
}

/** Another API than the provider's might read it differently. */
function isOfOtherApi(name: string, providerDialect: Dialect): boolean {
  const prefix = providerDialect === 'openai' ? 'anthropic-' : 'openai-'
  return startsWith(name, prefix)
}

function isOneOf(name: string, names: readonly string[]): boolean {
  for (const one of names) if (equalsIgnoreCase(name, one)) return true
  return false
}

// The request fields that AI routes read, and those for the gateway, which are removed.

import type { AiTarget } from '../../ai/target.ts'
import { equalsIgnoreCase, type FieldId, type FieldLines, field } from '../../http1/fields/fields.ts'
import type { RequestHead } from '../../http1/heads/request-head.ts'
import { bearerOf } from '../../tokens/bearer.ts'
import { isPlainToken, placeInField, placeInLine } from '../../tokens/misplaced-tokens.ts'

export const repeated = Symbol('repeated')
export type Once = string | null | typeof repeated

export class AiFields {
  authorization: Once = null
  gatewayAuthorization: Once = null
  apiKey: Once = null
  gatewayId: Once = null
  metadata: Once = null
  eventId: Once = null
  customCost: Once = null
  collectLog: Once = null
  collectLogPayload: Once = null
  requestTimeout: Once = null
  maxAttempts: Once = null
  retryDelay: Once = null
  backoff: Once = null
  keyAlias: Once = null
  cacheTtl: Once = null
  skipCache: Once = null
  cacheKey: Once = null
  idempotencyKey: Once = null
  hasControls = false
  hasCacheControls = false
  contentType: string | null = null
  contentEncoding: string | null = null
  /** In lower case. */
  unknown: string | null = null
  misplacedAt: string | null = null
  /** Where only short routes accept a token. */
  tokenInApiKeyAt: string | null = null
  readonly ids: readonly FieldId[]

  constructor({ fields, ids }: FieldLines) {
    this.ids = ids
    for (let i = 0; i < ids.length; i++) {
      const [id, name, value] = [ids[i]!, fields[2 * i]!, fields[2 * i + 1]!]
      const mayBear = this.#read(id, name, value)
      const place = placeInField(name, value, mayBear)
      if (place !== null && isPlainToken(value) && equalsIgnoreCase(name, 'x-api-key'))
        this.tokenInApiKeyAt = place
      else this.misplacedAt ??= place
    }
  }

  /** Returns whether the field may have a credential of this gateway as `Bearer`. */
  #read(id: FieldId, name: string, value: string): boolean {
    if (id === field.contentType) this.contentType = joined(this.contentType, value)
    else if (id === field.contentEncoding) this.contentEncoding = value
    if (id === field.authorization) {
      this.authorization = once(this.authorization, value)
      return true
    }
    if (id !== field.other) return false
    if (equalsIgnoreCase(name, 'x-api-key')) this.apiKey = once(this.apiKey, value)
    if (isIdempotencyKey(name)) this.idempotencyKey = once(this.idempotencyKey, value)
    return isForGateway(name) && this.#readOurs(name.toLowerCase(), value)
  }

  #readOurs(name: string, value: string): boolean {
    switch (name) {
      case 'svc-aig-authorization':
        this.gatewayAuthorization = once(this.gatewayAuthorization, value)
        return true
      case 'svc-aig-gateway-id':
        this.gatewayId = once(this.gatewayId, value)
        break
      case 'svc-aig-metadata':
        this.metadata = once(this.metadata, value)
        break
      case 'svc-aig-event-id':
        this.eventId = once(this.eventId, value)
        break
      case 'svc-aig-custom-cost':
        this.customCost = once(this.customCost, value)
        break
      case 'svc-aig-collect-log':
        this.collectLog = once(this.collectLog, value)
        break
      case 'svc-aig-collect-log-payload':
        this.collectLogPayload = once(this.collectLogPayload, value)
        break
      case 'svc-aig-request-timeout':
        this.requestTimeout = once(this.requestTimeout, value)
        this.hasControls = true
        break
      case 'svc-aig-max-attempts':
        this.maxAttempts = once(this.maxAttempts, value)
        this.hasControls = true
        break
      case 'svc-aig-retry-delay':
        this.retryDelay = once(this.retryDelay, value)
        this.hasControls = true
        break
      case 'svc-aig-backoff':
        this.backoff = once(this.backoff, value)
        this.hasControls = true
        break
      case 'svc-aig-byok-alias':
        this.keyAlias = once(this.keyAlias, value)
        break
      case 'svc-aig-cache-ttl':
        this.cacheTtl = once(this.cacheTtl, value)
        this.hasCacheControls = true
        break
      case 'svc-aig-skip-cache':
        this.skipCache = once(this.skipCache, value)
        this.hasCacheControls = true
        break
      case 'svc-aig-cache-key':
        this.cacheKey = once(this.cacheKey, value)
        this.hasCacheControls = true
        break
      default:
        this.unknown ??= name.slice(0, maxNameLength)
    }
    return false
  }
}

/** Reuses those of the last call on the connection if the lines are the same. */
export function aiFieldsOf(head: RequestHead, last: { aiFields: AiFields | null }): AiFields {
  if (last.aiFields?.ids !== head.ids) last.aiFields = new AiFields(head)
  return last.aiFields
}

/** Returns the place of a credential of this gateway that must not be there. */
export function findMisplaced(
  head: RequestHead,
  fields: AiFields,
  { account }: Pick<AiTarget, 'account'>,
): string | null {
  return placeInLine(head) ?? fields.misplacedAt ?? (account === null ? null : fields.tokenInApiKeyAt)
}

/** The field that authenticates a call, in lower case; on short routes, x-api-key if there is no other. */
export function bearerField({ api, account }: AiTarget, { authorization, apiKey }: AiFields): BearerField {
  if (api !== 'rest') return 'svc-aig-authorization'
  return account === null && apiKey !== null && (authorization ?? '') === '' ? 'x-api-key' : 'authorization'
}

type BearerField = 'authorization' | 'svc-aig-authorization' | 'x-api-key'

/** The presented token; null for none. With two it is unclear which one counts, so neither does: ''. */
export function presentedToken(target: AiTarget, fields: AiFields): string | null {
  const name = bearerField(target, fields)
  const value = fields[valuesOf[name]]
  if (value === repeated) return ''
  return name === 'x-api-key' ? value : bearerOf(value)
}

const valuesOf = {
  authorization: 'authorization',
  'svc-aig-authorization': 'gatewayAuthorization',
  'x-api-key': 'apiKey',
} as const

const maxNameLength = 64

/** In any case, and also with underscores, which a provider might fold into hyphens. */
export function isForGateway(name: string): boolean {
  if (name.length < prefix.length || (name.charCodeAt(0) | 0x20) !== 0x73) return false
  for (let i = 0; i < prefix.length; i++) {
    const char = name.charCodeAt(i)
    const expected = prefix.charCodeAt(i)
    if (char !== expected && (char | 0x20) !== expected && !(expected === 0x2d && char === 0x5f)) return false
  }
  return true
}

const prefix = 'svc-aig-'

export function isIdempotencyKey(name: string): boolean {
  return name.length === 15 && equalsIgnoreCase(name, 'idempotency-key')
}

function once(before: Once, value: string): Once {
  return before === null ? value : repeated
}

/** Of two types that differ, a reader may take either: together they are none. */
function joined(before: string | null, value: string): string {
  return before === null || before === value ? value : `${before}, ${value}`
}

export function isRead({ method }: Pick<RequestHead, 'method'>): boolean {
  return method === 'GET' || method === 'HEAD'
}

// The possible refusals of a request, derived from its row: token, path, query, body, store.

import { type ApiFaultName, apiFaults } from '../../errors/catalogue/api-faults.ts'
import { type BodyKind, jsonBody } from '../http/request-body.ts'
import { type Body, type Operation, type Refusal, refusal, refusals } from '../schema/operation.ts'
import { type Row, takesNoBody } from '../api/api-types.ts'
import type { Members, Schema } from '../schema/schema.ts'

export function refusalsOf(operation: Operation, row: Row | null, path: string): readonly Refusal[] {
  const all = [...givenBy(operation, row, path), ...(operation.refusals ?? [])]
  return [...Map.groupBy(all, ({ status }) => status).values()]
    .map(join)
    .sort((one, other) => one.status - other.status)
}

function givenBy(operation: Operation, row: Row | null, path: string): readonly Refusal[] {
  const { body, query = {} } = operation
  const hasToken = row !== null || operation.hasToken === true
  return [
    ...(hasToken ? [badQuery(query), unauthorized, storeUnreachable, bug] : []),
    ...(row?.scope ? [refusal('no_user')] : []),
    ...(row && isOwned(path) ? [forbidden] : []),
    ...(row?.lastingAccess && row.lastingAccess !== 'nothing' ? [lastingAccess] : []),
    ...(row && row.method !== 'GET' ? [tooMany] : []),
    ...(path.includes('{') ? [unknown] : []),
    ...(body && row?.body ? [badBody(body, row.body), ...ofKind(row.body)] : []),
    ...(row && takesNoBody(row) ? [strayBody, tooLarge, noJson] : []),
    ...(row?.headers ?? []).flatMap(name => ofHeader(name, body !== undefined)),
  ]
}

function isOwned(path: string): boolean {
  return /\{(account_id|zone)\}/.test(path)
}

function join(some: readonly Refusal[]): Refusal {
  if (some.length === 1) return some[0]!
  const descriptions = [...new Set(some.map(({ description }) => description))]
  const faults = some
    .flatMap(({ faults }) => faults)
    .sort((one, other) => apiFaults[one].code - apiFaults[other].code)
  return { ...some[0]!, faults, description: descriptions.join(' ') }
}

function badQuery(query: Members): Refusal {
  const repeated: ApiFaultName[] = Object.keys(query).length > 0 ? ['repeated'] : []
  const invalid: ApiFaultName[] = Object.values(query).some(isNarrow) ? ['invalid'] : []
  return refusals(['unknown', ...repeated, ...invalid], 'A query parameter is invalid.')
}

function isNarrow({ description, type, ...rules }: Schema): boolean {
  return type !== 'string' || Object.keys(rules).length > 0
}

function badBody({ schema }: Body, { type }: BodyKind): Refusal {
  const missing: ApiFaultName[] = schema.required ? ['missing'] : []
  const ofMembers: ApiFaultName[] = type === jsonBody.type ? [...missing, 'unknown', 'repeated'] : []
  return refusals(
    ['unreadable_body', 'invalid', ...ofMembers],
    'The body is invalid; every mistake is listed with its place.',
  )
}

const strayBody = refusals(
  ['unreadable_body', 'invalid', 'unknown', 'repeated'],
  'The body is neither empty nor an empty object.',
)

export const unauthorized = refusal('unauthorized', ['www-authenticate'])
export const forbidden = refusal('forbidden')
const lastingAccess = refusal('outlasts_grant')
const tooMany = refusal('too_many_changes', ['retry-after'])
const unknown = refusal('no_such')

function ofKind(kind: BodyKind): readonly Refusal[] {
  return [
    kind.maxBytes === jsonBody.maxBytes ? tooLarge : largerThan(kind.maxBytes),
    kind.type === jsonBody.type ? noJson : noneOf(kind.type),
  ]
}

function largerThan(maxBytes: number): Refusal {
  return refusals(['too_large'], `The body is larger than ${maxBytes} bytes.`)
}

function noneOf(type: string): Refusal {
  return refusals(['wrong_type'], `The Content-Type is not ${type}.`)
}

const tooLarge = largerThan(jsonBody.maxBytes)
const noJson = noneOf(jsonBody.type)

function ofHeader(name: NonNullable<Row['headers']>[number], hasBody: boolean): readonly Refusal[] {
  switch (name) {
    case 'if-match':
      return ofIfMatch
    case 'if-none-match':
      return ofIfNoneMatch
    case 'idempotency-key':
      return [...ofIdempotencyKey, ...(hasBody ? [otherBody] : [])]
  }
}

const stale = refusal('stale', ['etag'])
const ofIfMatch = [refusals(['invalid'], 'If-Match is not a list of etags.'), stale]
const ofIfNoneMatch = [refusals(['invalid'], 'If-None-Match is not a list of etags.'), stale]
const ofIdempotencyKey = [
  refusals(['invalid'], 'Idempotency-Key is invalid.'),
  refusal('response_unreadable'),
]
const otherBody = refusal('key_used')

export const bug = refusal('internal_error')

const storeFaults = [
  'store_unreachable',
  'store_read_only',
  'store_unconfirmed',
  'store_busy',
  'store_degraded',
] as const

export const storeUnreachable: Refusal = {
  ...refusals(storeFaults, storeFaults.map(fault => apiFaults[fault].when).join(' ')),
  headers: ['retry-after'],
}

/** The refusals that many operations share, by their names among the components of the document. */
export const sharedRefusals: Readonly<Record<string, Refusal>> = {
  Unauthorized: unauthorized,
  Forbidden: forbidden,
  TooManyChanges: tooMany,
  NotFound: unknown,
  BodyTooLarge: tooLarge,
  BodyNotJson: noJson,
  Stale: stale,
  InternalError: bug,
  StoreUnreachable: storeUnreachable,
}

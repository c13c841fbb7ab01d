// How a request may be refused by what its row says of itself: token, path, query, body, store.

import { faultCodes } from '../request/field.ts'
import { type BodyKind, jsonBody } from '../request/input.ts'
import type { Body, Operation, Refusal } from './operation.ts'
import { type Row, takesNoBody } from '../row.ts'
import type { Members, Schema } from './schemas.ts'

/** Lists the refusals of an operation, one for each status. */
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
    ...(hasToken ? [badQuery(query), unauthorized, storeAway, bug] : []),
    ...(row ? [forbidden] : []),
    ...(row && row.method !== 'GET' ? [tooMany] : []),
    ...(path.includes('{') ? [unknown] : []),
    ...(body && row?.body ? [badBody(body, row.body), ...ofKind(row.body)] : []),
    ...(row && takesNoBody(row) ? [strayBody, tooLarge, noJson] : []),
    ...(row?.headers ?? []).flatMap(name => ofHeader(name, body !== undefined)),
  ]
}

/** Takes refusals of one status for one. */
function join(some: readonly Refusal[]): Refusal {
  if (some.length === 1) return some[0]!
  const descriptions = [...new Set(some.map(({ description }) => description))]
  const codes = [...new Set(some.flatMap(({ codes }) => codes))].sort((one, other) => one - other)
  return { ...some[0]!, codes, description: descriptions.join(' ') }
}

function badQuery(query: Members): Refusal {
  const repeated = Object.keys(query).length > 0 ? [faultCodes.repeated] : []
  const invalid = Object.values(query).some(isNarrow) ? [faultCodes.invalid] : []
  const codes = [faultCodes.unknown, ...repeated, ...invalid]
  return { status: 400, codes, description: 'A query parameter is wrong.' }
}

/** Tells whether a parameter can't be just any text. */
function isNarrow({ description, type, ...rules }: Schema): boolean {
  return type !== 'string' || Object.keys(rules).length > 0
}

function badBody({ schema }: Body, { type }: BodyKind): Refusal {
  const missing = schema.required ? [faultCodes.missing] : []
  const ofMembers = type === jsonBody.type ? [...missing, faultCodes.unknown, faultCodes.repeated] : []
  const codes = [6003, faultCodes.invalid, ...ofMembers]
  return { status: 400, codes, description: 'The body is wrong: each mistake is told, with its place.' }
}

const strayBody: Refusal = {
  status: 400,
  codes: [6003, faultCodes.invalid, faultCodes.unknown, faultCodes.repeated],
  description: 'There is a body that is not empty, nor an object of no members.',
}

export const unauthorized: Refusal = {
  status: 401,
  codes: [10000],
  description: 'There is no token, or it is not valid.',
  headers: ['www-authenticate'],
}

export const forbidden: Refusal = {
  status: 403,
  codes: [10000],
  description: 'The token does not allow this on the account, or on that of the zone.',
}

const tooMany: Refusal = {
  status: 429,
  codes: [10429],
  description: 'The token has asked for too many changes: what reads is not counted.',
  headers: ['retry-after'],
}

const unknown: Refusal = { status: 404, codes: [7003], description: 'There is nothing of this name.' }

function ofKind(kind: BodyKind): readonly Refusal[] {
  return [
    kind.most === jsonBody.most ? tooLarge : largerThan(kind.most),
    kind.type === jsonBody.type ? noJson : noneOf(kind.type),
  ]
}

function largerThan(most: number): Refusal {
  return { status: 413, codes: [6005], description: `The body is larger than ${most} bytes.` }
}

function noneOf(type: string): Refusal {
  return { status: 415, codes: [6004], description: `The Content-Type is not ${type}.` }
}

const tooLarge = largerThan(jsonBody.most)
const noJson = noneOf(jsonBody.type)

/** What a header field of the request can bring about. */
function ofHeader(name: NonNullable<Row['headers']>[number], hasBody: boolean): readonly Refusal[] {
  return name === 'if-match' ? ofIfMatch : [...ofIdempotencyKey, ...(hasBody ? [otherBody] : [])]
}

const stale: Refusal = {
  status: 412,
  codes: [10420],
  description: 'What is to be changed has another etag by now.',
  headers: ['etag'],
}

const ofIfMatch: readonly Refusal[] = [
  { status: 400, codes: [faultCodes.invalid], description: 'If-Match is no list of etags.' },
  stale,
]

const ofIdempotencyKey: readonly Refusal[] = [
  { status: 400, codes: [faultCodes.invalid], description: 'Idempotency-Key is no key.' },
  { status: 409, codes: [10421], description: 'It was done before, and its answer can no longer be read.' },
]

const otherBody: Refusal = {
  status: 422,
  codes: [10422],
  description: 'The Idempotency-Key came with another body before.',
}

/** What none of the handlers has foreseen. */
export const bug: Refusal = {
  status: 500,
  codes: [10500],
  description: 'The gateway made a mistake, and has written it to its log.',
}

export const storeAway: Refusal = {
  status: 503,
  codes: [10503],
  description:
    'The store is away: look first whether a change was made, then ask again. Or it is busy: nothing was changed.',
  headers: ['retry-after'],
}

/** The refusals that many operations share, by the names that they have among the components of the document. */
export const sharedRefusals: Readonly<Record<string, Refusal>> = {
  Unauthorized: unauthorized,
  Forbidden: forbidden,
  TooManyChanges: tooMany,
  NotFound: unknown,
  BodyTooLarge: tooLarge,
  BodyNotJson: noJson,
  Stale: stale,
  InternalError: bug,
  StoreAway: storeAway,
}

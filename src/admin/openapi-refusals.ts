// How a request may be refused by what its row says of itself: token, path, query, body, store. openapi.ts adds what operations.ts says of it.

import { faultCodes } from './field.ts'
import type { ApiRow } from './guard.ts'
import { largestBody } from './input.ts'
import type { Operation, Refusal } from './operation.ts'

/** Lists the refusals of an operation, one for each status. */
export function refusalsOf(operation: Operation, row: ApiRow | null, path: string): readonly Refusal[] {
  const all = [...givenBy(operation, row, path), ...(operation.refusals ?? [])]
  return [...Map.groupBy(all, ({ status }) => status).values()]
    .map(join)
    .sort((one, other) => one.status - other.status)
}

function givenBy(operation: Operation, row: ApiRow | null, path: string): readonly Refusal[] {
  const hasToken = row !== null || operation.hasToken === true
  return [
    ...(hasToken ? [badQuery(operation), unauthorized, storeAway] : []),
    ...(row ? [forbidden] : []),
    ...(path.includes('{') ? [unknown] : []),
    ...(operation.body ? [badBody, tooLarge, noJson] : []),
    ...(row?.headers ?? []).flatMap(name => ofHeader[name]),
    bug,
  ]
}

/** Takes refusals of one status for one. */
function join(some: readonly Refusal[]): Refusal {
  const descriptions = [...new Set(some.map(({ description }) => description))]
  const codes = [...new Set(some.flatMap(({ codes }) => codes))].sort((one, other) => one - other)
  return { ...some[0]!, codes, description: descriptions.join(' ') }
}

function badQuery({ query }: Operation): Refusal {
  const codes = [faultCodes.unknown, faultCodes.repeated, ...(query ? [faultCodes.invalid] : [])]
  return { status: 400, codes, description: 'A query parameter is wrong.' }
}

const badBody: Refusal = {
  status: 400,
  codes: [6003, ...Object.values(faultCodes)],
  description: 'The body is wrong: each mistake is told, with its place.',
}

const unauthorized: Refusal = {
  status: 401,
  codes: [10000],
  description: 'There is no token, or it is not valid.',
  headers: ['www-authenticate'],
}

const forbidden: Refusal = {
  status: 403,
  codes: [10000],
  description: 'The token does not allow this on the account.',
}

const unknown: Refusal = { status: 404, codes: [7003], description: 'There is nothing of this name.' }

const tooLarge: Refusal = {
  status: 413,
  codes: [6005],
  description: `The body is larger than ${largestBody} bytes.`,
}

const noJson: Refusal = {
  status: 415,
  codes: [6004],
  description: 'The Content-Type is not application/json.',
}

/** What a header field of the request can bring about. */
const ofHeader: Readonly<Record<NonNullable<ApiRow['headers']>[number], readonly Refusal[]>> = {
  'if-match': [
    { status: 400, codes: [faultCodes.invalid], description: 'If-Match is not a list of etags.' },
    {
      status: 412,
      codes: [10420],
      description: 'The OAuth client has another etag by now.',
      headers: ['etag'],
    },
  ],
  'idempotency-key': [
    { status: 400, codes: [faultCodes.invalid], description: 'Idempotency-Key is not a key.' },
    { status: 409, codes: [10409], description: 'What was answered before can no longer be read.' },
    { status: 422, codes: [10422], description: 'The Idempotency-Key was used for another body.' },
  ],
}

const bug: Refusal = { status: 500, codes: [10500], description: 'A mistake of the gateway.' }

const storeAway: Refusal = {
  status: 503,
  codes: [10503],
  description: 'The store is away: look first whether a change was made, then ask again.',
  headers: ['retry-after'],
}

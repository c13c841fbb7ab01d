// A row of the management API.

import type { Permission } from '../tokens/permit.ts'
import type { Answer } from './envelope.ts'
import type { Api, Call, ZoneCall } from './guard.ts'
import type { BodyKind } from './request/input.ts'
import type { Method } from './router.ts'

/** What a row of the management API says of itself. */
export interface Row {
  readonly method: Method
  readonly path: string
  /** What the caller's token must allow on the account; null where being a token of the account is enough. */
  readonly permission: Permission | null
  /** The query parameters that are known; null where the handler knows them itself, none when left out. */
  readonly query?: readonly string[] | null
  /** What must come as the body; none when left out. */
  readonly body?: BodyKind
  /** The request header fields that it obeys beside those of every row, for the document. */
  readonly headers?: readonly ('if-match' | 'idempotency-key')[]
}

/** A row of an account, which its path names. */
export interface ApiRow extends Row {
  readonly handle: (call: Call, api: Api) => Promise<Answer>
}

/** A row of a zone, which its path names. */
export interface ZoneRow extends Row {
  readonly permission: Permission
  readonly handle: (call: ZoneCall, api: Api) => Promise<Answer>
}

/** Tells whether a row is of a method that has a body as a rule, and takes none. */
export function takesNoBody({ method, body }: Pick<Row, 'method' | 'body'>): boolean {
  return body === undefined && (method === 'POST' || method === 'PUT')
}

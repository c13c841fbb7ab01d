// Whoever asks the management API is checked here, once for every row of it: token, permission, account; then query and body. routes.ts wraps its rows with it.
// While the store is away, whatever has to ask it is answered with 503, for callers that are remembered too.

import { type Clock, systemClock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import { type Fault, refuse, retryAfterOf } from '../errors/refusal.ts'
import type { Token } from '../store/records.ts'
import { type Store, StoreAway } from '../store/store.ts'
import type { SecretKeys } from '../clients/secret-keys.ts'
import { bearerOf } from '../tokens/bearer.ts'
import { type Permission, permits } from '../tokens/permit.ts'
import type { TokenVerifier } from '../tokens/verify.ts'
import { type Answer, failure, notFound } from './envelope.ts'
import { Field } from './field.ts'
import { parseBody } from './input.ts'
import { strayParameters } from './query.ts'
import type { Asker, Method, Question, Route } from './router.ts'

/** What the management API works on. */
export interface Api {
  readonly store: Store
  readonly verifier: TokenVerifier
  /** The server keys under which client secrets are kept. */
  readonly secrets: SecretKeys
  /** Hears of every change. */
  readonly log: Logger
  readonly clock?: Clock
}

/** A row of the management API; its path begins below the account. */
export interface ApiRow {
  readonly method: Method
  readonly path: string
  /** What the caller's token must allow on the account; null where being a token of the account is enough. */
  readonly permission: Permission | null
  /** The query parameters that are known; null where the handler knows them itself, none when left out. */
  readonly query?: readonly string[] | null
  /** Whether there must be a JSON body. */
  readonly hasBody?: boolean
  /** The request header fields that it obeys beside those of every row, for the document. */
  readonly headers?: readonly ('if-match' | 'idempotency-key')[]
  readonly handle: (call: Call, api: Api) => Promise<Answer>
}

/** A request whose caller may ask it. */
export interface Call {
  readonly account: string
  /** The token that asks. */
  readonly caller: Token
  readonly params: Question['params']
  readonly query: URLSearchParams
  /** The body, parsed; null where the row has none. */
  readonly body: unknown
  /** The body as it was sent. */
  readonly bytes: Buffer | null
  /** When it is asked, in ms since the epoch. */
  readonly now: number
  /** The caller's address, and the ray id of the request. */
  readonly address: string
  readonly ray: string
  readonly ifMatch: string | null
  readonly idempotencyKey: string | null
}

type Facts = { readonly api?: () => Api | null }

/** Puts the guard in front of a row. */
export function guarded(row: ApiRow): Route<Facts> {
  return {
    method: row.method,
    path: `/client/v4/accounts/{account_id}${row.path}`,
    handle: (question, facts) => withApi(facts, api => admit(row, question, api)),
  }
}

/** Makes a row outside of any account, which whoever has a valid token may ask. */
export function guardedForAll(path: string, handle: () => Answer): Route<Facts> {
  return {
    method: 'GET',
    path: `/client/v4${path}`,
    handle: ({ query, asker }, facts) =>
      withApi(facts, async api => {
        const caller = await callerOf(asker, api)
        if ('body' in caller) return caller
        const strays = strayParameters(query, [])
        return strays.length > 0 ? failure(400, strays) : handle()
      }),
  }
}

function withApi(facts: Facts, ask: (api: Api) => Promise<Answer>): Answer | Promise<Answer> {
  const api = facts.api?.() ?? null
  return api === null ? storeAway : ask(api).catch(answerAway)
}

function answerAway(error: unknown): Answer {
  if (error instanceof StoreAway) return storeAway
  throw error
}

async function callerOf(
  { authorization, address, shown }: Asker,
  { verifier }: Api,
): Promise<Token | Answer> {
  const caller = await verifier.verify(bearerOf(authorization), address, shown)
  if (typeof caller === 'string') return caller === 'store_away' ? storeAway : unauthorized
  return caller
}

async function admit(row: ApiRow, { params, query, asker }: Question, api: Api): Promise<Answer> {
  const caller = await callerOf(asker, api)
  if ('body' in caller) return caller
  const account = params.account_id!
  if (!mayAsk(caller, row.permission, account)) return forbidden(row.permission)
  if (caller.account !== account && !(await exists(account, api.store)))
    return notFound('There is no such account')
  const strays = row.query === null ? [] : strayParameters(query, row.query ?? [])
  if (strays.length > 0) return failure(400, strays)
  const body = await (row.hasBody ? bodyOf(asker) : takesNoBody(row) ? expectNoBody(asker) : noBody)
  if ('status' in body) return body
  const now = (api.clock ?? systemClock).now()
  const { json, bytes } = body
  const { address, ray, ifMatch, idempotencyKey } = asker
  const whence = { account, caller, now, address, ray, ifMatch, idempotencyKey }
  return row.handle({ ...whence, params, query, body: json, bytes }, api)
}

/** Tells whether a row is of a method that has a body as a rule, and takes none. */
export function takesNoBody({ method, hasBody = false }: Pick<ApiRow, 'method' | 'hasBody'>): boolean {
  return !hasBody && (method === 'POST' || method === 'PUT')
}

function mayAsk(caller: Token, permission: Permission | null, account: string): boolean {
  return permission === null ? caller.account === account : permits(caller, permission, account)
}

async function exists(account: string, { accounts }: Store): Promise<boolean> {
  return accountId.test(account) && (await accounts.get(account)) !== null
}

async function bodyOf({ readBody, contentType }: Asker) {
  const bytes = await readBody()
  const parsed = parseBody(bytes, contentType)
  return 'status' in parsed ? parsed : { ...parsed, bytes }
}

const noBody = { json: null, bytes: null }

/** Takes nothing, or an object of no members, as clients send that always send one; whatever else would be ignored is refused. */
async function expectNoBody(asker: Asker): Promise<Answer | typeof noBody> {
  const bytes = await asker.readBody()
  if (bytes?.length === 0) return noBody
  const parsed = parseBody(bytes, asker.contentType)
  if ('status' in parsed) return parsed
  const faults: Fault[] = []
  new Field(parsed.json, faults).members([])
  return faults.length > 0 ? failure(400, faults) : noBody
}

const accountId = /^[0-9a-f]{32}$/

const unauthorized = failure(401, [{ code: 10000, message: 'Authentication error' }], {
  'www-authenticate': 'Bearer',
})

const storeAway = failure(
  503,
  [{ code: 10503, message: 'The store is away: ask again later, and look first whether a change was made' }],
  {
    'retry-after': String(retryAfterOf(refuse('service_unavailable'))),
  },
)

function forbidden(permission: Permission | null): Answer {
  const need =
    permission === null ? 'a token of this account' : `the permission ${permission} on this account`
  return failure(403, [{ code: 10000, message: `Forbidden: this needs ${need}` }])
}

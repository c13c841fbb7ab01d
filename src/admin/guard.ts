// Every request to the management API is checked here, once for every row of it: token, permission, account or zone; then query and body. While the store is
// away, whatever has to ask it is answered with 503, for callers that are remembered too.

import { isId } from '../base/id.ts'
import { systemClock } from '../base/clock.ts'
import type { ZoneConfig } from '../config/config.ts'
import { refuse, retryAfterOf } from '../errors/refusal.ts'
import type { Token } from '../store/records.ts'
import { type Store, StoreUnreachable, StoreBusy } from '../store/store.ts'
import { bearerOf } from '../tokens/bearer.ts'
import { type Permission, permits, reaches } from '../permissions/permit.ts'
import { type Answer, failure, failures, withHeaders } from './envelope.ts'
import { noInput, readInput } from './request/input.ts'
import { strayParameters } from './request/query.ts'
import type { Asker, Question, Route } from './router.ts'
import {
  type Api,
  type ApiRow,
  type Call,
  type PlainRow,
  type Row,
  takesNoBody,
  type UserRow,
  type ZoneRow,
} from './row.ts'
import { addressOf } from './sender.ts'
import { missingScope, missingToken, missingUserScope } from './protected-resource.ts'

type Facts = { readonly api?: () => Api | null }

/** Puts the guard in front of a row. */
export function guarded(row: ApiRow): Route<Facts> {
  const { method, path } = row
  return {
    method,
    path,
    handle: (question, facts) => withApi(facts, api => admit(row, question, api)),
  }
}

/** Puts the guard in front of a row of a zone. */
export function guardedInZone(row: ZoneRow): Route<Facts> {
  const { method, path } = row
  return {
    method,
    path,
    handle: (question, facts) => withApi(facts, api => admitToZone(row, question, api)),
  }
}

/** Puts the guard in front of a row outside of accounts. */
export function guardedForAll(row: PlainRow): Route<Facts> {
  const { method, path } = row
  return {
    method,
    path,
    handle: (question, facts) => withApi(facts, api => admitAnyone(row, question, api)),
  }
}

/** Puts the guard in front of a row about the user for whom a token acts. */
export function guardedForUser(row: UserRow): Route<Facts> {
  const { method, path } = row
  return {
    method,
    path,
    handle: (question, facts) => withApi(facts, api => admitUser(row, question, api)),
  }
}

/** Makes a row about the gateway as a whole, for tokens of any account with the permission; nobody needs one where `isOpen`. */
export function guardedUnless<F extends Facts>(
  isOpen: (asker: Asker, facts: F) => boolean,
  { path, permission }: { readonly path: string; readonly permission: Permission },
  handle: (facts: F) => Promise<Answer>,
): Route<F> {
  const row = { method: 'GET', path, permission } as const
  return {
    ...row,
    handle: ({ asker }, facts) => {
      if (isOpen(asker, facts)) return handle(facts)
      return withApi(facts, async api => {
        const caller = await callerOf(row, asker, api)
        if ('body' in caller) return caller
        if (permits(caller, permission, caller.account)) return handle(facts)
        api.refusals?.note('forbidden', row, asker, caller)
        return forbidden(permission, caller, asker, api)
      })
    },
  }
}

function withApi(facts: Facts, ask: (api: Api) => Promise<Answer>): Answer | Promise<Answer> {
  const api = facts.api?.() ?? null
  return api === null ? storeUnreachable : ask(api).catch(answerUnreachable)
}

function answerUnreachable(error: unknown): Answer {
  if (error instanceof StoreBusy) return storeBusy
  if (error instanceof StoreUnreachable) return storeUnreachable
  throw error
}

/** Finds the token that asks, which counts what it wants to change whether it may or not. */
async function callerOf(
  row: Pick<Row, 'method' | 'path' | 'permission' | 'scope'>,
  asker: Asker,
  { verifier, writes, refusals, issuer = null }: Api,
): Promise<Token | Answer> {
  const { authorization, address, shown } = asker
  const caller = await verifier.verify(bearerOf(authorization), address, 'management', shown)
  if (caller === 'store_away') return storeUnreachable
  if (typeof caller === 'string') {
    refusals?.note(caller, row, asker)
    const challenge = missingToken(asker, issuer, row, caller !== 'missing')
    return withHeaders(unauthorized, { 'www-authenticate': challenge })
  }
  const wait = row.method === 'GET' ? null : ((await writes?.spend(caller)) ?? null)
  if (wait === null) return caller
  refusals?.note('too_many', row, asker, caller)
  return tooMany(wait)
}

async function admit(row: ApiRow, question: Question, api: Api): Promise<Answer> {
  const { asker } = question
  const caller = await callerOf(row, asker, api)
  if ('body' in caller) return caller
  const account = question.params.account_id!
  if (!mayAsk(caller, row.permission, account)) {
    api.refusals?.note('forbidden', row, asker, caller)
    return forbidden(row.permission, caller, asker, api)
  }
  if (caller.account !== account && !(await exists(account, api.store))) return failure('no_such', 'Account')
  const call = await callOf(row, question, { account, caller }, api)
  if ('status' in call) return call
  const answer = await row.handle(call, api)
  if (answer.status === 403) api.refusals?.note('beyond_token', row, asker, caller)
  return settled(row, answer, api)
}

async function admitAnyone(row: PlainRow, question: Question, api: Api): Promise<Answer> {
  const caller = await callerOf(row, question.asker, api)
  if ('body' in caller) return caller
  const call = await callOf(row, question, { account: caller.account, caller }, api)
  return 'status' in call ? call : settled(row, await row.handle(call, api), api)
}

async function admitUser(row: UserRow, question: Question, api: Api): Promise<Answer> {
  const { asker } = question
  const caller = await callerOf(row, asker, api)
  if ('body' in caller) return caller
  const { account, actor } = caller
  if (actor === undefined || !hasScope(actor.scopes, row.scope)) {
    api.refusals?.note('forbidden', row, asker, caller)
    const answer = failure('no_user', row.scope)
    const challenge = missingUserScope(asker, api.issuer ?? null, row.scope, caller)
    return challenge === null ? answer : withHeaders(answer, { 'www-authenticate': challenge })
  }
  const call = await callOf(row, question, { account, caller }, api)
  return 'status' in call ? call : settled(row, await row.handle({ ...call, actor }, api), api)
}

/** Whether scopes have one, or that of writing for one that reads. */
function hasScope(scopes: readonly string[], wanted: string): boolean {
  return scopes.includes(wanted) || scopes.includes(wanted.replace(/\.read$/, '.write'))
}

/** Answers for the zone of somebody else as for one that there is not, so that nobody can ask which there are. */
async function admitToZone(row: ZoneRow, question: Question, api: Api): Promise<Answer> {
  const { asker } = question
  const caller = await callerOf(row, asker, api)
  if ('body' in caller) return caller
  const zone = api.zones.find(question.params.zone!)
  const account = await ownerOf(zone, api.store)
  if (zone === null || account === null || !permits(caller, row.permission, account)) {
    if (permits(caller, row.permission, caller.account)) return noZone
    api.refusals?.note('forbidden', row, asker, caller)
    return forbidden(row.permission, caller, asker, api)
  }
  const call = await callOf(row, question, { account, caller }, api)
  return 'status' in call ? call : settled(row, await row.handle({ ...call, zone }, api), api)
}

async function callOf(
  row: Row,
  { params, query, asker }: Question,
  who: Pick<Call, 'account' | 'caller'>,
  { clock = systemClock }: Api,
): Promise<Call | Answer> {
  const strays = row.query === null ? [] : strayParameters(query, row.query ?? [])
  if (strays.length > 0) return failures(strays)
  const { contentType, readBody, ray, ifMatch, idempotencyKey } = asker
  const { body: kind = null } = row
  const input = kind || takesNoBody(row) ? await readInput(kind, contentType, readBody) : noInput
  if ('status' in input) return input
  const { value: body, bytes } = input
  return {
    ...who,
    now: clock.now(),
    address: addressOf(asker),
    ray,
    ifMatch,
    idempotencyKey,
    params,
    query,
    body,
    bytes,
  }
}

/** Has what stands in the way of a write confirmed before it is told: it may be there, or gone, by a write that was answered with 503 and can still be lost. */
async function settled({ method }: Row, answer: Answer, { store }: Api): Promise<Answer> {
  const { status } = answer
  if (status === 409 || status === 412 || (status === 404 && method === 'DELETE')) await store.confirm()
  return answer
}

function mayAsk(caller: Token, permission: Permission | null, account: string): boolean {
  return permission === null ? reaches(caller, account) : permits(caller, permission, account)
}

async function exists(account: string, { accounts }: Store): Promise<boolean> {
  return isId(account) && (await accounts.get(account)) !== null
}

/** Returns the account whose tokens may change a zone: the oldest, unless the configuration says another. */
async function ownerOf(zone: ZoneConfig | null, { accounts }: Store): Promise<string | null> {
  return zone?.account ?? (await accounts.list())[0]?.id ?? null
}

const unauthorized = failure('unauthorized')
const storeUnreachable = unavailable('store_away')
const storeBusy = unavailable('store_busy')
const noZone = failure('no_zone')

function unavailable(fault: 'store_away' | 'store_busy'): Answer {
  const retryAfter = String(retryAfterOf(refuse('service_unavailable')))
  return withHeaders(failure(fault), { 'retry-after': retryAfter })
}

function tooMany(seconds: number): Answer {
  return withHeaders(failure('too_many_changes'), { 'retry-after': String(seconds) })
}

function forbidden(
  permission: Permission | null,
  caller: Token,
  asker: Asker,
  { issuer = null }: Api,
): Answer {
  if (permission === null) return failure('forbidden', 'a token that may access this account')
  const answer = failure('forbidden', `the permission ${permission} on this account`)
  const challenge = missingScope(asker, issuer, permission, caller)
  return challenge === null ? answer : withHeaders(answer, { 'www-authenticate': challenge })
}

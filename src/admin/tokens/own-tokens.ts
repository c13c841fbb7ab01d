// Handlers of people's own tokens: to run models in one account, as a member of it.

import { isId } from '../../base/ids/id.ts'
import { mapInTurns } from '../../base/turns/map-in-turns.ts'
import { apiFaults, faultAt } from '../../errors/catalogue/api-faults.ts'
import type { Fault } from '../../errors/catalogue/refusal.ts'
import { runGroup } from '../../oauth/grants/personal-tokens.ts'
import { auditOf, tokenResource } from '../../store/records/audit-entry.ts'
import type { Member } from '../../store/records/people.ts'
import type { Token } from '../../store/records/records.ts'
import { newToken } from '../../tokens/new-token.ts'
import { type ApiResponse, failure, failures, success } from '../http/envelope.ts'
import { membersSet } from '../records/audit.ts'
import { add, drop, pageOfAll } from '../records/record-handlers.ts'
import { once } from '../api/idempotency.ts'
import { Parameters } from '../http/query.ts'
import type { Api, Call, UserCall } from '../api/api-types.ts'
import { readNewToken, resourcePrefix, type TokenBody } from './body.ts'
import { reachBeyond } from './reach.ts'
import { viewToken } from './view.ts'

/** Of a person in one account. */
const maxTokens = 50

export async function createOwnToken(call: UserCall, api: Api): Promise<ApiResponse> {
  const { actor, body, caller, now } = call
  const account = accountIn(body)
  const read = readNewToken(body, account, now)
  if (!('name' in read)) return failures(read)
  const more = moreThanRun(read)
  if (more.length > 0) return failures(more)
  const excess = reachBeyond(read, caller)
  if (excess.length > 0) return failures(excess, apiFaults.beyond_token.status)
  const origin = { ...call, account }
  return once(origin, api, ['POST', 'user', 'tokens'], async keep => {
    const member = await api.store.members.find(account, actor.user)
    if (member?.record.status !== 'accepted') return failure('no_such', 'Membership')
    const tokens = await tokensOf(member.record, api.store)
    if (tokens.length >= maxTokens) return failure('too_many_own_tokens', maxTokens)
    const { user, email, isEmailVerified } = actor
    const verified = isEmailVerified === true && { isEmailVerified }
    const person = { user, email, ...verified, member: member.record.id }
    const { token, value } = newToken(account, read, now, await api.tags.mint('svct_'), person)
    const response = success({ ...viewToken(token, now), value })
    const audit = auditOf(origin, 'create', tokenResource(token), membersSet(body))
    return (await add(api.store.tokens, token, { audit, ...keep(response) }, api.log)) ? response : null
  })
}

export async function listOwnTokens({ actor, query, now }: UserCall, { store }: Api): Promise<ApiResponse> {
  const parameters = new Parameters(query)
  const page = parameters.page()
  if (parameters.faults.length > 0) return failures(parameters.faults)
  const account = query.get('account_id')
  const members = (await store.members.ofUser(actor.user)).filter(
    member => member.status === 'accepted' && (account === null || member.account === account),
  )
  const rows: { readonly token: Token; readonly lastUsed: number | undefined }[] = []
  for (const member of members) {
    const tokens = await tokensOf(member, store)
    const uses = await store.tokens.lastUses(
      member.account,
      tokens.map(({ id }) => id),
    )
    for (const token of tokens) rows.push({ token, lastUsed: uses.get(token.id) })
  }
  rows.sort((a, b) => b.token.issuedOn - a.token.issuedOn)
  return pageOfAll(rows, page, ({ token, lastUsed }) => viewToken(token, now, lastUsed))
}

export async function deleteOwnToken(call: UserCall, { store, log }: Api): Promise<ApiResponse> {
  const token = await findOwnToken(call, store)
  if (token === null) return noToken
  const { account, id } = token
  const audit = auditOf({ ...call, account }, 'delete', tokenResource(token))
  return (await drop(store.tokens, audit, log)) ? success({ id }) : noToken
}

/** Returns the token of the path if the user has made it for themselves, in any account. */
export async function findOwnToken(
  { params, actor }: UserCall,
  { members, tokens }: Api['store'],
): Promise<Token | null> {
  const id = params.token_id!
  for (const { account } of isId(id) ? await members.ofUser(actor.user) : []) {
    const current = await tokens.get(account, id)
    if (current?.record.person?.user === actor.user) return current.record
  }
  return null
}

/** Deletes the own tokens of a former member. They give no access by then. */
export async function endTokensOf(member: Member, call: Call, { store, log }: Api): Promise<void> {
  const { account } = member
  await mapInTurns(await tokensOf(member, store), token =>
    drop(store.tokens, auditOf({ ...call, account }, 'delete', tokenResource(token)), log),
  )
}

const noToken = failure('no_such', 'Token')

async function tokensOf(
  { account, id, user }: Pick<Member, 'account' | 'id' | 'user'>,
  { tokens }: Api['store'],
): Promise<readonly Token[]> {
  const matches: Token[] = []
  for await (const some of tokens.walk(account))
    matches.push(...some.filter(({ person }) => person?.user === user && person.member === id))
  return matches
}

/** An invalid id if there is none, which is refused with the rest of the body. */
function accountIn(body: unknown): string {
  const { policies } = (body ?? {}) as { readonly policies?: unknown }
  const [policy] = Array.isArray(policies) ? policies : []
  const { resources } = (policy ?? {}) as { readonly resources?: unknown }
  const [name = ''] = Object.keys((resources ?? {}) as object)
  const account = name.startsWith(resourcePrefix) ? name.slice(resourcePrefix.length) : ''
  return isId(account) ? account : 'ACCOUNT'
}

function moreThanRun({ policies }: TokenBody): readonly Fault[] {
  return policies.flatMap(({ effect, permissionGroups }, i) =>
    effect === 'allow' && permissionGroups.every(group => group === runGroup)
      ? []
      : faultAt(`/policies/${i}`, 'invalid', `policies[${i}]`, 'must allow AI Gateway Run, and nothing else'),
  )
}

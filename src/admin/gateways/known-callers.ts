// The calls and callers that the store knows of, by which the partitions of budgets are found again: the keys
// of their buckets have only digests of the values.

import { type CallFacts, type Caller, callerOf, nobody } from '../../budgets/buckets.ts'
import { personal } from '../../store/records/audit-entry.ts'
import type { Gateway, LogSummary } from '../../store/records/records.ts'
import type { Store } from '../../store/contract/store.ts'
import type { KnownCall, KnownCalls } from '../spend-limits/budgets.ts'

/** How many of the latest log entries, tokens and consents are looked at. */
const maxKnown = 2_000

/** Reads the latest calls of a gateway, and all who may call it, with their names. */
export async function knownCalls(
  { account, id }: Gateway,
  { logs, tokens, oauthGrants }: Pick<Store, 'logs' | 'tokens' | 'oauthGrants'>,
): Promise<KnownCalls> {
  const names = new Map<string, string>()
  const calls: KnownCall[] = [{ call: unknownCall, caller: nobody }]
  for await (const token of firstOf(tokens.walk(account))) {
    names.set(token.id, token.name)
    if (token.person !== undefined) names.set(token.person.user, token.person.email)
    calls.push({ call: unknownCall, caller: callerOf(token) })
  }
  for await (const { id, client, user } of firstOf(oauthGrants.walk(account)))
    calls.push({ call: unknownCall, caller: { token: id, app: client, user, email: null } })
  const query = { filters: [], descending: true, limit: maxKnown, maxScanned: maxKnown }
  const { items } = await logs.scan(account, id, query)
  for (const entry of items) {
    calls.push({ call: entry, caller: callerIn(entry) })
    if (entry.tokenId !== null && entry.tokenName !== null) names.set(entry.tokenId, entry.tokenName)
    if (entry.app === undefined) continue
    names.set(entry.app.user, entry.app.email)
    if (entry.app.client !== personal.client) names.set(entry.app.client, entry.app.clientName)
  }
  return { calls, names }
}

const unknownCall: CallFacts = { provider: '', model: null, metadata: null }

function callerIn({ tokenId, app }: LogSummary): Caller {
  const isApp = app !== undefined && app.client !== personal.client
  return {
    token: tokenId,
    app: isApp ? app.client : null,
    user: app?.user ?? null,
    email: app?.email.toLowerCase() ?? null,
  }
}

async function* firstOf<T>(pages: AsyncIterable<readonly T[]>): AsyncIterable<T> {
  let count = 0
  for await (const page of pages)
    for (const item of page) {
      if (count++ === maxKnown) return
      yield item
    }
}

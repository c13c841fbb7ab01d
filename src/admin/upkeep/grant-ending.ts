// Ends OAuth grants of users, with entries for the accounts.

import { mapInTurns } from '../../base/turns/map-in-turns.ts'
import type { Logger } from '../../log/log.ts'
import { auditOf, keeper, type Resource } from '../../store/records/audit-entry.ts'
import type { OAuthClient } from '../../store/records/oauth-client.ts'
import type { OAuthGrant } from '../../store/records/oauth-grant.ts'
import type { Member } from '../../store/records/people.ts'
import type { Store } from '../../store/contract/store.ts'
import { removeGrant } from '../../oauth/grants/end-grant.ts'
import { grantsOfUser } from '../../oauth/grants/iterate-grants.ts'
import { tellAudit } from '../records/audit.ts'
import { revise } from '../records/record-handlers.ts'

export interface Ender {
  readonly account: string
  readonly caller: { readonly id: string }
  readonly now: number
  readonly address: string
  readonly ray: string
}

export interface EndingTools {
  readonly store: Store
  readonly log: Logger
}

/** False if it had ended already. The account of the consent and that of the actor get entries. */
export async function endGrant(
  grant: OAuthGrant,
  ender: Ender,
  { store, log }: EndingTools,
): Promise<boolean> {
  const audit = auditOf(originIn(grant, ender), 'revoke', resourceOf(grant))
  if (!(await removeGrant(grant, audit, store))) return false
  tellAudit(log, audit)
  if (ender.account !== grant.account) await store.audit.append(auditOf(ender, 'revoke', resourceOf(grant)))
  return true
}

/** For the account, and to its private clients. */
export async function endGrantsOf(
  { account, user }: Pick<Member, 'account' | 'user'>,
  ender: Ender,
  tools: EndingTools,
): Promise<void> {
  const { oauthClients } = tools.store
  const rests = async (grant: OAuthGrant) => {
    if (grant.account === account) return true
    if (grant.clientAccount !== account) return false
    return (await oauthClients.get(account, grant.client))?.record.visibility !== 'public'
  }
  for await (const grants of grantsOfUser(user, tools.store))
    await mapInTurns(grants, async grant => (await rests(grant)) && endGrant(grant, ender, tools))
}

/** Removed scopes stay so if the client gets them again; a grant with none left ends. */
export async function trimGrant(
  grant: OAuthGrant,
  { scopes }: Pick<OAuthClient, 'scopes'>,
  ender: Ender,
  tools: EndingTools,
): Promise<void> {
  const { store, log } = tools
  const left = grant.scopes.filter(scope => scopes.includes(scope))
  if (left.length === grant.scopes.length) return
  if (left.length === 0) return void (await endGrant(grant, ender, tools))
  const origin = originIn(grant, ender)
  await revise(
    store.oauthGrants,
    grant.account,
    grant.id,
    current => ({
      record: {
        ...current,
        scopes: current.scopes.filter(scope => scopes.includes(scope)),
        updatedAt: ender.now,
      },
      audit: auditOf(origin, 'update', resourceOf(grant), ['scopes']),
    }),
    log,
  )
}

function resourceOf({ id }: OAuthGrant): Resource {
  return { resourceKind: 'oauth_grant', resource: id }
}

/** Another account does not learn who acts, nor from where. */
function originIn({ account }: OAuthGrant, ender: Ender): Ender {
  return ender.account === account ? ender : { ...ender, account, caller: keeper, address: '' }
}

// Ends what is left of a membership that groups began or ended: what apps may do, and tokens of the person.

import { auditOf, tokenResource } from '../../store/records/audit-entry.ts'
import type { OAuthGrant } from '../../store/records/oauth-grant.ts'
import type { Member } from '../../store/records/people.ts'
import type { Token } from '../../store/records/records.ts'
import type { Position, Store } from '../../store/contract/store.ts'

const atOnce = 50

/** Also ends what private clients of the account may do for the user elsewhere. */
export async function endGrantsIn(
  { account, user }: Pick<Member, 'account' | 'user'>,
  origin: Parameters<typeof auditOf>[0],
  { oauthGrants, oauthClients, credentials }: Store,
): Promise<void> {
  const rests = async (grant: OAuthGrant) => {
    if (grant.account === account) return true
    if (grant.clientAccount !== account) return false
    return (await oauthClients.get(account, grant.client))?.record.visibility !== 'public'
  }
  for (let after: Position | null = null; ; ) {
    const { items } = await oauthGrants.ofUser(user, { offset: 0, limit: atOnce, after })
    for (const grant of items) {
      if (!(await rests(grant))) continue
      const resource = { resourceKind: 'oauth_grant', resource: grant.id } as const
      const audit = auditOf({ ...origin, account: grant.account }, 'revoke', resource)
      await oauthGrants.remove(grant.account, grant.id, { audit })
      await credentials.removeOf({ grant: grant.id })
    }
    const last = items.at(-1)
    if (items.length < atOnce || last === undefined) return
    after = { at: last.createdAt, id: last.id }
  }
}

/** Deletes the own tokens of a former member. They open nothing by then. */
export async function endTokensOf(
  { account, id, user }: Pick<Member, 'account' | 'id' | 'user'>,
  origin: Parameters<typeof auditOf>[0],
  { tokens }: Pick<Store, 'tokens'>,
): Promise<void> {
  const own: Token[] = []
  for await (const some of tokens.walk(account))
    own.push(...some.filter(({ person }) => person?.user === user && person.member === id))
  for (const token of own)
    await tokens.remove(account, token.id, { audit: auditOf(origin, 'delete', tokenResource(token)) })
}

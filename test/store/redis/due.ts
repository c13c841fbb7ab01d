// OAuth clients that are due before a server takes over for another, and must be due behind that.
import assert from 'node:assert/strict'
import type { OAuthClient } from '../../../src/store/records/oauth-client.ts'
import type { Store } from '../../../src/store/contract/store.ts'
import type { ContractClock } from '../contract-clock.ts'
import { auditEntry, auditQuery, hex, oauthClient, verification } from '../contract-specimens.ts'

const lease = 60_000

/** Keeps clients, each with what is told of it, and has some of them claimed by somebody who never says more. */
export async function keepDue({ oauthClients }: Store): Promise<readonly OAuthClient[]> {
  const account = hex(16)
  const nextCheckAt = Date.now() - 1_000
  const kept = Array.from({ length: 20 }, () =>
    oauthClient({ account, verification: verification({ nextCheckAt }) }),
  )
  await Promise.all(
    kept.map(one => oauthClients.insert(one, { audit: auditEntry({ account, resource: one.id }) })),
  )
  assert.equal((await oauthClients.claimDue(5, lease)).length, 5)
  return kept
}

/** Asserts that each is given once when the leases are over, and that all is told of them. */
export async function expectDue(store: Store, clock: ContractClock, kept: readonly OAuthClient[]) {
  clock.advance(2 * lease)
  const claims = await Promise.all(
    Array.from({ length: kept.length }, () => store.oauthClients.claimDue(2, lease)),
  )
  const ids = kept.map(({ id }) => id).toSorted()
  assert.deepEqual(
    claims
      .flat()
      .map(({ record }) => record.id)
      .toSorted(),
    ids,
  )
  const { items } = await store.audit.list(kept[0]!.account, auditQuery())
  assert.deepEqual(items.map(({ resource }) => resource).toSorted(), ids)
}

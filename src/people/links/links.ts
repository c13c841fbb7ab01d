// One-time links: an invitation (7 days), and the set-up of the first super administrator (15 minutes).

import { minute } from '../../base/units.ts'
import type { Credential } from '../../store/records/credential.ts'
import type { Member } from '../../store/records/people.ts'
import { newValue } from '../records/secret-value.ts'

const invitationLife = 7 * 24 * 60 * minute
const setUpLife = 15 * minute

type LinkPurpose =
  | {
      readonly purpose: 'invitation'
      readonly account: string
      readonly member: string
      /** Whether it restores a user whose password was removed; an invitation to another account must not. */
      readonly recovers: boolean
    }
  | { readonly purpose: 'set_up'; readonly account: string }

/** A new link, whose value is not stored, and the credential to store. */
export interface NewLink {
  readonly value: string
  readonly credential: Credential
}

export function newInvitation({ account, id: member, user }: Member, now: number, recovers = false): NewLink {
  return newLink({ purpose: 'invitation', account, member, recovers }, user, now, invitationLife)
}

export function newSetUp(account: string, now: number): NewLink {
  return newLink({ purpose: 'set_up', account }, null, now, setUpLife)
}

/** Returns the purpose of a link's credential; null if it was used. */
export function purposeOf({ data, consumedAt }: Credential): LinkPurpose | null {
  return consumedAt === null ? (data as LinkPurpose) : null
}

function newLink(data: LinkPurpose, user: string | null, now: number, life: number): NewLink {
  const { value, digest } = newValue()
  const of = { kind: 'invitation', digest, user, client: null, grant: null } as const
  return {
    value,
    credential: { ...of, data, createdAt: now, expiresAt: now + life, consumedAt: null },
  }
}

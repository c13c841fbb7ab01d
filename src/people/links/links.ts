// One-time links, which somebody hands over: an invitation to an account (7 days), and the set-up of the first super administrator (15 minutes).

import type { Credential } from '../../store/records/credential.ts'
import type { Member } from '../../store/records/people.ts'
import { newValue } from '../records/secret-value.ts'

const minute = 60_000
const invitationLife = 7 * 24 * 60 * minute
const setUpLife = 15 * minute

/** What a link is for, as its credential keeps it. */
type LinkPurpose =
  | {
      readonly purpose: 'invitation'
      readonly account: string
      readonly member: string
      /** Whether it brings back a user whose password was taken away; an invitation to another account must not. */
      readonly recovers: boolean
    }
  | { readonly purpose: 'set_up'; readonly account: string }

/** A link that is new: its value stands nowhere else, and the credential is to be kept. */
export interface NewLink {
  readonly value: string
  readonly credential: Credential
}

/** Makes the link with which a member accepts, or comes back where it `recovers`. */
export function newInvitation({ account, id: member, user }: Member, now: number, recovers = false): NewLink {
  return newLink({ purpose: 'invitation', account, member, recovers }, user, now, invitationLife)
}

/** Makes the link with which somebody becomes a super administrator of an account. */
export function newSetUp(account: string, now: number): NewLink {
  return newLink({ purpose: 'set_up', account }, null, now, setUpLife)
}

/** Returns what the credential of a link is for; null for one that was used. */
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

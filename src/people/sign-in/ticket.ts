// Tickets of people who have proved who they are, and have yet to show a second factor.

import type { Credential } from '../../store/records/credential.ts'
import { everybody, type User } from '../../store/records/people.ts'
import type { Store } from '../../store/contract/store.ts'
import { digestOfValue, isValue, newValue } from '../records/secret-value.ts'
import type { SignInMethod } from '../sessions/sessions.ts'

/** The proof before a second step is asked for. The session dates from it, however late that comes. */
export interface FirstProof {
  readonly method: SignInMethod
  /** Null if the OpenID provider did not say. */
  readonly at: number | null
}

export interface Ticket {
  readonly credential: Credential
  /** Whose it is, as they are now. */
  readonly user: User
  readonly proof: FirstProof
}

const ticketLife = 600_000

export async function issueTicket(
  { credentials }: Store,
  { id, passwordChangedAt }: User,
  { method, at }: FirstProof,
  now: number,
): Promise<string> {
  const { value, digest } = newValue()
  await credentials.put({
    kind: 'sign_in',
    digest,
    user: id,
    client: null,
    grant: null,
    data: { step: 'code', method, at, passwordSetAt: passwordChangedAt },
    createdAt: now,
    expiresAt: now + ticketLife,
    consumedAt: null,
  })
  return value
}

/** Null if it is old, used, or was overtaken by a new password. */
export async function findTicket({ credentials, users }: Store, value: string): Promise<Ticket | null> {
  const credential = isValue(value) ? await credentials.get('sign_in', digestOfValue(value)) : null
  if (credential === null || credential.consumedAt !== null || !isTicket(credential)) return null
  const user = (await users.get(everybody, credential.user!))?.record
  if (user === undefined || isOutlived(credential, user)) return null
  return { credential, user, proof: firstProofOf(credential) }
}

/** Uses a ticket up, for a user as they are after the second step; false if something else came before. */
export async function useTicket(
  { credentials }: Store,
  { credential }: Ticket,
  user: User,
  at: number,
): Promise<boolean> {
  const consumed = await credentials.consume('sign_in', credential.digest, at)
  return consumed?.isFirst === true && !isOutlived(credential, user)
}

function isTicket({ data, user }: Credential): boolean {
  return user !== null && (data as { readonly step?: unknown }).step === 'code'
}

function firstProofOf({ data }: Credential): FirstProof {
  // Tickets of older versions do not say when.
  const { method, at = null } = data as { readonly method: SignInMethod; readonly at?: number | null }
  return { method, at }
}

function isOutlived({ data }: Credential, { passwordChangedAt }: User): boolean {
  return (data as { readonly passwordSetAt: number | null }).passwordSetAt !== passwordChangedAt
}

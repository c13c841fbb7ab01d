// The passkeys in the record of a user: added, used in their order, and removed.

import type { Passkey, Passkeys, User } from '../../store/records/people.ts'
import { guarded, unguarded } from '../passwords/argon2.ts'
import { hasSecondFactor, withNewRecoveryCodes, withoutFactors } from '../second-factor/second-factor.ts'

export const maxPasskeys = 20

/** `replayed`: the challenge, or a newer one, was signed before. `old_counter`: two devices have the key. */
export type PasskeyUse = 'used' | 'gone' | 'replayed' | 'old_counter'

/** Returns those that sign for a host; none without a password, with which an older version leaves them. */
export function passkeysAt({ password, passkeys }: User, host: string): readonly Passkey[] {
  return password === null ? [] : (passkeys?.keys.filter(key => key.host === host) ?? [])
}

/** Drops those that an older version left with a user whose password it removed: they are somebody else's. */
export function withoutLeftPasskeys(user: User): User {
  if (user.password !== null) return user
  const { passkeys, ...others } = user
  return others
}

/** Adds a passkey, with new recovery codes if it is the first second factor; null if it must not be added. */
export function withPasskey(
  user: User,
  passkey: Passkey,
  challengedAt: number,
): { readonly user: User; readonly recoveryCodes: readonly string[] | null } | null {
  const { keys, challengedAt: last } = user.passkeys ?? none
  const isTaken = keys.some(({ id }) => id === passkey.id)
  if (isTaken || keys.length >= maxPasskeys || challengedAt <= last) return null
  const after = withGuard({ ...user, passkeys: { keys: [...keys, passkey], challengedAt } })
  if (hasSecondFactor(user)) return { user: after, recoveryCodes: null }
  return withNewRecoveryCodes({ ...after, factorSetAt: passkey.createdAt })
}

/** Notes that a passkey signed a challenge, or says why that counts for nothing. */
export function withUsedPasskey(
  user: User,
  { id, counter, challengedAt }: Pick<Passkey, 'id' | 'counter'> & Pick<Passkeys, 'challengedAt'>,
  now: number,
): { readonly user: User; readonly use: 'used' } | { readonly use: Exclude<PasskeyUse, 'used'> } {
  const { keys, challengedAt: last } = user.passkeys ?? none
  const passkey = keys.find(key => key.id === id)
  if (passkey === undefined) return { use: 'gone' }
  if (challengedAt <= last) return { use: 'replayed' }
  // Authenticators without a counter always say 0 (WebAuthn, section 6.1.1).
  if ((counter > 0 || passkey.counter > 0) && counter <= passkey.counter) return { use: 'old_counter' }
  const used = { ...passkey, counter, usedAt: now }
  const passkeys = { keys: keys.map(key => (key === passkey ? used : key)), challengedAt }
  return { user: withGuard({ ...user, passkeys }), use: 'used' }
}

/** Null if the user has none with this id. */
export function withoutPasskey(user: User, id: string): User | null {
  const { keys, challengedAt } = user.passkeys ?? none
  const left = keys.filter(key => key.id !== id)
  if (left.length === keys.length) return null
  const passkeys = { keys: left, challengedAt }
  const without = withGuard({ ...user, passkeys })
  return hasSecondFactor(without) ? without : { ...withoutFactors(without), passkeys }
}

/** Guards the password of a user with passkeys against processes that know none. */
export function withGuard(user: User): User {
  const { password, passkeys } = user
  if (password === null) return user
  return { ...user, password: passkeys?.keys.length ? guarded(password) : unguarded(password) }
}

/** Whether it is guarded or not. */
export function isSamePassword({ password: one }: User, { password: other }: User): boolean {
  return one === null || other === null ? one === other : unguarded(one) === unguarded(other)
}

const none: Passkeys = { keys: [], challengedAt: 0 }

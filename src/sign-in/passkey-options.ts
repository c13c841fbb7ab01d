// What browsers ask of authenticators (WebAuthn, sections 5.4 and 5.5), as JSON has it.

import { userHandle } from '../people/passkeys/ceremony-response.ts'
import { type RelyingParty, relyingPartyAt } from '../people/passkeys/relying-party.ts'
import { algorithms } from '../people/passkeys/verify.ts'
import type { PasskeyOptions } from '../pages/parts/passkey-form.ts'
import type { Passkey, User } from '../store/records/people.ts'
import type { Ask } from './ask.ts'

/** Ms that a browser waits for its user. */
const timeout = 300_000

/** Null where browsers offer no passkeys. */
export function partyOf({ origin }: Ask): RelyingParty | null {
  const party = relyingPartyAt(origin)
  return typeof party === 'string' ? null : party
}

/** Asks for any passkey of the host, or for one of those that are given. */
export function requestOptions(
  challenge: string,
  { host }: RelyingParty,
  allowed: readonly Passkey[] = [],
): PasskeyOptions {
  const options = { challenge, rpId: host, timeout, userVerification: 'required' }
  return allowed.length === 0 ? options : { ...options, allowCredentials: allowed.map(descriptorOf) }
}

export function creationOptions(
  challenge: string,
  { host }: RelyingParty,
  { id, email, firstName, lastName }: User,
  excluded: readonly Passkey[],
): PasskeyOptions {
  const displayName = [firstName, lastName].filter(Boolean).join(' ') || email
  return {
    challenge,
    rp: { id: host, name: 'Gatehouse' },
    user: { id: userHandle(id), name: email, displayName },
    pubKeyCredParams: algorithms.map(alg => ({ type: 'public-key', alg })),
    timeout,
    attestation: 'none',
    authenticatorSelection: {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: 'required',
    },
    excludeCredentials: excluded.map(descriptorOf),
  }
}

function descriptorOf({ id, transports }: Passkey) {
  return { type: 'public-key', id, transports }
}

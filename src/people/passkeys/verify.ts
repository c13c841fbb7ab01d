// Checks what authenticators sign (WebAuthn, sections 7.1 and 7.2), in the one place that knows the package.

import type { Passkey } from '../../store/records/people.ts'
import type { Assertion, Attestation } from './ceremony-response.ts'
import type { RelyingParty } from './relying-party.ts'

/** COSE: ES256, EdDSA and RS256, which all authenticators have one of. */
export const algorithms = [-7, -8, -257] as const

/** A new passkey; null for a signature for somebody else, an unverified user or a statement of its make. */
export async function verifyAttestation(
  { id, clientData, challenge, attestationObject }: Attestation,
  { origin, host }: RelyingParty,
): Promise<Pick<Passkey, 'id' | 'publicKey' | 'counter'> | null> {
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const response = { clientDataJSON: clientData, attestationObject }
  const result = await verifyRegistrationResponse({
    response: { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: host,
    supportedAlgorithmIDs: [...algorithms],
  }).catch(() => null)
  const info = result?.registrationInfo
  // Whoever makes an authenticator is nobody's business here: what browsers were not asked for is refused.
  if (info === undefined || info.fmt !== 'none' || info.credential.id !== id) return null
  const publicKey = Buffer.from(info.credential.publicKey).toString('base64url')
  return { id, publicKey, counter: info.credential.counter }
}

/** The signature counter; null if the passkey did not sign this, for this host, with its user verified. */
export async function verifyAssertion(
  { id, clientData, challenge, authenticatorData, signature }: Assertion,
  { publicKey }: Passkey,
  { origin, host }: RelyingParty,
): Promise<number | null> {
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  const response = { clientDataJSON: clientData, authenticatorData, signature }
  const result = await verifyAuthenticationResponse({
    response: { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: host,
    // The caller compares the counters, in the same write as it stores the new one.
    credential: { id, publicKey: Buffer.from(publicKey, 'base64url'), counter: 0 },
  }).catch(() => null)
  return result?.verified === true ? result.authenticationInfo.newCounter : null
}

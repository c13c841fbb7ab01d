// What a browser returns of an authenticator (WebAuthn, section 5.1), read strictly: none of it is trusted.

import { parseObject, isObject } from '../../base/text/json.ts'

interface CeremonyResponse {
  /** The credential id, in base64url like all bytes here. */
  readonly id: string
  readonly clientData: string
  /** What the client data says was signed. */
  readonly challenge: string
}

export interface Attestation extends CeremonyResponse {
  readonly attestationObject: string
  readonly transports: readonly string[]
}

export interface Assertion extends CeremonyResponse {
  readonly authenticatorData: string
  readonly signature: string
  /** The id of the user, if the authenticator says whose passkey it is. */
  readonly user: string | null
}

/** More than the largest of them: an attestation without a statement. */
const maxLength = 16 * 1024
const maxIdLength = 1_364 // 1023 bytes
const maxClientData = 4 * 1024

/** Reads the response to `navigator.credentials.create`; null if it is not one. */
export function readAttestation(text: string): Attestation | null {
  const read = readResponse(text, 'webauthn.create')
  if (read === null) return null
  const { attestationObject, transports = [] } = read.response
  if (!isBase64url(attestationObject, maxLength) || !Array.isArray(transports)) return null
  return { ...read.common, attestationObject, transports: transports.filter(isTransport).slice(0, 8) }
}

/** Reads the response to `navigator.credentials.get`; null if it is not one. */
export function readAssertion(text: string): Assertion | null {
  const read = readResponse(text, 'webauthn.get')
  if (read === null) return null
  const { authenticatorData, signature, userHandle = null } = read.response
  if (!isBase64url(authenticatorData, maxLength) || !isBase64url(signature, maxLength)) return null
  const user = userHandle === null ? null : userOfHandle(userHandle)
  if (userHandle !== null && user === null) return null
  return { ...read.common, authenticatorData, signature, user }
}

/** Returns the user handle (WebAuthn, section 5.4.3) for the id of a user: opaque, and always the same. */
export function userHandle(id: string): string {
  return Buffer.from(id, 'hex').toString('base64url')
}

function userOfHandle(handle: unknown): string | null {
  const id = isBase64url(handle, 22) ? Buffer.from(handle, 'base64url').toString('hex') : ''
  return /^[0-9a-f]{32}$/.test(id) ? id : null
}

function readResponse(
  text: string,
  type: 'webauthn.create' | 'webauthn.get',
): { readonly common: CeremonyResponse; readonly response: Record<string, unknown> } | null {
  const { id, rawId, type: kind, response } = (text.length <= maxLength && parseObject(text)) || {}
  if (!isBase64url(id, maxIdLength) || rawId !== id || kind !== 'public-key' || !isObject(response))
    return null
  const { clientDataJSON } = response
  const challenge = isBase64url(clientDataJSON, maxClientData) ? challengeIn(clientDataJSON, type) : null
  if (challenge === null) return null
  return { common: { id, clientData: clientDataJSON as string, challenge }, response }
}

/** Null also for what was signed in a frame of another site. */
function challengeIn(clientData: string, type: string): string | null {
  const said = parseObject(Buffer.from(clientData, 'base64url').toString())
  if (said === null || said.type !== type || said.crossOrigin === true || said.topOrigin !== undefined)
    return null
  return isBase64url(said.challenge, 256) ? said.challenge : null
}

function isBase64url(value: unknown, longest: number): value is string {
  return typeof value === 'string' && value.length <= longest && /^[\w-]+$/.test(value)
}

function isTransport(value: unknown): value is string {
  return typeof value === 'string' && /^[a-z-]{1,16}$/.test(value)
}

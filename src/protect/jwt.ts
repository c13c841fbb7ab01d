// The tokens of one issuer (RFC 7519): signed with a key of its set, from it, for us, and valid now.

import { isObject, parseObject } from '../base/text/json.ts'
import type { CryptoKey, FlattenedJWSInput, JWK, JWSHeaderParameters } from 'jose'
import { memoizeOnce } from '../base/memo.ts'
import type { JwtAlgorithm } from '../config/model/protect-config.ts'
import type { Claims } from './claims.ts'

/** Why a token is not accepted; `unknown_key` may change with another version of the key set. */
export type JwtFault =
  | 'malformed'
  | 'algorithm'
  | 'unknown_key'
  | 'signature'
  | 'other_issuer'
  | 'other_audience'
  | 'expired'
  | 'not_yet_valid'
  | 'claims'

export interface VerifiedJwt {
  readonly claims: Claims
  /** In ms since the epoch. */
  readonly until: number
}

interface JwtRules {
  readonly issuer: string
  readonly audiences: readonly string[]
  readonly algorithms: readonly JwtAlgorithm[]
}

/** Finds the key for a token; made once for a version of the key set. */
export type FindKey = (header?: JWSHeaderParameters, token?: FlattenedJWSInput) => Promise<CryptoKey>

/** Characters; others are refused before anything is computed. */
const maxLength = 16 * 1024
/** Seconds by which clocks may differ. */
const tolerance = 30
const maxKeys = 100
/** Of those that a token may be signed with; more are not tried. */
const maxTried = 8

/** It takes a while to load, and few gateways need it. */
const jose = memoizeOnce(() => import('jose'))

/**
 * Reads a key set (RFC 7517 section 5); null if it is none. Only public keys for signatures are used,
 * whatever else it has.
 */
export async function readKeySet(text: string): Promise<FindKey | null> {
  const keys = keysIn(text)
  if (keys === null) return null
  const { createLocalJWKSet } = await jose()
  return createLocalJWKSet({ keys: keys.filter(isForSignatures).slice(0, maxKeys).map(publicPart) })
}

/** Whether a token may be of an issuer: nothing of it is verified. */
export function mayBeFrom(issuer: string, token: string): boolean {
  if (token.length > maxLength) return false
  const [, payload = ''] = token.split('.', 2)
  return parseObject(Buffer.from(payload, 'base64url').toString())?.iss === issuer
}

/** `now` is in ms since the epoch. Never rejects. */
export async function verifyJwt(
  token: string,
  findKey: FindKey,
  { issuer, audiences, algorithms }: JwtRules,
  now: number,
): Promise<VerifiedJwt | JwtFault> {
  if (token.length > maxLength) return 'malformed'
  const { decodeProtectedHeader, jwtVerify, errors } = await jose()
  const options = {
    issuer,
    audience: [...audiences],
    algorithms: [...algorithms],
    requiredClaims: ['iss', 'aud', 'exp'],
    clockTolerance: tolerance,
    currentDate: new Date(now),
  }
  const verifyWith = async (key: FindKey): Promise<VerifiedJwt | JwtFault> => {
    try {
      const { payload } = await jwtVerify(token, key, options)
      return { claims: payload, until: (payload.exp! + tolerance) * 1000 }
    } catch (error) {
      return error instanceof errors.JWKSMultipleMatchingKeys ? verifyWithEach(error) : faultOf(error, errors)
    }
  }
  /** Issuers need not name keys: a token without `kid` may be signed with any of its kind. */
  const verifyWithEach = async (keys: AsyncIterable<CryptoKey>): Promise<VerifiedJwt | JwtFault> => {
    let tried = 0
    for await (const key of keys) {
      const verdict = await verifyWith(async () => key)
      if (verdict !== 'signature' || ++tried === maxTried) return verdict
    }
    return 'signature'
  }
  const verdict = await verifyWith(findKey)
  // Only another signature tells that an issuer which names no keys has a new one.
  return verdict === 'signature' && decodeProtectedHeader(token).kid === undefined ? 'unknown_key' : verdict
}

function faultOf(error: unknown, errors: typeof import('jose')['errors']): JwtFault {
  if (error instanceof errors.JWTExpired) return 'expired'
  if (error instanceof errors.JWTClaimValidationFailed) return byClaim.get(error.claim) ?? 'claims'
  if (error instanceof errors.JOSEAlgNotAllowed) return 'algorithm'
  if (error instanceof errors.JWKSNoMatchingKey) return 'unknown_key'
  // A key of the set that cannot be used, such as a short one, is no better than a wrong one.
  return error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid ? 'malformed' : 'signature'
}

const byClaim: ReadonlyMap<string, JwtFault> = new Map([
  ['iss', 'other_issuer'],
  ['aud', 'other_audience'],
  ['nbf', 'not_yet_valid'],
])

function keysIn(text: string): readonly Record<string, unknown>[] | null {
  const keys = parseObject(text)?.keys
  return Array.isArray(keys) ? keys.filter(isObject) : null
}

function isForSignatures({ kty, use, key_ops: operations }: Record<string, unknown>): boolean {
  const isAsymmetric = kty === 'RSA' || kty === 'EC' || kty === 'OKP'
  return isAsymmetric && (use === undefined || use === 'sig') && mayVerify(operations)
}

/** RFC 7517 section 4.3; a private key has the operation of its own half. */
function mayVerify(operations: unknown): boolean {
  if (operations === undefined) return true
  return Array.isArray(operations) && (operations.includes('verify') || operations.includes('sign'))
}

/** An issuer that publishes its private keys is of no use, and they are of none here. */
function publicPart({ kty, use, alg, kid, n, e, crv, x, y }: Record<string, unknown>): JWK {
  const members = Object.entries({ kty, use, alg, kid, n, e, crv, x, y })
  return Object.fromEntries(members.filter(([, value]) => typeof value === 'string')) as unknown as JWK
}

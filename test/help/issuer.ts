// An issuer of tokens: its key set on a server of its own, and tokens with whatever claims a test wants.

import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import { type JWTPayload, SignJWT } from 'jose'
import type { JwtGateConfig } from '../../src/config/model/protect-config.ts'
import { ok, type Respond, startResponder } from './origin.ts'

type Algorithm = 'RS256' | 'ES256' | 'EdDSA' | 'PS512'

/** A key of an issuer, and how tokens name it. */
export interface IssuerKey {
  readonly kid: string
  readonly alg: Algorithm
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

export function issuerKey(alg: Algorithm = 'ES256', kid: string = randomUUID()): IssuerKey {
  const pair =
    alg === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : alg === 'EdDSA'
        ? generateKeyPairSync('ed25519')
        : generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { kid, alg, ...pair }
}

/** The key set as the issuer publishes it. */
export function keySetOf(...keys: readonly IssuerKey[]): string {
  const jwks = keys.map(({ kid, alg, publicKey }) => ({
    ...publicKey.export({ format: 'jwk' }),
    kid,
    alg,
    use: 'sig',
  }))
  return JSON.stringify({ keys: jwks })
}

export const issuer = 'https://id.example/'
export const audience = 'https://api.example'

/** Signs a token that is good for an hour from `now` (s), unless the claims say otherwise. */
export function sign(
  { kid, alg, privateKey }: IssuerKey,
  claims: JWTPayload = {},
  now = Date.now() / 1000,
): Promise<string> {
  const usual = {
    iss: issuer,
    aud: audience,
    sub: 'alice',
    iat: Math.floor(now),
    exp: Math.floor(now) + 3600,
  }
  return new SignJWT({ ...usual, ...claims }).setProtectedHeader({ alg, kid }).sign(privateKey)
}

/** Starts the server of a key set. */
export async function startIssuer(t: TestContext, respond?: Respond) {
  const key = issuerKey()
  const server = await startResponder(t, respond ?? ok(keySetOf(key), 'Content-Type: application/json'))
  return { key, server, gate: gateOf(server.url) }
}

/** Describes a gate for the tokens of an issuer at a loopback address. */
export function gateOf(url: string, more: Partial<JwtGateConfig> = {}): JwtGateConfig {
  return {
    kind: 'jwt',
    issuer,
    audiences: [audience],
    keys: `${url}/jwks.json`,
    ca: null,
    networks: ['127.0.0.0/8'],
    algorithms: ['RS256', 'ES256', 'EdDSA', 'PS512'],
    condition: null,
    fields: [],
    forwardToken: false,
    ...more,
  }
}

// The OpenID provider that the operator names: where people are sent, and what it says of who comes back. Its metadata is read when it is first needed.

import type { Configuration } from 'openid-client'

export interface OpenIdSettings {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
}

/** What is shown again when the browser comes back. */
export interface Challenge {
  readonly state: string
  readonly nonce: string
  /** The PKCE verifier (RFC 7636 section 4.1). */
  readonly verifier: string
}

/** A person as the provider knows them. */
export interface ProvenIdentity {
  readonly issuer: string
  readonly subject: string
  /** Null where the provider does not say that it has verified one. */
  readonly verifiedEmail: string | null
  readonly firstName: string | null
  readonly lastName: string | null
  /** When they last proved to the provider who they are, in ms since the epoch; null where it does not say. */
  readonly authenticatedAt: number | null
}

export interface Direction {
  readonly redirectUri: string
  /** Who it probably is. */
  readonly loginHint?: string | undefined
  /** Whether they must prove who they are now, even if the provider knows them. */
  readonly isFresh?: boolean | undefined
}

/** Ms by which the clock of the provider may differ from ours. */
export const clockSkew = 60_000
/** Seconds that the provider has for each response. */
const timeout = 10
/** Ms after which its metadata is read again. */
const metadataLife = 3_600_000

export class OpenIdProvider {
  readonly #settings: OpenIdSettings
  #known: { readonly configuration: Promise<Configuration>; readonly until: number } | null = null

  constructor(settings: OpenIdSettings) {
    this.#settings = settings
  }

  /** The host by which people know it. */
  get name(): string {
    return new URL(this.#settings.issuer).host
  }

  /** Returns where to send the browser (OpenID Connect Core section 3.1.2.1). */
  async authorizationUrl(
    { state, nonce, verifier }: Challenge,
    { redirectUri, loginHint, isFresh = false }: Direction,
  ): Promise<string> {
    const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import('openid-client')
    const parameters = {
      response_type: 'code',
      scope: 'openid email profile',
      redirect_uri: redirectUri,
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(loginHint === undefined ? {} : { login_hint: loginHint }),
      ...(isFresh ? { prompt: 'login', max_age: '0' } : {}),
    }
    return buildAuthorizationUrl(await this.#configuration(), parameters).href
  }

  /**
   * Exchanges the code in the URL with which the browser came back, and verifies the ID token (OpenID Connect Core section 3.1.3.7); rejects where anything is not
   * right. The package demands `azp` only of several audiences, and does not look at when the token was issued.
   */
  async identityAt(url: URL, { state, nonce, verifier }: Challenge): Promise<ProvenIdentity> {
    const { authorizationCodeGrant, fetchUserInfo } = await import('openid-client')
    const configuration = await this.#configuration()
    const tokens = await authorizationCodeGrant(configuration, url, {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    })
    const { iss, sub, auth_time: at, ...claims } = tokens.claims()!
    const { azp, iat } = claims
    if (azp !== undefined && azp !== this.#settings.clientId)
      throw new Error('azp of the ID token names another client')
    if (Math.max(iat, at ?? 0) * 1_000 > Date.now() + clockSkew)
      throw new Error('iat or auth_time of the ID token is of the future')
    const hasMore =
      configuration.serverMetadata().userinfo_endpoint !== undefined && claims.email === undefined
    const told = hasMore ? await fetchUserInfo(configuration, tokens.access_token, sub) : claims
    return {
      issuer: iss,
      subject: sub,
      verifiedEmail: told.email_verified === true ? textOf(told.email) : null,
      firstName: textOf(told.given_name),
      lastName: textOf(told.family_name),
      authenticatedAt: at === undefined ? null : at * 1_000,
    }
  }

  #configuration(): Promise<Configuration> {
    const now = performance.now()
    if (this.#known === null || this.#known.until < now) {
      const configuration = this.#discover()
      this.#known = { configuration, until: now + metadataLife }
      configuration.catch(() => {
        this.#known = null
      })
    }
    return this.#known.configuration
  }

  async #discover(): Promise<Configuration> {
    const client = await import('openid-client')
    const { issuer, clientId, clientSecret } = this.#settings
    const url = new URL(issuer)
    // The configuration lets no other host be named without https than one on loopback.
    const execute = [client.enableNonRepudiationChecks]
    if (url.protocol === 'http:') execute.push(client.allowInsecureRequests)
    const found = await client.discovery(url, clientId, clientSecret, undefined, { execute, timeout })
    const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } =
      found.serverMetadata()
    if (!methods.includes('client_secret_basic')) return found
    // The default of registrations (RFC 7591 section 2), which the package does not choose by itself.
    const basic = client.ClientSecretBasic(clientSecret)
    const configuration = new client.Configuration(found.serverMetadata(), clientId, clientSecret, basic)
    configuration.timeout = timeout
    for (const set of execute) set(configuration)
    return configuration
  }
}

function textOf(claim: unknown): string | null {
  return typeof claim === 'string' && claim.trim() !== '' ? claim.trim() : null
}

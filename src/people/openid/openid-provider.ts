// The configured OpenID provider. Its metadata is read on first use.

import type { ClientAuth, Configuration, CustomFetch } from 'openid-client'
import type { GroupsConfig } from '../../config/model/config.ts'
import { groupsIn } from './group-roles.ts'
import { emailFault } from '../records/email.ts'

export interface OpenIdSettings {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** The ids of the tenants whose people may sign in; null for those of the issuer alone. */
  readonly tenants: readonly string[] | null
  /** Null if groups mean nothing here. */
  readonly groups: GroupsConfig | null
}

export interface Challenge {
  readonly state: string
  readonly nonce: string
  /** The PKCE verifier (RFC 7636 section 4.1). */
  readonly verifier: string
}

export interface ProvenIdentity {
  readonly issuer: string
  readonly subject: string
  /** The directory (`tid` of Entra ID), if the issuer serves many; its administrators control the claims. */
  readonly tenant: string | null
  /** Null unless the provider says that it has verified one. */
  readonly verifiedEmail: string | null
  /** The address that it gives, verified or not; null for none that can be used. */
  readonly claimedEmail: string | null
  readonly firstName: string | null
  readonly lastName: string | null
  /** Null if the claim is anything but a list of names. */
  readonly groups: readonly string[] | null
  /** When they last proved to the provider who they are, in ms since the epoch; null if it does not say. */
  readonly authenticatedAt: number | null
}

export interface Direction {
  readonly redirectUri: string
  readonly loginHint?: string | undefined
  /** Whether they must prove who they are now, even if the provider knows them. */
  readonly isFresh?: boolean | undefined
}

/** Tolerance for the clock of the provider, in ms. */
export const clockSkew = 60_000
/** Timeout of each response, in seconds. */
const timeout = 10
/** Ms after which its metadata is read again. */
const metadataLife = 3_600_000

export class OpenIdProvider {
  readonly #settings: OpenIdSettings
  readonly #fetch: typeof fetch
  #metadata: { readonly configuration: Promise<Configuration>; readonly until: number } | null = null

  constructor(settings: OpenIdSettings, send: typeof fetch = fetch) {
    this.#settings = settings
    this.#fetch = send
  }

  get name(): string {
    return new URL(this.#settings.issuer).host
  }

  admits({ issuer, tenant }: Pick<ProvenIdentity, 'issuer' | 'tenant'>): boolean {
    const { issuer: own, tenants } = this.#settings
    if (tenants !== null) return tenant !== null && tenants.includes(tenant)
    return new URL(issuer).href === new URL(own).href
  }

  /** Returns where to send the browser (OpenID Connect Core section 3.1.2.1). */
  async authorizationUrl(
    { state, nonce, verifier }: Challenge,
    { redirectUri, loginHint, isFresh = false }: Direction,
  ): Promise<string> {
    const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import('openid-client')
    const parameters = {
      response_type: 'code',
      scope: ['openid email profile', this.#settings.groups?.scope ?? []].flat().join(' '),
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
   * OpenID Connect Core section 3.1.3.7; rejects if anything is wrong. The package requires `azp` only for
   * several audiences, and does not check when the token was issued.
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
    const directory = directoryOf(iss, claims)
    const { groups } = this.#settings
    const isWhole = ['email', 'email_verified', groups?.claim ?? []]
      .flat()
      .every(name => Object.hasOwn(claims, name))
    const asksMore =
      directory === null && !isWhole && configuration.serverMetadata().userinfo_endpoint !== undefined
    const allClaims = asksMore
      ? { ...claims, ...(await fetchUserInfo(configuration, tokens.access_token, sub)) }
      : claims
    const email = textOf(allClaims.email)
    const isVerified = allClaims.email_verified === true || allClaims.email_verified === 'true'
    return {
      issuer: iss,
      subject: directory?.subject ?? sub,
      tenant: directory?.tenant ?? null,
      verifiedEmail: directory === null && isVerified ? email : null,
      claimedEmail: [email, textOf(claims.preferred_username)].find(isAddress) ?? null,
      firstName: textOf(allClaims.given_name),
      lastName: textOf(allClaims.family_name),
      groups: groups === null ? [] : groupsIn(allClaims, groups.claim),
      authenticatedAt: at === undefined ? null : at * 1_000,
    }
  }

  #configuration(): Promise<Configuration> {
    const now = performance.now()
    if (this.#metadata === null || this.#metadata.until < now) {
      const configuration = this.#discover()
      this.#metadata = { configuration, until: now + metadataLife }
      configuration.catch(() => {
        this.#metadata = null
      })
    }
    return this.#metadata.configuration
  }

  async #discover(): Promise<Configuration> {
    const client = await import('openid-client')
    const { issuer, clientId, clientSecret } = this.#settings
    const url = new URL(issuer)
    // The configuration allows plain http only for a host on loopback.
    const execute = [client.enableNonRepudiationChecks]
    if (url.protocol === 'http:') execute.push(client.allowInsecureRequests)
    const basic = client.ClientSecretBasic(clientSecret)
    const post = client.ClientSecretPost(clientSecret)
    // Basic is the default (RFC 7591 section 2), but not that of the package.
    const authentication: ClientAuth = (server, ...rest) => {
      const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
      return (methods.includes('client_secret_basic') ? basic : post)(server, ...rest)
    }
    const options = { execute, timeout, [client.customFetch]: this.#fetch as CustomFetch }
    return client.discovery(url, clientId, clientSecret, authentication, options)
  }
}

/**
 * Null for an issuer with one directory. `sub` of Entra ID differs for each client, so that a new
 * registration would turn everyone into strangers; any tenant's administrator enters its addresses.
 */
function directoryOf(
  issuer: string,
  { tid, oid }: Readonly<Record<string, unknown>>,
): { readonly tenant: string; readonly subject: string } | null {
  if (typeof tid !== 'string' || typeof oid !== 'string' || tid === '' || oid === '') return null
  return issuer.includes(tid) ? { tenant: tid, subject: `${tid}/${oid}` } : null
}

function isAddress(text: string | null): text is string {
  return text !== null && emailFault(text) === null
}

function textOf(claim: unknown): string | null {
  return typeof claim === 'string' && claim.trim() !== '' ? claim.trim() : null
}

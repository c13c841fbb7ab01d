// Selects the certificates of a TLS handshake, one for each algorithm.

import { constants, hash } from 'node:crypto'
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls'
import {
  type ClientCertificates,
  cipherSuites,
  type TlsConfig,
  type TlsIdentity,
} from '../config/model/config.ts'
import { fipsCiphers, fipsGroups, fipsSignatures, hasFipsProvider } from '../tls/fips.ts'
import { sessionLifetime, TicketKeys, type TicketKeySet } from '../tls/ticket-keys.ts'
import { byNames, forHost } from './by-name.ts'
import { contextAsking, trustOf } from './client-trust.ts'

/**
 * Only forward secrecy and authenticated encryption. The client's first supported suite is used: SHA-256
 * costs a tenth less than SHA-384, which most clients other than browsers would prefer.
 */
const ciphers = cipherSuites.map(nameInOpenSsl).join(':')

/** The first also resists quantum computers; ffdhe3072, for one, costs 20 times as much as X25519. */
const groups = 'X25519MLKEM768:X25519:P-256:P-384'

/** Clients that prefer ChaCha20 get it: usually they have no AES in hardware. */
const secureOptions = constants.SSL_OP_PRIORITIZE_CHACHA

/** By which OpenSSL tells sessions apart. */
const maxIdContext = 32

interface Demands {
  readonly client: ClientCertificates | null
  /** Only what SP 800-52r2 approves. */
  readonly isFips: boolean
  /** Preferred; empty for all. */
  readonly ciphers: readonly string[]
}

const noDemands: Demands = { client: null, isFips: false, ciphers: [] }

export class Certificates {
  readonly #byName: ReadonlyMap<string, SecureContext>
  /** Those of the configuration take precedence. */
  readonly #automatic: ReadonlyMap<string, SecureContext>
  /** For clients that name no host; null without any certificate. */
  readonly #first: SecureContext | null
  /** By a digest of their inputs. */
  readonly #contexts = new Map<string, SecureContext>()
  /** Only this process has them until it gets the shared ones. */
  #ticketKeys: TicketKeys

  /** Throws for an unusable pair. Reuses contexts of `before`, so that sessions can be resumed. */
  constructor(
    { certificates, minVersion }: TlsConfig,
    before: Certificates | null = null,
    automatic: readonly TlsIdentity[] = [],
  ) {
    this.#ticketKeys = before === null ? new TicketKeys() : before.#ticketKeys
    const contextsOf = (of: readonly TlsIdentity[]) =>
      new Map(
        [...byNames(of)].map(([name, identities]) => [
          name,
          this.#contextOf(
            [...identities.values()].map(({ identity }) => identity),
            minVersion,
            before,
          ),
        ]),
      )
    this.#byName = contextsOf(certificates)
    this.#automatic = contextsOf(automatic)
    const [first = null] = [...this.#byName.values(), ...this.#automatic.values()]
    this.#first = first
  }

  /** Lower-case, or null for none. */
  find(serverName: string | null, demands: Demands = noDemands): SecureContext | null {
    const context = this.#named(serverName)
    const { client, isFips, ciphers } = demands
    if (context === null || (client === null && !isFips && ciphers.length === 0)) return context
    const met = meeting(context, demands)
    this.#ticketKeys.applyTo(met)
    return met
  }

  #named(serverName: string | null): SecureContext | null {
    if (serverName === null) return this.#first
    return forHost(this.#byName, serverName) ?? this.#automatic.get(serverName) ?? null
  }

  useTicketKeys(keys: TicketKeySet): void {
    this.#ticketKeys = new TicketKeys(keys)
    for (const context of this.#contexts.values()) this.#ticketKeys.applyTo(context)
  }

  get ticketKeys(): TicketKeys {
    return this.#ticketKeys
  }

  #contextOf(
    identities: readonly TlsIdentity[],
    minVersion: TlsConfig['minVersion'],
    before: Certificates | null,
  ): SecureContext {
    const digest = hash('sha256', JSON.stringify([minVersion, identities]))
    const earlier = before === null ? undefined : before.#contexts.get(digest)
    const context =
      this.#contexts.get(digest) ??
      earlier ??
      make({
        cert: identities.map(({ certificate }) => certificate),
        key: identities.map(({ key }) => key),
        ciphers,
        honorCipherOrder: true,
        secureOptions,
        ecdhCurve: groups,
        minVersion,
        // Others are unknown to the provider.
        ...(hasFipsProvider() && fipsOptions),
        // A session must be resumed with the certificates and settings that it began with.
        sessionIdContext: digest.slice(0, maxIdContext),
        sessionTimeout: sessionLifetime / 1000,
      })
    this.#ticketKeys.applyTo(context)
    this.#contexts.set(digest, context)
    return context
  }
}

function make(options: SecureContextOptions): SecureContext {
  const context = createSecureContext(options)
  origins.set(context, { options, meeting: new Map() })
  return context
}

/** The inputs of each context, and its variants for the requirements of zones. */
const origins = new WeakMap<
  SecureContext,
  { readonly options: SecureContextOptions; readonly meeting: Map<string, SecureContext> }
>()

/** Created with the first handshake that needs the variant. */
function meeting(context: SecureContext, { client, isFips, ciphers }: Demands): SecureContext {
  const { options, meeting } = origins.get(context)!
  const key = `${isFips} ${trustOf(client)} ${ciphers}`
  const cached = meeting.get(key)
  if (cached !== undefined) return cached
  const approved = isFips ? { ...options, ...fipsOptions, sessionIdContext: fipsIdOf(options) } : options
  const preferring = ciphers.length === 0 ? approved : withFirst(ciphers, approved)
  const made = client === null ? createSecureContext(preferring) : contextAsking(preferring, client)
  if (meeting.size === maxVariants) meeting.delete(meeting.keys().next().value!)
  meeting.set(key, made)
  return made
}

/** A client that supports one of the suites gets it, whatever it prefers. */
function withFirst(suites: readonly string[], options: SecureContextOptions): SecureContextOptions {
  const all = new Set(options.ciphers!.split(':'))
  const first = new Set(suites.map(nameInOpenSsl)).intersection(all)
  // A session of TLS 1.2 keeps the suite that it began with.
  const sessionIdContext = hash('sha256', `${suites} ${options.sessionIdContext}`).slice(0, maxIdContext)
  return { ...options, ciphers: [...first.union(all)].join(':'), secureOptions: 0, sessionIdContext }
}

const maxVariants = 1000

const fipsOptions = { ciphers: fipsCiphers, ecdhCurve: fipsGroups, sigalgs: fipsSignatures }

/** No session that began with unapproved keys is resumed under this id. */
function fipsIdOf({ sessionIdContext = '' }: SecureContextOptions): string {
  return `fips ${sessionIdContext}`.slice(0, maxIdContext)
}

/** `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256` is `ECDHE-RSA-AES128-GCM-SHA256` in OpenSSL. */
function nameInOpenSsl(suite: string): string {
  if (!suite.includes('_WITH_')) return suite
  return suite
    .replace('TLS_', '')
    .replace('_WITH_', '_')
    .replace('AES_', 'AES')
    .replace('POLY1305_SHA256', 'POLY1305')
    .replaceAll('_', '-')
}

// Automatic certificates, their orders and their status; only in the process of the side port.

import { isDeepStrictEqual } from 'node:util'
import { type Clock, systemClock } from '../../base/clock.ts'
import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import type { AcmeConfig } from '../../config/model/config.ts'
import type { Logger } from '../../log/log.ts'
import type { CertificateExpiry, CertificateRenewal, Counts } from '../../metrics/counters/counts.ts'
import type { Store } from '../../store/contract/store.ts'
import { type AutomaticTls, nothingAutomatic } from '../../certificates/acme/automatic.ts'
import { KnownCertificates } from '../../certificates/acme/known-certificates.ts'
import { CertificateOrders } from '../../certificates/acme/orders.ts'
import {
  type CertificateState,
  certificateStates,
  type CertificateStatus,
  certificateStatus,
} from '../../certificates/acme/certificate-state.ts'
import { connectAuthority } from './acme-authority.ts'

interface AutomaticCertificatesOptions {
  readonly store: Store
  readonly secrets: SecretKeys
  readonly log: Logger
  readonly metrics: Pick<Counts, 'acmeOrders'>
  /** Publishes certificates to every process of this machine; resolves once all serve them. */
  readonly publish: (automatic: AutomaticTls) => Promise<void>
  /** Path of the local copy for a start while the store is unreachable; null for none. */
  readonly copyPath: string | null
  readonly clock?: Clock
}

const day = 86_400_000
/** How long before expiry a failing renewal is warned of, and how often, in ms. */
const ahead = 14 * day
const period = day / 2

export class AutomaticCertificates {
  readonly #known: KnownCertificates
  readonly #orders: CertificateOrders
  readonly #log: Logger
  readonly #clock: Clock
  readonly #publish: (automatic: AutomaticTls) => Promise<void>
  readonly #timer: NodeJS.Timeout
  #config: AcmeConfig | null = null
  #opening: Promise<void> | null = null
  #served: AutomaticTls = nothingAutomatic
  #sharing: Promise<void> = Promise.resolve()

  constructor(options: AutomaticCertificatesOptions) {
    const { store, secrets, log, metrics, publish, copyPath, clock = systemClock } = options
    this.#log = log
    this.#clock = clock
    this.#publish = publish
    this.#known = new KnownCertificates({ store, secrets, log, copyPath, clock })
    this.#known.changed = () => void this.#share()
    this.#orders = new CertificateOrders({
      ...{ store, secrets, log, clock, certificates: this.#known },
      connect: connectAuthority,
      shared: () => this.#share(),
      ended: result => metrics.acmeOrders[result].inc(),
    })
    this.#timer = setInterval(() => this.warn(), period).unref()
  }

  async prepare(config: AcmeConfig | null): Promise<void> {
    if (config !== null) await (this.#opening ??= this.#known.open())
  }

  serve(config: AcmeConfig | null): Promise<void> {
    this.#config = config
    return this.#share()
  }

  start(): void {
    this.#orders.follow(this.#config)
    this.warn()
  }

  get statuses(): readonly CertificateStatus[] {
    const config = this.#config
    if (config === null) return []
    const now = this.#clock.now()
    return config.hosts.map(host => certificateStatus(host, this.#known.get(host), config.directory, now))
  }

  get expiries(): readonly CertificateExpiry[] {
    return this.statuses.flatMap(({ host, notAfter }) =>
      notAfter === null ? [] : [{ name: host, keyType: 'ec', notAfter }],
    )
  }

  get renewals(): readonly CertificateRenewal[] {
    return this.statuses.flatMap(({ host, renewAt }) => (renewAt === null ? [] : [{ host, renewAt }]))
  }

  get states(): Readonly<Record<CertificateState, number>> {
    const counts = Object.fromEntries(certificateStates.map(state => [state, 0])) as Record<
      CertificateState,
      number
    >
    for (const { state } of this.statuses) counts[state]++
    return counts
  }

  warn(): void {
    const now = this.#clock.now()
    for (const { host, notAfter, state, lastError } of this.statuses) {
      if (notAfter === null || notAfter - now > ahead || (state !== 'failing' && state !== 'unreadable'))
        continue
      const facts = { host, expires: new Date(notAfter).toISOString(), reason: lastError?.message ?? null }
      if (notAfter <= now)
        this.#log.error(facts, 'certificate expired: clients refuse it, and its renewal fails')
      else this.#log.warn(facts, 'certificate expires soon, and its renewal fails')
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#orders.close()
    await this.#known.close()
    await this.#sharing
  }

  #share(): Promise<void> {
    this.#sharing = this.#sharing.then(async () => {
      const automatic = this.#known.of(this.#config?.hosts ?? [])
      if (isDeepStrictEqual(automatic, this.#served)) return
      this.#served = automatic
      await this.#publish(automatic).catch((cause: unknown) =>
        this.#log.error({ err: cause }, 'serving automatic certificates failed'),
      )
    })
    return this.#sharing
  }
}

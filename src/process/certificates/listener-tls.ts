// TLS of the listeners: automatic certificates, expiry warnings, and session ticket keys.

import { systemClock } from '../../base/clock.ts'
import type { Logger } from '../../log/log.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import type { Config } from '../../config/model/config.ts'
import type { AutomaticTls } from '../../certificates/acme/automatic.ts'
import { TicketKeeper } from '../../certificates/ticket-keeper.ts'
import type { Store } from '../../store/contract/store.ts'
import type { TicketKeySet } from '../../tls/ticket-keys.ts'
import { AutomaticCertificates } from './automatic-certificates.ts'
import { copyPath } from '../store/location.ts'
import { CertificateWatch } from './certificate-watch.ts'
import { ClientTrustWatch } from './client-trust-watch.ts'
import type { Management } from '../services/management.ts'

interface TlsTaker {
  takeCertificates(automatic: AutomaticTls): Promise<void>
  takeTicketKeys(keys: TicketKeySet): void
}

export class ListenerTls {
  readonly #log: Logger
  readonly #metrics: Metrics
  readonly #certificates: CertificateWatch
  readonly #clientTrust: ClientTrustWatch
  #automatic: AutomaticCertificates | null = null
  #tickets: TicketKeeper | null = null

  constructor(config: Config, log: Logger, metrics: Metrics) {
    this.#log = log
    this.#metrics = metrics
    this.#certificates = new CertificateWatch(config.tls, log, systemClock)
    this.#clientTrust = new ClientTrustWatch(config.zones, log, systemClock)
    metrics.clientTrust = () => this.#clientTrust.expiries
    metrics.ticketKeys = () => this.#tickets
    metrics.certificates = () => [...this.#certificates.expiries, ...(this.#automatic?.expiries ?? [])]
    metrics.renewals = () => this.#automatic?.renewals ?? []
    metrics.automaticCertificates = () => this.#automatic?.states ?? {}
  }

  get statuses(): AutomaticCertificates['statuses'] {
    return this.#automatic?.statuses ?? []
  }

  open(store: Store, { secrets }: Management, plane: () => TlsTaker | null): void {
    const publish = async (automatic: AutomaticTls) => plane()?.takeCertificates(automatic)
    this.#automatic = new AutomaticCertificates({
      ...{ store, secrets, log: this.#log, metrics: this.#metrics, publish },
      copyPath: copyPath(store, 'certificates.json'),
    })
  }

  async shareTicketKeys(
    { listen }: Config,
    store: Store,
    { secrets }: Management,
    plane: TlsTaker,
  ): Promise<void> {
    if (!listen.some(({ tls }) => tls)) return
    const changed = (keys: TicketKeySet) => plane.takeTicketKeys(keys)
    this.#tickets = new TicketKeeper({ store, secrets, log: this.#log, changed })
    await this.#tickets.start()
  }

  /** Must run before the first handshake. */
  async serve({ acme }: Config): Promise<void> {
    await this.#automatic?.prepare(acme)
    await this.#automatic?.serve(acme)
  }

  start(): void {
    this.#automatic?.start()
  }

  /** The returned function applies another configuration in one step that cannot fail. */
  async prepare({ acme, tls, zones }: Config): Promise<() => Promise<void>> {
    await this.#automatic?.prepare(acme)
    const watchCertificates = this.#certificates.prepare(tls)
    const watchClientTrust = this.#clientTrust.prepare(zones)
    return async () => {
      watchCertificates()
      watchClientTrust()
      const served = this.#automatic?.serve(acme)
      this.start()
      await served
    }
  }

  async rest(): Promise<void> {
    this.#certificates.close()
    this.#clientTrust.close()
    await this.#tickets?.close()
  }

  async close(): Promise<void> {
    await this.#automatic?.close()
  }
}

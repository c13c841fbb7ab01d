// Warns of the gateway's own certificates while there is time to replace them.

import type { Clock } from '../../base/clock.ts'
import type { TlsConfig } from '../../config/model/config.ts'
import type { Logger } from '../../log/log.ts'
import type { CertificateExpiry } from '../../metrics/counters/counts.ts'
import { Certificate } from '../../tls/certificate.ts'

const day = 86_400_000
/** How long before expiry a certificate is warned of, and how often, in ms. */
const ahead = 14 * day
const period = day / 2

export class CertificateWatch {
  readonly #log: Logger
  readonly #clock: Clock
  readonly #timer: NodeJS.Timeout
  #certificates: readonly Certificate[] = []

  constructor(tls: TlsConfig, log: Logger, clock: Clock) {
    this.#log = log
    this.#clock = clock
    this.prepare(tls)()
    this.#timer = setInterval(() => this.#look(), period).unref()
  }

  prepare({ certificates }: TlsConfig): () => void {
    const read = certificates.map(({ certificate }) => new Certificate(certificate))
    return () => {
      this.#certificates = read
      this.#look()
    }
  }

  /** Of several with the same first name and key type, the earliest: it may be in use for other names. */
  get expiries(): readonly CertificateExpiry[] {
    const byName = new Map<string, CertificateExpiry>()
    for (const { names, keyType, notAfter } of this.#certificates) {
      const name = names[0]!
      const key = `${keyType} ${name}`
      if (notAfter < (byName.get(key)?.notAfter ?? Infinity)) byName.set(key, { name, keyType, notAfter })
    }
    return [...byName.values()]
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const now = this.#clock.now()
    for (const { names, notBefore, notAfter } of this.#certificates) {
      const facts = { names, expires: new Date(notAfter).toISOString() }
      if (notAfter <= now) this.#log.error(facts, 'certificate expired: clients refuse it')
      else if (notBefore > now) this.#log.error(facts, 'certificate not valid yet: clients refuse it')
      else if (notAfter - now < ahead) this.#log.warn(facts, 'certificate expires soon')
    }
  }
}

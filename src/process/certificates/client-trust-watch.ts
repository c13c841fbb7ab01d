// Warns of authorities and revocation lists of client certificates before they expire, after which clients are refused.

import { X509Certificate } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import type { ClientCertificates, Config } from '../../config/model/config.ts'
import type { Logger } from '../../log/log.ts'
import type { TrustExpiry } from '../../metrics/counters/counts.ts'
import { ClientCertificate } from '../../tls/client-certificate.ts'
import { pemBlocks } from '../../tls/pem.ts'
import { readRevocationList } from '../../tls/revocation-list.ts'

const hour = 3_600_000
const day = 24 * hour
/** Ms before the end from when on it is warned of; of a list that counts for a shorter time, a quarter of that. */
const ahead = 14 * day
/** Ms between two looks, and two warnings of the same: lists may count for a day only. */
const period = hour
const pause = day / 2

interface Watched extends TrustExpiry {
  /** Ms before its end from when on it is warned of. */
  readonly ahead: number
}

export class ClientTrustWatch {
  readonly #log: Logger
  readonly #clock: Clock
  readonly #timer: NodeJS.Timeout
  #watched: readonly Watched[] = []
  /** When each was warned of, by what was said. */
  #said = new Map<string, number>()

  constructor(zones: Config['zones'], log: Logger, clock: Clock) {
    this.#log = log
    this.#clock = clock
    this.prepare(zones)()
    this.#timer = setInterval(() => this.#look(), period).unref()
  }

  /** Reads what other zones trust; what it returns has that watched instead, and looks at it at once. */
  prepare(zones: Config['zones']): () => void {
    const watched = watchedIn(zones)
    return () => {
      this.#watched = watched
      this.#said.clear()
      this.#look()
    }
  }

  /** When each ends. */
  get expiries(): readonly TrustExpiry[] {
    return this.#watched
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const now = this.#clock.now()
    for (const one of this.#watched) {
      if (one.notAfter - now >= one.ahead) continue
      const isOver = one.notAfter <= now
      const message = (isOver ? expired : soon)[one.kind]
      const said = this.#said.get(`${one.name} ${message}`)
      if (said !== undefined && now - said < pause) continue
      this.#said.set(`${one.name} ${message}`, now)
      const facts = { name: one.name, expires: new Date(one.notAfter).toISOString() }
      if (isOver) this.#log.error(facts, message)
      else this.#log.warn(facts, message)
    }
  }
}

const expired = {
  authority: 'authority of client certificates expired: its clients are refused',
  revocation_list: 'revocation list of client certificates expired: all clients of its authority are refused',
} as const
const soon = {
  authority: 'authority of client certificates expires soon',
  revocation_list: 'revocation list of client certificates expires soon',
} as const

/** Lists what zones trust, each once: of several with one name, what ends first over all zones. */
function watchedIn(zones: Config['zones']): readonly Watched[] {
  const found = new Map<string, Watched>()
  for (const { tls } of zones) {
    if (tls.client === null) continue
    for (const [key, one] of trustedBy(tls.client))
      if (one.notAfter < (found.get(key)?.notAfter ?? Number.POSITIVE_INFINITY)) found.set(key, one)
  }
  return [...found.values()]
}

/** Lists what one zone trusts by kind and name: of several lists of an authority, the one that ends last counts. */
function trustedBy({ authorities, revocationLists }: ClientCertificates): ReadonlyMap<string, Watched> {
  const found = new Map<string, Watched>()
  const add = (one: Watched) => {
    const key = `${one.kind} ${one.name}`
    if (one.notAfter > (found.get(key)?.notAfter ?? 0)) found.set(key, one)
  }
  for (const pem of pemBlocks(authorities)) {
    const { subject, notAfter } = new ClientCertificate(new X509Certificate(pem), null)
    add({ kind: 'authority', name: subject, notAfter, ahead })
  }
  for (const pem of pemBlocks(revocationLists ?? '')) {
    const { issuer, thisUpdate, nextUpdate: notAfter } = readRevocationList(pem)
    const quarter = (notAfter - thisUpdate) / 4
    add({ kind: 'revocation_list', name: issuer, notAfter, ahead: Math.min(ahead, quarter) })
  }
  return found
}

// Warns of expiring authorities and revocation lists: once expired, clients are refused.

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
/** How long before expiry to warn, in ms; for lists with a shorter life, a quarter of it. */
const ahead = 14 * day
/** Ms between two checks, and between two warnings of the same expiry: lists may be valid for only a day. */
const period = hour
const pause = day / 2

interface Watched extends TrustExpiry {
  readonly ahead: number
}

export class ClientTrustWatch {
  readonly #log: Logger
  readonly #clock: Clock
  readonly #timer: NodeJS.Timeout
  #watched: readonly Watched[] = []
  #warnings = new Map<string, number>()

  constructor(zones: Config['zones'], log: Logger, clock: Clock) {
    this.#log = log
    this.#clock = clock
    this.prepare(zones)()
    this.#timer = setInterval(() => this.#look(), period).unref()
  }

  prepare(zones: Config['zones']): () => void {
    const watched = watchedIn(zones)
    return () => {
      this.#watched = watched
      this.#warnings.clear()
      this.#look()
    }
  }

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
      const warning = this.#warnings.get(`${one.name} ${message}`)
      if (warning !== undefined && now - warning < pause) continue
      this.#warnings.set(`${one.name} ${message}`, now)
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

/** Of several with one name, the first over all zones to expire. */
function watchedIn(zones: Config['zones']): readonly Watched[] {
  const byName = new Map<string, Watched>()
  for (const { tls } of zones) {
    if (tls.client === null) continue
    for (const [key, one] of trustedBy(tls.client))
      if (one.notAfter < (byName.get(key)?.notAfter ?? Number.POSITIVE_INFINITY)) byName.set(key, one)
  }
  return [...byName.values()]
}

function trustedBy({ authorities, revocationLists }: ClientCertificates): ReadonlyMap<string, Watched> {
  const byName = new Map<string, Watched>()
  const add = (one: Watched) => {
    const key = `${one.kind} ${one.name}`
    if (one.notAfter > (byName.get(key)?.notAfter ?? 0)) byName.set(key, one)
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
  return byName
}

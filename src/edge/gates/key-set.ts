// The keys of an issuer, as it publishes them (RFC 7517): fetched when they are needed, kept for a while,
// used on for a day while the issuer does not respond, and fetched again for a key that is not among them.

import { isIP } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import { day, hour, KiB, minute, second } from '../../base/units.ts'
import { lookupOnly } from '../../net/address/checked-lookup.ts'
import { type FindKey, readKeySet } from '../../protect/jwt.ts'

const { getCACertificates } = process.getBuiltinModule('node:tls')

interface KeySetParts {
  readonly url: string
  /** PEM of authorities that are trusted besides those of Node. */
  readonly ca: string | null
  readonly isAllowed: (address: string) => boolean
  readonly clock: Clock
  /** Called for the first failure and each with another reason, and with null once it is over. */
  readonly changed: (failure: string | null) => void
}

const timeout = 10 * second
const maxSize = 256 * KiB
/** How long a set is fresh, unless its Cache-Control says less or more. */
const freshness = { least: minute, usual: 10 * minute, most: hour }
/** For which it is used on. */
const longestUse = day
const pauses = { first: second, longest: minute }
/** Between two fetches for unknown keys: whoever sends tokens chooses their names. */
const coolDown = 30 * second

export class KeySet {
  readonly #parts: KeySetParts
  #keys: FindKey | null = null
  #text = ''
  #freshUntil = 0
  #usedUntil = 0
  #retryAt = Number.NEGATIVE_INFINITY
  #renewedAt = Number.NEGATIVE_INFINITY
  #failures = 0
  #failure: string | null = null
  #fetching: Promise<FindKey | null> | null = null

  constructor(parts: KeySetParts) {
    this.#parts = parts
  }

  /** The keys, which are another object once they have changed; null while there are none to be had. */
  latest(): FindKey | null | Promise<FindKey | null> {
    const now = this.#parts.clock.monotonic()
    const keys = now < this.#usedUntil ? this.#keys : null
    if (keys !== null) {
      if (now >= this.#freshUntil && now >= this.#retryAt) void this.#fetch()
      return keys
    }
    return now < this.#retryAt ? null : this.#fetch()
  }

  /** Fetches them for a key that is not among `known`; null if that was done a moment ago. */
  renewed(known: FindKey): FindKey | null | Promise<FindKey | null> {
    if (this.#keys !== known) return this.latest()
    if (this.#fetching !== null) return this.#fetching
    const now = this.#parts.clock.monotonic()
    if (now < this.#renewedAt + coolDown || now < this.#retryAt) return null
    this.#renewedAt = now
    return this.#fetch()
  }

  /** Seconds until the next attempt, at least one. */
  get wait(): number {
    return Math.max(1, Math.ceil((this.#retryAt - this.#parts.clock.monotonic()) / second))
  }

  /** Never rejects. */
  #fetch(): Promise<FindKey | null> {
    this.#fetching ??= this.#read().finally(() => {
      this.#fetching = null
    })
    return this.#fetching
  }

  async #read(): Promise<FindKey | null> {
    const { clock, changed } = this.#parts
    const before = this.#failure
    try {
      const { text, lifetime } = await this.#get()
      const keys = text === this.#text ? this.#keys : await readKeySet(text)
      if (keys === null) throw new KeySetFailure('no key set')
      const now = clock.monotonic()
      this.#keys = keys
      this.#text = text
      this.#freshUntil = now + lifetime
      this.#usedUntil = now + longestUse
      this.#failures = 0
      this.#failure = null
    } catch (error) {
      const pause = Math.min(pauses.first * 2 ** Math.min(this.#failures++, 10), pauses.longest)
      this.#retryAt = clock.monotonic() + pause
      this.#failure = reasonOf(error)
    }
    if (this.#failure !== before) changed(this.#failure)
    return clock.monotonic() < this.#usedUntil ? this.#keys : null
  }

  async #get(): Promise<{ readonly text: string; readonly lifetime: number }> {
    const { url, ca, isAllowed } = this.#parts
    const address = new URL(url).hostname.replace(/^\[|\]$/g, '')
    // Literals are not looked up.
    if (isIP(address) !== 0 && !isAllowed(address)) throw new KeySetFailure(prohibited)
    // It takes 4 MiB, and few gateways need it.
    const { Agent, request } = await import('undici')
    const tls = ca === null ? {} : { ca: [...getCACertificates('default'), ca] }
    const dispatcher = new Agent({
      ...{ maxResponseSize: maxSize, headersTimeout: timeout, bodyTimeout: timeout },
      connect: { ...tls, timeout, lookup: lookupOnly(isAllowed) },
    })
    try {
      const { statusCode, headers, body } = await request(url, {
        dispatcher,
        headers: { accept: 'application/jwk-set+json, application/json', 'user-agent': 'gatehouse' },
        signal: AbortSignal.timeout(timeout),
      })
      const text = await body.text()
      if (statusCode !== 200) throw new KeySetFailure(`status ${statusCode}`)
      return { text, lifetime: lifetimeOf(headers['cache-control']) }
    } finally {
      dispatcher.destroy().catch(() => {})
    }
  }
}

class KeySetFailure extends Error {}

const prohibited = 'its address is not on the public Internet, and not in allow_networks'

/** Ms; by max-age (RFC 9111 section 5.2.2.1). */
function lifetimeOf(cacheControl: string | string[] | undefined): number {
  const [, seconds] = /(?:^|[ \t,])max-age="?(\d{1,9})(?!\d)/i.exec(String(cacheControl)) ?? []
  if (seconds === undefined) return freshness.usual
  return Math.min(Math.max(Number(seconds) * second, freshness.least), freshness.most)
}

function reasonOf(error: unknown): string {
  const { code = '', name, message } = error as NodeJS.ErrnoException
  if (error instanceof KeySetFailure) return message
  if (code === 'PROHIBITED') return prohibited
  if (name === 'TimeoutError' || /TIMEOUT/.test(code)) return 'no response in time'
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return 'more than 256 KiB'
  return code === '' ? 'connection failed' : code
}

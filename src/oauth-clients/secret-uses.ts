// When secrets were last used, to the hour, written behind the requests that used them; while the store is unreachable uses wait for it, and beyond the bound they
// are not noted.

import { type Clock, systemClock } from '../base/clock.ts'
import type { Logger } from '../log/log.ts'
import type { ClientSecret, OAuthClient } from '../store/oauth-client.ts'
import { type Store, StoreUnreachable } from '../store/store.ts'

interface SecretUsesOptions {
  readonly store: Store
  readonly log: Logger
  readonly clock?: Clock
}

interface Use {
  readonly account: string
  readonly client: string
  readonly digest: string
  /** When the hour began, in ms since the epoch. */
  readonly hour: number
}

const hourLength = 3_600_000
/** Ms that a use waits for others, and between two attempts while the store is unreachable. */
const patience = 1000
/** Uses that may wait, and that are remembered as noted. */
const most = 10_000
/** How often a use is tried while others write the same client. */
const attempts = 10

export class SecretUses {
  readonly #store: Store
  readonly #log: Logger
  readonly #clock: Clock
  /** The secrets whose use in this hour was noted already. */
  readonly #noted = new Set<string>()
  #hour = 0
  /** By the digest of the secret. */
  readonly #waiting = new Map<string, Use>()
  #timer: NodeJS.Timeout | null = null
  /** The write that is under way. */
  #writing: Promise<void> | null = null
  /** Whether the last write failed: the log is told of an outage once. */
  #isFailing = false
  #isClosed = false

  constructor({ store, log, clock = systemClock }: SecretUsesOptions) {
    this.#store = store
    this.#log = log
    this.#clock = clock
  }

  /** Takes it that the client has just authenticated with this secret; never throws, and waits for nothing. */
  note({ account, id: client }: OAuthClient, { digest, lastUsedAt }: ClientSecret): void {
    const now = this.#clock.now()
    const hour = now - (now % hourLength)
    if (hour !== this.#hour || this.#noted.size >= most) this.#noted.clear()
    this.#hour = hour
    const isKnown = this.#noted.has(digest) || (lastUsedAt !== null && lastUsedAt >= hour)
    if (isKnown || this.#isClosed || this.#waiting.size >= most) return
    this.#noted.add(digest)
    this.#waiting.set(digest, { account, client, digest, hour })
    this.#attend()
  }

  /** Writes what waits, unless the store is unreachable; what comes after is forgotten. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#timer) clearTimeout(this.#timer)
    await this.#writing
    await this.#write()
    const lost = this.#waiting.size
    this.#waiting.clear()
    if (lost > 0) this.#log.warn({ lost }, 'last-used times of client secrets lost at shutdown')
  }

  #attend(): void {
    if (this.#waiting.size === 0 || this.#timer !== null || this.#writing !== null || this.#isClosed) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#writing = this.#write().then(() => {
        this.#writing = null
        this.#attend()
      })
    }, patience).unref()
  }

  async #write(): Promise<void> {
    for (const use of this.#waiting.values()) {
      if (!(await this.#keep(use))) break
      if (this.#waiting.get(use.digest) === use) this.#waiting.delete(use.digest)
    }
  }

  /** Keeps a use; false when the store is unreachable, which then gets it later. */
  async #keep(use: Use): Promise<boolean> {
    try {
      await this.#replace(use)
      if (this.#isFailing) this.#log.info('last-used times of client secrets written again')
      this.#isFailing = false
      return true
    } catch (failure) {
      if (!this.#isFailing)
        this.#log.warn({ err: failure }, 'writing last-used times of client secrets failed')
      this.#isFailing = true
      return !(failure instanceof StoreUnreachable)
    }
  }

  async #replace(use: Use): Promise<void> {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const kept = await this.#store.oauthClients.get(use.account, use.client)
      const used = kept && withUse(kept.record, use)
      if (!used || (await this.#store.oauthClients.replace(used, kept.version))) return
    }
  }
}

/** Null where there is nothing to write: the secret is gone, or another process has noted the hour. */
function withUse(client: OAuthClient, { digest, hour }: Use): OAuthClient | null {
  const used = client.secrets.find(secret => secret.digest === digest)
  if (used === undefined || (used.lastUsedAt !== null && used.lastUsedAt >= hour)) return null
  const secrets = client.secrets.map(secret => (secret === used ? { ...secret, lastUsedAt: hour } : secret))
  return { ...client, secrets }
}

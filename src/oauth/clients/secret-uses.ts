// When the secrets of OAuth clients were last used.

import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../log/log.ts'
import type { ClientSecret, OAuthClient } from '../../store/records/oauth-client.ts'
import type { Store } from '../../store/contract/store.ts'
import { LastUsedTimes } from '../../activity/last-used.ts'

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

/** Attempts to write a use while others write the same client. */
const attempts = 10

export class SecretUses {
  readonly #store: Store
  readonly #uses: LastUsedTimes<Use>

  constructor({ store, ...rest }: SecretUsesOptions) {
    this.#store = store
    const write = ([use]: readonly Use[]) => this.#replace(use!)
    this.#uses = new LastUsedTimes({ what: 'client secrets', write, atOnce: 1, ...rest })
  }

  /** Records that the client has just authenticated with this secret; never throws, and waits for nothing. */
  note({ account, id: client }: OAuthClient, { digest, lastUsedAt }: ClientSecret): void {
    const hour = this.#uses.hour()
    const isRecorded = lastUsedAt !== null && lastUsedAt >= hour
    if (!isRecorded && this.#uses.wants(digest)) this.#uses.note(digest, { account, client, digest, hour })
  }

  /** Writes the waiting uses, unless the store is unreachable; later uses are dropped. */
  close(): Promise<void> {
    return this.#uses.close()
  }

  async #replace(use: Use): Promise<void> {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const stored = await this.#store.oauthClients.get(use.account, use.client)
      const used = stored && withUse(stored.record, use)
      if (!used || (await this.#store.oauthClients.replace(used, stored.version))) return
    }
  }
}

/**
 * Returns null if there is nothing to write: the secret is gone, or another process has recorded the hour.
 */
function withUse(client: OAuthClient, { digest, hour }: Use): OAuthClient | null {
  const used = client.secrets.find(secret => secret.digest === digest)
  if (used === undefined || (used.lastUsedAt !== null && used.lastUsedAt >= hour)) return null
  const secrets = client.secrets.map(secret => (secret === used ? { ...secret, lastUsedAt: hour } : secret))
  return { ...client, secrets }
}

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

/** How often a use is tried while others write the same client. */
const attempts = 10

export class SecretUses {
  readonly #store: Store
  readonly #uses: LastUsedTimes<Use>

  constructor({ store, ...rest }: SecretUsesOptions) {
    this.#store = store
    const write = ([use]: readonly Use[]) => this.#replace(use!)
    this.#uses = new LastUsedTimes({ what: 'client secrets', write, atOnce: 1, ...rest })
  }

  /** Takes it that the client has just authenticated with this secret; never throws, and waits for nothing. */
  note({ account, id: client }: OAuthClient, { digest, lastUsedAt }: ClientSecret): void {
    const hour = this.#uses.hour()
    const isKept = lastUsedAt !== null && lastUsedAt >= hour
    if (!isKept && this.#uses.wants(digest)) this.#uses.note(digest, { account, client, digest, hour })
  }

  /** Writes what waits, unless the store is unreachable; what comes after is forgotten. */
  close(): Promise<void> {
    return this.#uses.close()
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

// What stands behind the management API beside the store: the keys of client secrets, and the watch over domains. One a gateway, in the process of the
// admin listener.

import type { Logger } from '../base/log.ts'
import type { Metrics } from '../base/metrics.ts'
import type { Config } from '../config/schema.ts'
import type { Store } from '../store/store.ts'
import type { SecretKeys } from '../clients/secret-keys.ts'
import { DomainWatch } from '../domains/domain-watch.ts'
import { TxtLookup } from '../domains/txt-lookup.ts'
import { loadSecretKeys } from './secret-keys-file.ts'
import { dataFolder } from './store-location.ts'

export class Management {
  readonly secrets: SecretKeys
  readonly #watch: DomainWatch

  private constructor(secrets: SecretKeys, { domains }: Config, store: Store, metrics: Metrics, log: Logger) {
    this.secrets = secrets
    this.#watch = new DomainWatch({
      store,
      lookup: new TxtLookup(domains),
      log,
      metrics: metrics.domainChecks,
    })
    this.#watch.start()
  }

  /** Reads the keys, or makes one; rejects with a sentence when that can't be done safely. */
  static async open(
    config: Config,
    store: Store,
    metrics: Metrics,
    log: Logger,
    folder = dataFolder(),
  ): Promise<Management> {
    const secrets = await loadSecretKeys(config.secrets, folder)
    if (config.secrets.key === null && !store.location.startsWith('sqlite:')) log.warn(ownKey)
    return new Management(secrets, config, store, metrics, log)
  }

  close(): Promise<void> {
    return this.#watch.close()
  }
}

const ownKey =
  'secrets.key is not set, so client secrets are made with a key in the data folder of this machine: others that share the store need the same one'

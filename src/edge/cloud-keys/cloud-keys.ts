// The keys that are made for providers; a new configuration keeps those of which nothing changed.

import type { Clock } from '../../base/clock.ts'
import { proxyTo } from '../../ai/providers/egress-proxy.ts'
import type { Provider } from '../../ai/providers/providers.ts'
import type { CloudIdentity } from '../../config/model/cloud-config.ts'
import type { AiConfig, ProviderConfig } from '../../config/model/config.ts'
import type { Logger } from '../../log/log.ts'
import { awsKey } from './aws.ts'
import { entraToken, managedIdentityToken } from './azure.ts'
import { metadataToken, serviceAccountToken } from './google.ts'
import { keyCalls, type SendKeyCall } from './key-call.ts'
import { MadeKey, type Minted } from './made-key.ts'

interface CloudKeysParts {
  readonly clock: Clock
  readonly log: Pick<Logger, 'info' | 'warn'>
}

export class CloudKeys {
  readonly #parts: CloudKeysParts
  /** By the name of the provider, with what the key is made from. */
  readonly #keys = new Map<string, { readonly from: string; readonly key: MadeKey }>()

  constructor(parts: CloudKeysParts) {
    this.#parts = parts
  }

  /** Returns the same key for each place of a provider; null if the configuration has its keys, or none. */
  of(
    { name, config }: Pick<Provider, 'name' | 'config'>,
    ai: Pick<AiConfig, 'proxy' | 'noProxy'>,
  ): MadeKey | null {
    if (config === null || config.identity === null) return null
    const { identity, proxy, tls } = config
    const from = JSON.stringify([identity, proxy, tls.ca, ai.proxy, ai.noProxy])
    const entry = this.#keys.get(name)
    if (entry?.from === from) return entry.key
    const key = this.#make(name, config, ai)
    this.#keys.set(name, { from, key })
    return key
  }

  #make(provider: string, config: ProviderConfig, ai: Pick<AiConfig, 'proxy' | 'noProxy'>): MadeKey {
    const { clock, log } = this.#parts
    const send = keyCalls({ ca: config.tls.ca, proxyTo: url => proxyTo(targetOf(url), config.proxy, ai) })
    const changed = (reason: string | null) => {
      if (reason === null) log.info({ provider }, 'provider key made again')
      else log.warn({ provider, reason }, 'provider key not made')
    }
    return new MadeKey({ clock, changed, mint: skew => mint(config.identity!, send, { clock, skew }) })
  }
}

function targetOf({ protocol, hostname, port }: URL) {
  const isSecure = protocol === 'https:'
  return {
    protocol: isSecure ? 'https' : 'http',
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || (isSecure ? 443 : 80),
  } as const
}

interface Time {
  readonly clock: Clock
  readonly skew: () => number
}

function mint(identity: CloudIdentity, send: SendKeyCall, time: Time): Promise<Minted> {
  const now = time.clock.now()
  switch (identity.by) {
    case 'entra':
      return entraToken(identity, send, now)
    case 'azure_machine':
      return managedIdentityToken(identity, send, now)
    case 'service_account':
      return serviceAccountToken(identity, send, now)
    case 'google_machine':
      return metadataToken(send, now)
    case 'aws_keys':
    case 'aws_role':
    case 'aws_machine':
      return awsKey(identity, send, time)
  }
}

// The provider of an account as the configuration would have it, but only at addresses that it may have.

import type { AiConfig, ProviderConfig } from '../../config/model/config.ts'
import { usualTransport } from '../../config/model/pool-config.ts'
import type { CustomProvider } from '../../store/records/custom-provider.ts'
import { usualTls } from './provider-origin.ts'

/** It is reached without a proxy, which would resolve its name and connect to any address. */
export function configOf(
  { id, url }: CustomProvider,
  { customNetworks }: Pick<AiConfig, 'customNetworks'>,
): ProviderConfig {
  return {
    name: `custom-${id}`,
    url,
    keys: [],
    keySources: [],
    keyVariables: [],
    speaks: 'openai',
    apis: null,
    models: null,
    resources: [],
    project: null,
    identity: null,
    streamUsage: null,
    tls: usualTls,
    transport: { ...usualTransport, addresses: 'public', networks: customNetworks },
    proxy: 'off',
  }
}

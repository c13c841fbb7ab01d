// A provider as the origin that connections need.

import type { AiConfig, OriginConfig } from '../../config/model/config.ts'
import { usualTransport } from '../../config/model/pool-config.ts'
import { proxyTo } from './egress-proxy.ts'
import type { Provider } from './providers.ts'

export function originOf({ base, config }: Pick<Provider, 'base' | 'config'>, ai: AiConfig): OriginConfig {
  const protocol = base.protocol === 'https:' ? 'https' : 'http'
  const host = base.hostname.replace(/^\[|\]$/g, '')
  const port = Number(base.port) || (protocol === 'https' ? 443 : 80)
  const proxy = proxyTo({ protocol, host, port }, config?.proxy ?? null, ai)
  const transport = { ...(config?.transport ?? usualTransport), proxy }
  return { url: base.origin, protocol, host, port, tls: config?.tls ?? usualTls, transport }
}

export const usualTls = { verify: true, serverName: null, ca: null, identity: null }

// Chooses the proxy to a provider.

import { isIP } from 'node:net'
import { AddressSet } from '../../net/address/address.ts'
import type { AiConfig, OriginConfig, ProviderConfig } from '../../config/model/config.ts'
import type { ProxyConfig, ProxyException } from '../../config/model/pool-config.ts'

/** A provider's own proxy serves any URL; the common one, like HTTPS_PROXY, https beyond loopback. */
export function proxyTo(
  provider: Pick<OriginConfig, 'protocol' | 'host' | 'port'>,
  own: ProviderConfig['proxy'],
  { proxy, noProxy }: Pick<AiConfig, 'proxy' | 'noProxy'>,
): ProxyConfig | null {
  if (own !== null) return own === 'off' ? null : own
  const isDirect = provider.protocol === 'http' || isOfLoopback(provider.host) || isExempt(provider, noProxy)
  return isDirect ? null : proxy
}

function isExempt(
  { host, port }: Pick<OriginConfig, 'host' | 'port'>,
  exceptions: readonly ProxyException[],
): boolean {
  return exceptions.some(one => (one.port === null || one.port === port) && covers(one.host, host))
}

function covers(exception: string, host: string): boolean {
  if (exception === '*') return true
  if (isIP(host) !== 0) return isAddress(exception) && new AddressSet([exception]).has(host)
  return exception.startsWith('.')
    ? host.endsWith(exception)
    : host === exception || host.endsWith(`.${exception}`)
}

function isAddress(exception: string): boolean {
  return isIP(exception.split('/', 1)[0]!) !== 0
}

const loopback = new AddressSet(['127.0.0.0/8', '::1'])

function isOfLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || loopback.has(host)
}

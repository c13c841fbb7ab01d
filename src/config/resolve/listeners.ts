// The listeners of the gateway, and which addresses conflict on any system.

import { isIPv6 } from 'node:net'
import type { Endpoint, Listener } from '../model/config.ts'
import type { Findings } from '../file/mistake.ts'
import { whereabouts } from '../shape/name-checks.ts'
import type { Settings } from '../settings/schema.ts'
import type { Placed } from '../shape/shape.ts'

/** Returns the listeners, and records each that conflicts with an earlier one. */
export function resolveListeners(
  { listen, admin, trusted_proxies }: Settings,
  findings: Findings,
): Listener[] {
  // A mistake in an address leaves a listener without one.
  const listeners = listen.flatMap(({ address, ...way }) => (address === null ? [] : [{ address, ...way }]))
  const endpoints = [...listeners.map(({ address }) => address), admin]
    .filter(({ value, path }) => value.port !== 0 && !findings.concern(path))
    .toSorted((a, b) => a.line - b.line)
  for (const [i, endpoint] of endpoints.entries()) {
    const first = endpoints.slice(0, i).find(other => overlap(endpoint.value, other.value))
    if (first !== undefined) findings.flaw(endpoint, `${relation(endpoint, first)}; ${rule}`)
  }
  for (const { proxy_protocol } of listeners)
    if (proxy_protocol.value && trusted_proxies.length === 0)
      findings.mistake(
        proxy_protocol,
        'a listener with proxy_protocol requires trusted_proxies: only they may announce a client',
      )
  for (const { tls, h2c } of listeners)
    if (tls.value && h2c.value)
      findings.flaw(h2c, 'is only for listeners without tls, which offer HTTP/2 in the handshake')
  return listeners.map(({ address, tls, proxy_protocol, h2c }) => ({
    ...address.value,
    tls: tls.value,
    ...(proxy_protocol.value && { proxyProtocol: true }),
    ...(h2c.value && { h2c: true }),
  }))
}

/** Whether a host stands for all addresses of this machine. */
export function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

const rule = 'each listener needs its own address'

function relation({ value }: Placed<Endpoint>, first: Placed<Endpoint>): string {
  const verb = value.host === first.value.host ? 'duplicates' : 'overlaps'
  return `${verb} ${whereabouts(first)}`
}

/** Whether a connection could be for either. */
function overlap(a: Endpoint, b: Endpoint): boolean {
  if (a.port !== b.port) return false
  return a.host === b.host || takes(a.host, b.host) || takes(b.host, a.host)
}

/** Whether the first accepts the second's connections: `::` includes IPv4, as localhost mostly is. */
function takes(all: string, one: string): boolean {
  if (all === '::') return true
  if (all === '0.0.0.0') return one === '::' || !isIPv6(one)
  return all === 'localhost' && one === '127.0.0.1'
}

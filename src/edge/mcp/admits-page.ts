// Whether a page that a browser shows may call an MCP server. A name of an attacker may lead here too (DNS
// rebinding), so the page must be of a host that the zone lists.

import { memoizeEach } from '../../base/memo.ts'
import type { ZoneConfig } from '../../config/model/config.ts'
import { hostName } from '../../http1/fields/host.ts'
import { HostLookup } from '../../zones/lookup.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { publicHost, publicOriginInZone } from '../exchange/public-origin.ts'

/** `origin` is as in Origin; `origins` are those that may call besides the site itself. */
export function admitsPage(x: Exchange, origins: readonly string[], origin: string): boolean {
  if (origins.includes(origin) || origins[0] === '*') return true
  const own = publicOriginInZone(x)
  if (own === null || URL.parse(own)?.origin !== origin) return false
  const host = hostName(publicHost(x) ?? '')
  return host !== null && hostsOf(x.zone!.config).find(host) !== null
}

const hostsOf = memoizeEach(({ hosts }: ZoneConfig) => new HostLookup(hosts.map(host => [host, host])))

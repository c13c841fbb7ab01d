// Warns of sites that share a host with the gateway's own pages. Cookies ignore ports, so a script of such a
// site can set the cookies of these pages.

import type { Findings } from '../file/mistake.ts'
import type { OriginSettings } from '../settings/pool-settings.ts'
import type { Settings } from '../settings/schema.ts'
import { isWildcard } from './listeners.ts'
import { publishedIssuer } from './publish.ts'

/** A host of our own pages that no zone serves, and its owner. */
interface OwnHost {
  readonly host: string
  readonly owner: string
}

/** Warns of each host that a zone shares with our pages; `publish` checks those on the edge. */
export function warnOfSharedHosts(settings: Settings, findings: Findings): void {
  const own = ownHosts(settings)
  for (const { value: zone } of settings.zones?.value ?? []) {
    if (!zone.routes.some(({ value: { pool } }) => pool !== null && leadsAway(settings, pool.value))) continue
    for (const name of zone.hosts) {
      const shared = own.find(({ host }) => covers(name.value, host))
      if (shared === undefined) continue
      findings.warn(
        name,
        `${shared.owner} has this host too, and scripts of the site can set cookies there: browsers do not tell ports apart; give the site a host of its own`,
      )
    }
  }
}

function ownHosts(settings: Settings): readonly OwnHost[] {
  const { admin, oauth } = settings
  const { host } = admin.value
  // A wildcard address is that of a container, published on loopback.
  const hosts = isWildcard(host) ? ['127.0.0.1', 'localhost', '::1'] : [host]
  const sidePort = hosts.map(one => ({ host: one, owner: 'the side port' }))
  const issuer = oauth.issuer?.value ?? null
  if (issuer === null || publishedIssuer(settings) !== null) return sidePort
  return [...sidePort, { host: new URL(issuer).hostname.replace(/^\[|\]$/g, ''), owner: 'oauth.issuer' }]
}

function covers(name: string, host: string): boolean {
  return name === host || (name.startsWith('*.') && host.endsWith(name.slice(1)))
}

/** Whether a pool has an origin other than the side port. */
function leadsAway({ pools, admin }: Settings, name: string): boolean {
  const { host, port } = admin.value
  const isSidePort = ({ url }: OriginSettings) => url?.host === host && url.port === port
  return pools.get(name)?.origins?.some(({ value }) => !isSidePort(value)) ?? false
}

// The sender of a request to the admin listener: the peer, or the client reported by the authenticated edge.

import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { canonicalAddress } from '../../net/address/address.ts'
import { nextRay } from '../../base/ids/ray.ts'
import type { SidePortAuth } from '../../net/http/side-port-auth.ts'
import { field, fieldId, tellsOfHop } from '../../http1/fields/fields.ts'
import { hostName } from '../../http1/fields/host.ts'

export interface Sender {
  readonly address: string | null
  readonly peer: string
  /** Without a proxy, ours included, and not from a page of a site that could read the response. */
  readonly isDirect: boolean
  /** Whether the edge of this gateway passed it on. */
  readonly isVouched: boolean
  /** Scheme and authority by which the client reaches the side port, in lower case; null if unknown. */
  readonly base: string | null
  /** Shown in `svc-ray`; the one of the edge, if that is authenticated. */
  readonly ray: string
}

export function senderOf(
  { headers, rawHeaders, socket }: IncomingMessage,
  sidePortAuth: SidePortAuth | null,
): Sender {
  const peer = canonicalAddress(socket.remoteAddress ?? '') ?? ''
  let isPassedOn = false
  const hops: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const id = fieldId(rawHeaders[at]!)
    if (tellsOfHop(id)) isPassedOn = true
    if (id === field.hop) hops.push(rawHeaders[at + 1]!)
  }
  if (!isPassedOn) {
    const { isDirect, base } = readHost(headers.host)
    return { address: peer, peer, isDirect, isVouched: false, base, ray: nextRay() }
  }
  const vouched = hops.length === 1 ? (sidePortAuth?.read(hops[0]!) ?? null) : null
  const caller = vouched ?? { address: null, ray: nextRay() }
  const isVouched = vouched !== null
  const { host, 'x-forwarded-host': forwardedHost, 'x-forwarded-proto': proto } = headers
  const base = isVouched ? baseOf(forwardedHost, proto) : baseOf(host)
  return { ...caller, peer, isDirect: false, isVouched, base }
}

/** Most requests in a row are for the same Host. */
let latestHost: string | undefined
let read = { isDirect: namesThisMachine(undefined), base: baseOf(undefined) }

function readHost(host: string | undefined): typeof read {
  if (host === latestHost) return read
  latestHost = host
  return (read = { isDirect: namesThisMachine(host), base: baseOf(host) })
}

function baseOf(host: string | string[] | undefined, proto: string | string[] = 'http'): string | null {
  if (typeof host !== 'string' || hostName(host) === null) return null
  return proto === 'http' || proto === 'https' ? `${proto}://${host.toLowerCase()}` : null
}

/** Other names may be sites whose pages could read what is served here (DNS rebinding). */
function namesThisMachine(host: string | undefined): boolean {
  if (host === undefined) return true
  const name = hostName(host)
  return name !== null && (isIP(name) !== 0 || name === 'localhost' || name.endsWith('.localhost'))
}

const via = 'via '

/** Returns the address for the audit log; `via ` and that of the proxy if the client is unknown. */
export function addressOf({ address, peer }: Sender): string {
  return address ?? via + peer
}

/** Finds the proxy in the result of `addressOf`; null for the address of a sender. */
export function proxyIn(address: string): string | null {
  return address.startsWith(via) ? address.slice(via.length) : null
}

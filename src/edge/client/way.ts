// The way that a request has come, as far as the word of trusted hops goes. Only one field is believed (`client_address`), and all that an origin is
// told agrees with it: a proxy that keeps up one of them mostly passes the others on as its client wrote them.

import { isIPv6 } from 'node:net'
import { ownText } from '../../base/text/own-text.ts'
import { type AddressSet, believedHops } from '../../base/address/address.ts'
import type { Config } from '../../config/config.ts'
import { type FieldId, field } from '../../http1/fields.ts'
import { parseForwarded } from '../../http1/forwarded.ts'
import type { RequestHead } from '../../http1/request-head.ts'

/** What trusted hops report of a request. */
export interface Way {
  /** Addresses from the peer on to the client. */
  readonly hops: readonly string[]
  /** How the client asked the first of the trusted hops, and for which host; null where no hop reports it. */
  readonly proto: string | null
  readonly host: string | null
}

/** The other end of the connection. */
interface Peer {
  readonly peer: string
  readonly node: string
  /** Null for plain HTTP. */
  readonly tls: unknown
}

/** A request as it arrived, and whom this gateway trusts. */
interface Arrival {
  readonly client: Peer
  readonly head: RequestHead
  readonly snapshot: { readonly trusted: AddressSet; readonly clientAddress: Config['clientAddress'] }
}

/** A request that goes on, and the way that it has come. */
interface Departure extends Arrival {
  readonly way: Way | null
  readonly outgoing: RequestHead
  readonly clientAddress: string
}

/** Finds the way of a request whose peer is trusted; null for a Forwarded that can't be read. */
export function wayOf({ client, head, snapshot }: Arrival): Way | null {
  const { trusted, clientAddress } = snapshot
  if (clientAddress === 'x-forwarded-for') {
    const hops = believedHops(client.peer, head.xForwardedFor, trusted)
    const proto = lastMember(last(head, field.xForwardedProto))
    return { hops, proto, host: lastMember(last(head, field.xForwardedHost)) }
  }
  const elements = parseForwarded(joined(head, field.forwarded) ?? '')
  if (elements === null) return null
  const nodes = elements.map(({ node }) => (node === null || !/^[^\s,]+$/.test(node) ? 'unknown' : node))
  const hops = believedHops(client.peer, nodes.join(), trusted)
  const said = hops.length === 1 ? null : elements[elements.length - hops.length + 1]!
  return { hops, proto: plain(said?.proto), host: plain(said?.host) }
}

/** Returns the scheme by which a client reached this gateway. */
export function schemeOf({ tls }: Pick<Peer, 'tls'>): 'http' | 'https' {
  return tls === null ? 'http' : 'https'
}

/** What an origin learns of a stranger who asks for a host. */
export interface StrangersLines {
  readonly host: string | null
  readonly text: string
}

/** A client whose connection has had requests before. */
interface Stranger extends Peer {
  readonly last: { strangersLines: StrangersLines | null }
}

/** Writes what an origin learns of a request from a stranger: nothing of what that claims. */
export function strangersLines({ client, head }: Arrival & { readonly client: Stranger }): string {
  const { last } = client
  if (last.strangersLines?.host !== head.host)
    last.strangersLines = { host: head.host, text: ownText(linesFor(client, head)) }
  return last.strangersLines!.text
}

function linesFor(client: Peer, head: RequestHead): string {
  return `X-Forwarded-For: ${client.peer}\r\nX-Forwarded-Proto: ${schemeOf(client)}\r\n${hostLine(head.host)}Forwarded: ${thisHop(client, head.host)}\r\n`
}

/** Writes what an origin learns of a request from a trusted hop: the field that is believed as it came, with that hop added to it, and the rest so that it agrees. */
export function trustedLines(x: Departure): string {
  const { client, head, snapshot } = x
  const way = x.way!
  const ours = thisHop(client, head.host)
  const scheme = schemeOf(client)
  const lines =
    snapshot.clientAddress === 'forwarded'
      ? `X-Forwarded-For: ${[...way.hops].reverse().join(', ')}\r\n` +
        `X-Forwarded-Proto: ${way.proto ?? scheme}\r\n` +
        hostLine(way.host ?? head.host) +
        `Forwarded: ${appended(joined(head, field.forwarded), ours)}\r\n`
      : `X-Forwarded-For: ${appended(head.xForwardedFor, client.peer)}\r\n` +
        `X-Forwarded-Proto: ${joined(head, field.xForwardedProto) ?? scheme}\r\n` +
        hostLine(joined(head, field.xForwardedHost) ?? head.host) +
        `Forwarded: ${[...elementsOf(way), ours].join(', ')}\r\n`
  return lines + claims(x)
}

/** Writes the other fields that only a trusted hop may send: each address as the one that is believed. */
function claims({ outgoing, snapshot, clientAddress }: Departure): string {
  const { fields, ids, hopByHop } = outgoing
  const believesOthers = snapshot.clientAddress === 'x-forwarded-for'
  let lines = ''
  for (let i = 0; i < ids.length; i++) {
    const name = fields[2 * i]!
    if (hopByHop?.has(name.toLowerCase())) continue
    const id = ids[i]
    if (id === field.clientAddress) lines += `${name}: ${clientAddress}\r\n`
    else if (id === field.otherTarget || (id === field.xForwarded && believesOthers))
      lines += `${name}: ${fields[2 * i + 1]}\r\n`
  }
  return lines
}

/** Writes the hops before the peer as elements of Forwarded (RFC 7239 section 4), the client first. */
function elementsOf({ hops, proto, host }: Way): readonly string[] {
  const elements = hops.slice(1).map(address => `for=${nodeOf(address)}`)
  if (elements.length === 0) return elements
  const ofClient = elements.length - 1
  if (plain(host) !== null) elements[ofClient] += `;host=${quoted(host!)}`
  if (plain(proto) !== null) elements[ofClient] += `;proto=${quoted(proto!)}`
  return elements.reverse()
}

/** Returns an address as a node of Forwarded (RFC 7239 section 6). */
export function nodeOf(address: string): string {
  return isIPv6(address) ? `"[${address}]"` : address
}

function thisHop(client: Peer, host: string | null): string {
  return `for=${client.node}${host === null ? '' : `;host=${quoted(host)}`};proto=${schemeOf(client)}`
}

/** Writes nothing for a client of HTTP/1.0 that named no host. */
function hostLine(host: string | null): string {
  return host === null ? '' : `X-Forwarded-Host: ${host}\r\n`
}

/** Joins the values of one field as received; null when it did not come. */
function joined({ fields, ids }: RequestHead, wanted: FieldId): string | null {
  let all: string | null = null
  for (let i = 0; i < ids.length; i++) if (ids[i] === wanted) all = appended(all, fields[2 * i + 1]!)
  return all
}

function last({ fields, ids }: RequestHead, wanted: FieldId): string | null {
  const i = ids.lastIndexOf(wanted)
  return i === -1 ? null : fields[2 * i + 1]!
}

/** Returns what the nearest hop has added to a list; null for nothing. What stands before it may be of a stranger. */
function lastMember(list: string | null): string | null {
  const member = list === null ? '' : list.slice(list.lastIndexOf(',') + 1).trim()
  return member === '' ? null : member
}

/** Returns a list with one more member. */
export function appended(list: string | null, value: string): string {
  return list === null || list === '' ? value : `${list}, ${value}`
}

function quoted(host: string): string {
  return host.includes(':') ? `"${host}"` : host
}

/** Returns a host or scheme as hops report it, null for what is neither. */
function plain(text: string | null = null): string | null {
  return text !== null && /^[\w.:[\]+-]+$/.test(text) ? text : null
}

// The path of a request as trusted hops report it. Only one field is believed (`client_address`), since a proxy that
// maintains one usually passes on the others as its client sent them. Every forwarding field is then written from that
// decision, never copied: a reader that picks another member of a list would otherwise believe a stranger.

import { isIPv6 } from 'node:net'
import { ownText } from '../../base/text/own-text.ts'
import { type AddressSet, believedHops, canonicalAddress } from '../../net/address/address.ts'
import type { Config } from '../../config/model/config.ts'
import { equalsIgnoreCase, type FieldId, field, isClaim } from '../../http1/fields/fields.ts'
import { parseForwarded } from '../../http1/fields/forwarded.ts'
import { hostName } from '../../http1/fields/host.ts'
import type { RequestHead } from '../../http1/heads/request-head.ts'

/** What trusted hops report of a request. */
export interface Forwarded {
  /** Addresses from the peer on to the client. */
  readonly hops: readonly string[]
  /** How the client asked the first of the trusted hops, and for which host, with the port; null where no hop reports it. */
  readonly proto: 'http' | 'https' | null
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
  readonly forwarded: Forwarded | null
  readonly outgoing: RequestHead
  readonly clientAddress: string
}

/** Finds the way of a request whose peer is trusted; null for a Forwarded that can't be read. */
export function forwardedOf({ client, head, snapshot }: Arrival): Forwarded | null {
  const { trusted, clientAddress } = snapshot
  if (clientAddress === 'x-forwarded-for') {
    const hops = believedHops(client.peer, head.xForwardedFor, trusted)
    const proto = protoOf(lastMember(last(head, field.xForwardedProto)))
    return { hops, proto, host: hostOf(lastMember(last(head, field.xForwardedHost))) }
  }
  const elements = parseForwarded(joined(head, field.forwarded) ?? '')
  if (elements === null) return null
  const nodes = elements.map(({ node }) => (node === null || !/^[^\s,]+$/.test(node) ? 'unknown' : node))
  const hops = believedHops(client.peer, nodes.join(), trusted)
  const said = hops.length === 1 ? null : elements[elements.length - hops.length + 1]!
  return { hops, proto: protoOf(said?.proto), host: hostOf(said?.host) }
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
  return `X-Forwarded-For: ${client.peer}\r\nX-Forwarded-Proto: ${schemeOf(client)}\r\n${hostLine(head.host)}Forwarded: ${element(client.node, head.host, schemeOf(client))}\r\n`
}

/** Writes what an origin learns of a request from a trusted hop: the client first, and then each hop that was believed. */
export function trustedLines(x: Departure): string {
  const { client, head } = x
  const forwarded = x.forwarded!
  return (
    `X-Forwarded-For: ${[...forwarded.hops].reverse().join(', ')}\r\n` +
    `X-Forwarded-Proto: ${forwarded.proto ?? schemeOf(client)}\r\n` +
    hostLine(forwarded.host ?? head.host) +
    `Forwarded: ${elementsOf(forwarded, client, head.host)}\r\n` +
    claims(x)
  )
}

/** Writes the other fields that only a trusted hop may send, each as it agrees with what was decided. */
function claims(x: Departure): string {
  const { fields, ids, hopByHop } = x.outgoing
  let lines = ''
  for (let i = 0; i < ids.length; i++) {
    const name = fields[2 * i]!
    if (hopByHop?.has(name.toLowerCase())) continue
    const id = ids[i]!
    if (id !== field.xForwarded && !isClaim(id)) continue
    const value = agreeing(x, id, name, fields[2 * i + 1]!)
    if (value !== null) lines += `${name}: ${value}\r\n`
  }
  return lines
}

/** Returns a value of such a field that agrees with what was decided; null where none does. */
function agreeing(x: Departure, id: FieldId, name: string, value: string): string | null {
  const { forwarded, client, snapshot, clientAddress, outgoing } = x
  const believesOthers = snapshot.clientAddress === 'x-forwarded-for'
  const scheme = forwarded!.proto ?? schemeOf(client)
  switch (id) {
    case field.clientAddress:
      return clientAddress
    case field.clientEndpoint:
      return canonicalAddress(value.slice(0, value.lastIndexOf(':'))) === clientAddress ? value : null
    case field.claimedScheme:
      // CF-Visitor is JSON.
      return value.startsWith('{') ? `{"scheme":"${scheme}"}` : scheme
    case field.claimedSecurity:
      return securityWord(value, scheme === 'https')
    case field.claimedPort:
      return believesOthers ? portOf(value, forwarded!.host) : null
    case field.claimedHost:
      return forwarded!.host ?? hostOf(value)
    case field.claimedCertificate:
      return hasOtherSpelling(outgoing, name) ? null : value
    case field.xForwarded:
      return believesOthers ? value : null
    default:
      return value
  }
}

const securityWords = [
  ['off', 'on'],
  ['false', 'true'],
  ['0', '1'],
  ['no', 'yes'],
] as const

/** Returns whether the client used https, in the words of the value that came; `on` or `off` for any other. */
function securityWord(value: string, isSecure: boolean): string {
  const came = value.toLowerCase()
  const pair = securityWords.find(words => words.some(word => word === came)) ?? securityWords[0]
  return pair[isSecure ? 1 : 0]
}

/** Returns the port of the host that was decided, or else the last that the field reports; null for none. */
function portOf(value: string, host: string | null): string | null {
  const ofHost = host === null ? null : /:(\d+)$/.exec(host.slice(host.indexOf(']') + 1))
  const port = ofHost === null ? lastMember(value) : ofHost[1]!
  return port !== null && /^\d{1,5}$/.test(port) && Number(port) > 0 && Number(port) < 65_536 ? port : null
}

/** Whether a field came under two spellings: the hop may have written one of them, and its client the other. */
function hasOtherSpelling({ fields, ids }: RequestHead, name: string): boolean {
  const spelling = name.toLowerCase()
  const read = asRead(spelling)
  return ids.some((id, i) => {
    if (id !== field.claimedCertificate) return false
    const other = fields[2 * i]!.toLowerCase()
    return other !== spelling && asRead(other) === read
  })
}

function asRead(name: string): string {
  return name.replaceAll(/[^a-z0-9]/g, '-')
}

/** Writes the hops and this one as elements of Forwarded (RFC 7239 section 4), the client first, with what was decided of it. */
function elementsOf({ hops, proto, host }: Forwarded, client: Peer, asked: string | null): string {
  const nodes = hops.slice(1).map(address => `for=${nodeOf(address)}`)
  if (nodes.length === 0) return element(client.node, host ?? asked, proto ?? schemeOf(client))
  const ofClient = nodes.length - 1
  if (host !== null) nodes[ofClient] += `;host=${quoted(host)}`
  if (proto !== null) nodes[ofClient] += `;proto=${proto}`
  return [...nodes.reverse(), element(client.node, asked, schemeOf(client))].join(', ')
}

/** Returns an address as a node of Forwarded (RFC 7239 section 6). */
export function nodeOf(address: string): string {
  return isIPv6(address) ? `"[${address}]"` : address
}

function element(node: string, host: string | null, proto: string): string {
  return `for=${node}${host === null ? '' : `;host=${quoted(host)}`};proto=${proto}`
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

/** Returns the scheme that a hop reports; http for what is none, which may do least. Some report `wss` of WebSocket handshakes. */
function protoOf(text: string | null = null): 'http' | 'https' | null {
  if (text === null) return null
  return equalsIgnoreCase(text, 'https') || equalsIgnoreCase(text, 'wss') ? 'https' : 'http'
}

/** Returns the host that a hop reports; null for what is none. */
function hostOf(text: string | null = null): string | null {
  return text !== null && hostName(text) !== null ? text : null
}

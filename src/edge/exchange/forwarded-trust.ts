// The path of a request as trusted hops report it in one field (`client_address`); a proxy passes on the
// others as its client sent them. Forwarding fields are written from that report, never copied.

import { isIPv6 } from 'node:net'
import { ownText } from '../../base/text/own-text.ts'
import { type AddressSet, believedHops, canonicalAddress } from '../../net/address/address.ts'
import type { Config } from '../../config/model/config.ts'
import { equalsIgnoreCase, type FieldId, field, isClaim } from '../../http1/fields/fields.ts'
import { parseForwarded } from '../../http1/fields/forwarded.ts'
import { hostName } from '../../http1/fields/host.ts'
import type { RequestHead } from '../../http1/heads/request-head.ts'
import { withoutOws } from '../../base/text/ows.ts'

export interface Forwarded {
  /** From the peer to the client. */
  readonly hops: readonly string[]
  /** As the client's request reached the first trusted hop, `host` with port. */
  readonly proto: 'http' | 'https' | null
  readonly host: string | null
}

interface Peer {
  readonly peer: string
  readonly node: string
  readonly tls: unknown
}

interface ReceivedRequest {
  readonly client: Peer
  readonly head: RequestHead
  readonly snapshot: { readonly trusted: AddressSet; readonly clientAddress: Config['clientAddress'] }
}

interface ForwardedRequest extends ReceivedRequest {
  readonly forwarded: Forwarded | null
  readonly outgoing: RequestHead
  readonly clientAddress: string
}

/** Null for a malformed Forwarded. */
export function forwardedOf({ client, head, snapshot }: ReceivedRequest): Forwarded | null {
  const { trusted, clientAddress } = snapshot
  if (clientAddress === 'x-forwarded-for') {
    const hops = believedHops(client.peer, head.xForwardedFor, trusted)
    const proto = protoOf(lastElement(last(head, field.xForwardedProto)))
    return { hops, proto, host: hostOf(lastElement(last(head, field.xForwardedHost))) }
  }
  const elements = parseForwarded(joined(head, field.forwarded) ?? '')
  if (elements === null) return null
  const nodes = elements.map(({ node }) => (node === null || !/^[^\s,]+$/.test(node) ? 'unknown' : node))
  const hops = believedHops(client.peer, nodes.join(), trusted)
  const reported = hops.length === 1 ? null : elements[elements.length - hops.length + 1]!
  return { hops, proto: protoOf(reported?.proto), host: hostOf(reported?.host) }
}

export function schemeOf({ tls }: Pick<Peer, 'tls'>): 'http' | 'https' {
  return tls === null ? 'http' : 'https'
}

export interface UntrustedLines {
  readonly host: string | null
  readonly text: string
}

interface UntrustedClient extends Peer {
  readonly last: { untrustedLines: UntrustedLines | null }
}

/** Writes the forwarding lines without any claim of the client. */
export function untrustedLines({
  client,
  head,
}: ReceivedRequest & { readonly client: UntrustedClient }): string {
  const { last } = client
  if (last.untrustedLines?.host !== head.host)
    last.untrustedLines = { host: head.host, text: ownText(linesFor(client, head)) }
  return last.untrustedLines!.text
}

function linesFor(client: Peer, head: RequestHead): string {
  return `X-Forwarded-For: ${client.peer}\r\nX-Forwarded-Proto: ${schemeOf(client)}\r\n${hostLine(head.host)}Forwarded: ${element(client.node, head.host, schemeOf(client))}\r\n`
}

/** First the client, then each believed hop. */
export function trustedLines(x: ForwardedRequest): string {
  const { client, head } = x
  const forwarded = x.forwarded!
  return (
    `X-Forwarded-For: ${[...forwarded.hops].reverse().join(', ')}\r\n` +
    `X-Forwarded-Proto: ${forwarded.proto ?? schemeOf(client)}\r\n` +
    hostLine(forwarded.host ?? head.host) +
    `Forwarded: ${elementsOf(forwarded, client, head.host)}\r\n` +
    otherClaims(x)
  )
}

/** Only a trusted hop may send them, and they agree with what was believed. */
function otherClaims(x: ForwardedRequest): string {
  const { fields, ids, hopByHop } = x.outgoing
  let lines = ''
  for (let i = 0; i < ids.length; i++) {
    const name = fields[2 * i]!
    if (hopByHop?.has(name.toLowerCase())) continue
    const id = ids[i]!
    if (id !== field.xForwarded && !isClaim(id)) continue
    const value = agreeingValue(x, id, name, fields[2 * i + 1]!)
    if (value !== null) lines += `${name}: ${value}\r\n`
  }
  return lines
}

function agreeingValue(x: ForwardedRequest, id: FieldId, name: string, value: string): string | null {
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

/** In the vocabulary of the received value. */
function securityWord(value: string, isSecure: boolean): string {
  const received = value.toLowerCase()
  const pair = securityWords.find(words => words.some(word => word === received)) ?? securityWords[0]
  return pair[isSecure ? 1 : 0]
}

function portOf(value: string, host: string | null): string | null {
  const hostPort = host === null ? null : /:(\d+)$/.exec(host.slice(host.indexOf(']') + 1))
  const port = hostPort === null ? lastElement(value) : hostPort[1]!
  return port !== null && /^\d{1,5}$/.test(port) && Number(port) > 0 && Number(port) < 65_536 ? port : null
}

/** The hop may have written one of them, and its client the other. */
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

/** RFC 7239 section 4; the client's first. */
function elementsOf({ hops, proto, host }: Forwarded, client: Peer, requestedHost: string | null): string {
  const nodes = hops.slice(1).map(address => `for=${nodeOf(address)}`)
  if (nodes.length === 0) return element(client.node, host ?? requestedHost, proto ?? schemeOf(client))
  const ofClient = nodes.length - 1
  if (host !== null) nodes[ofClient] += `;host=${quoted(host)}`
  if (proto !== null) nodes[ofClient] += `;proto=${proto}`
  return [...nodes.reverse(), element(client.node, requestedHost, schemeOf(client))].join(', ')
}

export function nodeOf(address: string): string {
  return isIPv6(address) ? `"[${address}]"` : address
}

function element(node: string, host: string | null, proto: string): string {
  return `for=${node}${host === null ? '' : `;host=${quoted(host)}`};proto=${proto}`
}

/** HTTP/1.0 clients may name no host. */
function hostLine(host: string | null): string {
  return host === null ? '' : `X-Forwarded-Host: ${host}\r\n`
}

function joined({ fields, ids }: RequestHead, id: FieldId): string | null {
  let all: string | null = null
  for (let i = 0; i < ids.length; i++) if (ids[i] === id) all = appended(all, fields[2 * i + 1]!)
  return all
}

function last({ fields, ids }: RequestHead, id: FieldId): string | null {
  const i = ids.lastIndexOf(id)
  return i === -1 ? null : fields[2 * i + 1]!
}

/** Only the nearest hop surely wrote the last element. */
function lastElement(list: string | null): string | null {
  const text = list === null ? '' : withoutOws(list.slice(list.lastIndexOf(',') + 1))
  return text === '' ? null : text
}

export function appended(list: string | null, value: string): string {
  return list === null || list === '' ? value : `${list}, ${value}`
}

function quoted(host: string): string {
  return host.includes(':') ? `"${host}"` : host
}

/** http grants the least. Some report `wss` for WebSocket handshakes. */
function protoOf(text: string | null = null): 'http' | 'https' | null {
  if (text === null) return null
  return equalsIgnoreCase(text, 'https') || equalsIgnoreCase(text, 'wss') ? 'https' : 'http'
}

function hostOf(text: string | null = null): string | null {
  return text !== null && hostName(text) !== null ? text : null
}

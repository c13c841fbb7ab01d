// The request as the origin gets it (RFC 9110 section 7.6).

import { field, listHas } from '../../http1/fields/fields.ts'
import type { RequestHead } from '../../http1/heads/request-head.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { certificateLines } from '../exchange/client-certificate.ts'
import { providerFields } from '../ai-call/outbound-call.ts'
import { type OutboundHead, OutboundRequest } from '../origin/outbound-head.ts'
import { isSidePort } from '../resolver/own-addresses.ts'
import { tracedLines, traceLines } from './trace-lines.ts'
import { appended, untrustedLines, trustedLines } from '../exchange/forwarded-trust.ts'

export function outboundHead(x: Exchange, address: string): OutboundHead {
  const { ai, ray } = x
  if (ai !== null) return { request: providerRequest(x, ai), ray }
  x.isToSidePort = isSidePort(x.plane.sidePort, address, x.origin!.config.port)
  return { request: x.isToSidePort || x.snapshot.tracing !== null ? requestOf(x) : repeatedRequest(x), ray }
}

/** What is written here of a head depends on its connection, and on what is compared. */
function repeatedRequest(x: Exchange): OutboundRequest {
  const { outgoing: head, route, origin, snapshot } = x
  const { last } = x.client
  const { outbound } = last
  if (outbound?.head === head && outbound.route === route && outbound.origin === origin)
    if (outbound.snapshot === snapshot) return outbound.request
  const request = requestOf(x)
  if (head.isRepeated) last.outbound = { head, route, origin, snapshot, request }
  return request
}

function requestOf(x: Exchange): OutboundRequest {
  const { outgoing: head } = x
  return new OutboundRequest({
    method: head.method,
    target: head.target,
    authority: hostFor(x),
    lines: `${x.snapshot.tracing === null ? head.crossing(x.isToSidePort) : tracedLines(x, x.snapshot.tracing)}${lengthLine(x)}${x.client.isTrusted ? trustedLines(x) : untrustedLines(x)}${x.client.tls === null ? '' : certificateLines(x)}${hops(x)}${x.isToSidePort ? vouching(x) : ''}`,
    isChunked: head.chunked,
    wantsUpgrade: x.upgrade !== 'none',
    takesTrailers: x.origin!.config.transport.http !== '1' && takesTrailers(head),
  })
}

/** A provider learns nothing of the client. */
function providerRequest(x: Exchange, ai: AiExchange): OutboundRequest {
  const { tracing } = x.snapshot
  return new OutboundRequest({
    method: x.head.method,
    target: ai.path,
    authority: x.origin!.authority,
    lines: `${providerFields(x.head, ai, x.client.last, ai.ring!, x.sentAt, tracing !== null)}${tracing === null ? '' : traceLines(x, tracing)}${lengthLine(x)}${hops(x)}`,
    isChunked: ai.body === null && x.outgoing.chunked,
    wantsUpgrade: x.upgrade !== 'none',
    takesTrailers: false,
  })
}

function hostFor(x: Exchange): string {
  const { host } = x.route!.config
  if (host === 'preserve' && x.head.host !== null) return x.head.host
  return typeof host === 'string' ? x.origin!.authority : host.name
}

function lengthLine({ outgoing: head, ai }: Exchange): string {
  if (ai !== null && ai.body !== null) return `Content-Length: ${ai.body.length}\r\n`
  return head.chunked || head.contentLength === -1 ? '' : `Content-Length: ${head.contentLength}\r\n`
}

function takesTrailers({ fields, ids }: RequestHead): boolean {
  const i = ids.indexOf(field.te)
  return i !== -1 && listHas(fields[2 * i + 1]!, 'trailers')
}

function vouching(x: Exchange): string {
  return `svc-hop: ${x.plane.sidePort!.auth.write({ address: x.clientAddress, ray: x.ray })}\r\n`
}

/** Via and CDN-Loop make loops visible, even from untrusted clients (RFC 8586, RFC 9110 section 7.6.3). */
function hops(x: Exchange): string {
  const { head, snapshot } = x
  if (head.via === null && head.cdnLoop === null && head.version === '1.1') return snapshot.hops
  const via = appended(head.via, `${head.version} ${snapshot.name}`)
  return `Via: ${via}\r\nCDN-Loop: ${appended(head.cdnLoop, snapshot.name)}\r\n`
}

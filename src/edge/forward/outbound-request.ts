// The request as the origin gets it (RFC 9110 section 7.6).

import { field, listHas } from '../../http1/fields/fields.ts'
import type { RequestHead } from '../../http1/heads/request-head.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { certificateLines } from '../exchange/client-certificate.ts'
import { providerFields } from '../ai-call/outbound-call.ts'
import type { OutboundHead } from '../origin/outbound-head.ts'
import { isSidePort } from '../resolver/own-addresses.ts'
import { tracedLines, traceLines } from './trace-lines.ts'
import { appended, untrustedLines, trustedLines } from '../exchange/forwarded-trust.ts'

export function outboundHead(x: Exchange, address: string): OutboundHead {
  const { outgoing: head, ai } = x
  if (ai !== null) return providerHead(x, ai)
  x.isToSidePort = isSidePort(x.plane.sidePort, address, x.origin!.config.port)
  return {
    method: head.method,
    target: head.target,
    authority: hostFor(x),
    lines: `${x.snapshot.tracing === null ? head.crossing(x.isToSidePort) : tracedLines(x, x.snapshot.tracing)}${lengthLine(x)}${x.client.isTrusted ? trustedLines(x) : untrustedLines(x)}${x.client.tls === null ? '' : certificateLines(x)}${hops(x)}${x.isToSidePort ? vouching(x) : ''}svc-ray: ${x.ray}\r\n`,
    isChunked: head.chunked,
    wantsUpgrade: x.upgrade !== 'none',
    takesTrailers: x.origin!.config.transport.http !== '1' && takesTrailers(head),
  }
}

/** A provider learns nothing of the client. */
function providerHead(x: Exchange, ai: AiExchange): OutboundHead {
  const { tracing } = x.snapshot
  return {
    method: x.head.method,
    target: ai.path,
    authority: x.origin!.authority,
    lines: `${providerFields(x.head, ai, x.client.last, ai.ring!, x.sentAt, tracing !== null)}${tracing === null ? '' : traceLines(x, tracing)}${lengthLine(x)}${hops(x)}svc-ray: ${x.ray}\r\n`,
    isChunked: ai.body === null && x.outgoing.chunked,
    wantsUpgrade: x.upgrade !== 'none',
    takesTrailers: false,
  }
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

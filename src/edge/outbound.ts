// The request as the origin will see it: one string, built from what the client sent less what ends at this hop, plus what a gateway must say of
// itself (RFC 9110 section 7.6). Called by `forward-http.ts`.
import { crossingLines, type FieldId, field } from '../http1/fields.ts'
import type { AiExchange } from './ai-exchange.ts'
import type { Exchange } from './exchange.ts'
import { providerFields } from './outbound-ai.ts'

/** Writes the head of the request to an origin, empty line included. */
export function outboundHead(x: Exchange): string {
  const { outgoing: head, ai } = x
  if (ai !== null) return providerHead(x, ai)
  return `${head.method} ${head.target} HTTP/1.1\r\nHost: ${hostFor(x)}\r\n${passedFields(x)}${framing(x)}${forwarding(x)}${hops(x)}svc-ray: ${x.ray}\r\n\r\n`
}

/** Tells a provider nothing of the client behind the gateway. */
function providerHead(x: Exchange, ai: AiExchange): string {
  return `${x.head.method} ${ai.path} HTTP/1.1\r\nHost: ${x.origin!.authority}\r\n${providerFields(x.head, ai, x.snapshot.ai!.routeTo(ai.provider!).keys)}${framing(x)}${upgrade(x)}${hops(x)}svc-ray: ${x.ray}\r\n\r\n`
}

function hostFor(x: Exchange): string {
  const { host } = x.route!.config
  if (host === 'preserve' && x.head.host !== null) return x.head.host
  return typeof host === 'string' ? x.origin!.authority : host.name
}

function passedFields(x: Exchange): string {
  return crossingLines(x.outgoing) + upgrade(x)
}

function upgrade(x: Exchange): string {
  return x.upgrade === 'none' ? '' : 'Connection: Upgrade\r\nUpgrade: websocket\r\n'
}

function framing({ outgoing: head, ai }: Exchange): string {
  if (ai !== null && ai.body !== null) return `Content-Length: ${ai.body.length}\r\n`
  if (head.chunked) return 'Transfer-Encoding: chunked\r\n'
  return head.contentLength === -1 ? '' : `Content-Length: ${head.contentLength}\r\n`
}

/** Writes who asked, for which host and how: the client's own word only from a trusted hop, which is then added to. */
function forwarding(x: Exchange): string {
  const { client, head } = x
  const forwarded = `for=${client.node}${head.host === null ? '' : `;host=${quoted(head.host)}`};proto=http`
  if (!client.isTrusted) {
    return `X-Forwarded-For: ${client.peer}\r\nX-Forwarded-Proto: http\r\n${forwardedHost(head.host)}Forwarded: ${forwarded}\r\n`
  }
  return (
    `X-Forwarded-For: ${appended(received(x, field.xForwardedFor), client.peer)}\r\n` +
    `X-Forwarded-Proto: ${received(x, field.xForwardedProto) ?? 'http'}\r\n` +
    forwardedHost(received(x, field.xForwardedHost) ?? head.host) +
    `Forwarded: ${appended(received(x, field.forwarded), forwarded)}\r\n`
  )
}

/** Writes nothing for a client of HTTP/1.0 that named no host. */
function forwardedHost(host: string | null): string {
  return host === null ? '' : `X-Forwarded-Host: ${host}\r\n`
}

/** Writes the hops so far and this one. These two are kept whoever sent them: they only make loops visible (RFC 8586, RFC 9110 section 7.6.3). */
function hops(x: Exchange): string {
  const { head, snapshot } = x
  if (head.via === null && head.cdnLoop === null && head.minor === 1) return snapshot.hops
  const via = appended(head.via, `1.${head.minor} ${snapshot.name}`)
  return `Via: ${via}\r\nCDN-Loop: ${appended(head.cdnLoop, snapshot.name)}\r\n`
}

/** Joins the values of one field as received; null when it did not come. */
function received(x: Exchange, wanted: FieldId): string | null {
  const { fields, ids } = x.head
  let joined: string | null = null
  for (let i = 0; i < ids.length; i++) if (ids[i] === wanted) joined = appended(joined, fields[2 * i + 1]!)
  return joined
}

function appended(list: string | null, value: string): string {
  return list === null || list === '' ? value : `${list}, ${value}`
}

function quoted(host: string): string {
  return host.includes(':') ? `"${host}"` : host
}

// What HTTP itself forbids, whatever the zone.

import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { equalsIgnoreCase, listHas } from '../../http1/fields/fields.ts'
import type { Exchange } from '../exchange/exchange.ts'

/**
 * Refuses plain HTTP to a TLS port (400), CONNECT (1045), TRACE (405), a malformed Forwarded from a trusted
 * hop (400) and unknown expectations (417). Ignores offers of protocols other than WebSocket (RFC 9110
 * section 7.8).
 */
export function examine(x: Exchange): Refusal | null {
  if (x.client.isPlaintextOnTls) return refuseMisplaced(x)
  const { method, upgrade, expect } = x.head
  if (method === 'CONNECT') {
    // What follows may not be HTTP.
    x.keepAlive = false
    return refuse('http_connect_not_supported')
  }
  // A trace would show the client the fields that the gateway adds (RFC 9110 section 9.3.8).
  if (method === 'TRACE') return refuse('method_not_allowed')
  if (upgrade !== null && asksForWebSocket(x)) x.upgrade = 'requested'
  if (x.client.isTrusted && x.forwarded === null) return refuse('bad_request')
  if (expect !== null && !equalsIgnoreCase(expect, '100-continue')) return refuse('expectation_failed')
  return null
}

function refuseMisplaced(x: Exchange): Refusal {
  x.keepAlive = false
  return misplaced
}

const misplaced = refuse('bad_request', {
  wording: {
    heading: 'This port expects https',
    detail: 'Your program sent a request in plain HTTP to a port of the gateway that expects TLS.',
    guidance: '**Do not retry.** Use the same URL with https in place of http.',
  },
})

/** RFC 6455 section 4.1. WebSocket may be one of several protocols that the client offers. */
function asksForWebSocket({ head, requestBody }: Exchange): boolean {
  if (head.method !== 'GET' || !requestBody.done || head.upgrade!.length > maxOfferLength) return false
  return listHas(head.upgrade!, 'websocket')
}

/** No honest client offers so many protocols. */
const maxOfferLength = 1024

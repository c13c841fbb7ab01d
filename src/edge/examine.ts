// Step 1: what HTTP itself refuses, whatever the zone.
import { type Refusal, refuse } from '../errors/refusal.ts'
import { equalsIgnoreCase } from '../http1/fields.ts'
import type { Exchange } from './exchange.ts'

/** Refuses CONNECT (1045), TRACE (405), protocols other than WebSocket (501) and expectations other than 100-continue (417). */
export function examine(x: Exchange): Refusal | null {
  const { method, upgrade, expect } = x.head
  if (method === 'CONNECT') return refuseProtocol(x, 'http_connect_not_supported')
  // A trace would show the client the fields that the gateway adds (RFC 9110 section 9.3.8).
  if (method === 'TRACE')
    return refuse('method_not_allowed', { allow: 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS' })
  if (upgrade !== null && !asksForWebSocket(x)) return refuseProtocol(x, 'not_implemented')
  if (expect !== null && !equalsIgnoreCase(expect, '100-continue')) return refuse('expectation_failed')
  return null
}

/** Marks a WebSocket handshake (RFC 6455 section 4.1): GET, HTTP/1.1, no body. */
function asksForWebSocket(x: Exchange): boolean {
  const { method, minor, upgrade } = x.head
  if (!equalsIgnoreCase(upgrade!, 'websocket')) return false
  if (method !== 'GET' || minor === 0 || !x.requestBody.done) return false
  x.upgrade = 'asked'
  return true
}

/** What follows a request for another protocol may be no HTTP. */
function refuseProtocol(x: Exchange, error: 'http_connect_not_supported' | 'not_implemented'): Refusal {
  x.keepAlive = false
  return refuse(error)
}

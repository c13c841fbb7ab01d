// The CONNECT request to a proxy (RFC 9110 section 9.3.6), and its response.

import type { OriginConfig } from '../../../config/model/config.ts'
import { type Failure, fault } from '../../../errors/catalogue/origin-failure.ts'

const maxHead = 16 * 1024
const headEnd = Buffer.from('\r\n\r\n')

/** Returns the request for a tunnel to an origin behind a proxy. */
export function tunnelRequest({
  host,
  port,
  transport,
}: Pick<OriginConfig, 'host' | 'port' | 'transport'>): string {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const { authorization } = transport.proxy!
  const credentials = authorization === null ? '' : `Proxy-Authorization: ${authorization}\r\n`
  return `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${credentials}\r\n`
}

/** Null if the tunnel is open, undefined while the response is incomplete. */
export function readTunnelResponse(bytes: Buffer): Failure | null | undefined {
  const end = bytes.indexOf(headEnd)
  if (end < 0) return bytes.length > maxHead ? fault('GH_BAD_PROXY') : undefined
  const [, status = ''] = /^HTTP\/1\.[01] (\d{3})(?: |\r\n|$)/.exec(bytes.toString('latin1', 0, end)) ?? []
  if (status === '') return fault('GH_BAD_PROXY')
  if (status === '407') return fault('GH_PROXY_AUTHENTICATION')
  if (!status.startsWith('2')) return fault('GH_PROXY_REFUSED')
  // The peer behind the tunnel must wait for the client to speak first.
  return bytes.length > end + headEnd.length ? fault('GH_BAD_PROXY') : null
}

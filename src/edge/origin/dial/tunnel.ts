// What is said to a proxy to get a tunnel (RFC 9110 section 9.3.6), and what it answers.

import type { OriginConfig } from '../../../config/model/config.ts'
import { type Failure, fault } from '../../../errors/catalogue/origin-failure.ts'

/** The most bytes of the head of a response. */
const longestHead = 16 * 1024
const headEnd = Buffer.from('\r\n\r\n')

/** Returns the request for a tunnel to an origin that has a proxy. */
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

/** Reads a response of which this much has come: null where the tunnel stands, else why it does not; undefined where more has to come. */
export function readTunnelResponse(bytes: Buffer): Failure | null | undefined {
  const end = bytes.indexOf(headEnd)
  if (end < 0) return bytes.length > longestHead ? fault('GH_BAD_PROXY') : undefined
  const [, status = ''] = /^HTTP\/1\.[01] (\d{3})(?: |\r\n|$)/.exec(bytes.toString('latin1', 0, end)) ?? []
  if (status === '') return fault('GH_BAD_PROXY')
  if (status === '407') return fault('GH_PROXY_AUTHENTICATION')
  if (!status.startsWith('2')) return fault('GH_PROXY_REFUSED')
  // The peer behind the tunnel waits for us: what comes before we speak is of nobody.
  return bytes.length > end + headEnd.length ? fault('GH_BAD_PROXY') : null
}

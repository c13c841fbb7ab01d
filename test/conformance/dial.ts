// Connections to what is tried, with TLS and without.

import { connect, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'

/** Where a server listens. */
export interface Address {
  readonly port: number
  readonly tls: boolean
  /** The address of loopback to connect from: servers count by address. */
  readonly from: string
}

/** Connects, and offers protocols by ALPN; `secureConnect` follows `connect` on a socket with TLS. */
export function dial(
  { port, tls, from }: Address,
  offered: readonly string[],
  allowHalfOpen = false,
): Socket | TLSSocket {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from, noDelay: true, allowHalfOpen })
  if (!tls) return socket
  const names = { servername: 'site.test', rejectUnauthorized: false }
  return connectTls({ socket, ALPNProtocols: [...offered], ...names })
}

/** Resolves once the server has served, or refused, a request on a connection of its own; rejects after a minute. */
export function awake(address: Address): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const socket = dial({ ...address, from: '127.0.0.1' }, ['http/1.1'])
  socket
    .on('error', () => {})
    .on('data', resolve)
    .on('close', resolve)
  socket.setTimeout(60_000, () => reject(new Error('the server takes no request')))
  socket.write('GET /0/ HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\n\r\n')
  return promise.finally(() => socket.destroy())
}

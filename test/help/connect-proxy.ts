// A real proxy that takes CONNECT requests, and nothing else.

import { createServer as createPlain, type IncomingMessage, type Server } from 'node:http'
import { createServer as createSecure } from 'node:https'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TestContext } from 'node:test'
import type { ProxyConfig } from '../../src/config/model/pool-config.ts'

interface Asked {
  readonly authority: string
  readonly authorization: string | undefined
}

export interface ConnectProxy {
  readonly config: ProxyConfig
  readonly asked: readonly Asked[]
}

interface Conduct {
  /** By which it speaks TLS. */
  readonly certificate?: { readonly cert: string; readonly key: string }
  /** What it sends in place of opening a tunnel. */
  readonly answer?: string
  /** Where every tunnel leads, whatever was asked for. */
  readonly port?: number
}

/** Starts one on loopback, until the test ends. */
export async function startConnectProxy(
  t: TestContext,
  { certificate, answer, port }: Conduct = {},
): Promise<ConnectProxy> {
  const asked: Asked[] = []
  const sockets = new Set<Duplex>()
  const tunnel = (request: IncomingMessage, client: Duplex) => {
    asked.push({ authority: request.url!, authorization: request.headers['proxy-authorization'] })
    sockets.add(client)
    client.on('error', () => {})
    if (answer !== undefined) return void client.end(answer)
    const origin = connect(port ?? Number(/\d+$/.exec(request.url!)![0]), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\nX-Proxy: one\r\n\r\n')
      origin.pipe(client)
      client.pipe(origin)
    })
    sockets.add(origin)
    origin.on('error', () => client.destroy())
    origin.on('close', () => client.destroy())
    client.on('close', () => origin.destroy())
  }
  const server: Server = certificate ? createSecure(certificate) : createPlain()
  server.on('connect', tunnel).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port: own } = server.address() as AddressInfo
  const protocol = certificate ? 'https' : 'http'
  return {
    asked,
    config: { protocol, host: '127.0.0.1', port: own, authorization: null, ca: certificate?.cert ?? null },
  }
}

// The origin behind what is tried: each path is a behaviour.

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

const counts = new Map<string, number>()

const behaviours: Readonly<
  Record<string, (request: IncomingMessage, response: ServerResponse, rest: string) => unknown>
> = {
  '': (request, response) => {
    request.resume()
    response.setHeader('Content-Type', 'text/plain')
    response.end('hello')
  },
  /** Sends the body back. */
  echo: async (request, response) => response.end(await bodyOf(request)),
  /** Tells what came. */
  seen: async (request, response) => {
    const { length } = await bodyOf(request)
    const { method, url, rawHeaders: fields, rawTrailers: trailers } = request
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({ method, url, fields, trailers, length }))
  },
  bytes: (_, response, count) => response.end(Buffer.alloc(Number(count), 'x')),
  status: (_, response, status) => response.writeHead(Number(status)).end(),
  hold: () => {},
  later: (_, response) => setTimeout(() => response.end('later'), 30),
  /** Fields that HTTP/2 has no place for. */
  fields: (_, response) => {
    response.setHeader('Connection', 'keep-alive, X-Hop')
    response.setHeader('Keep-Alive', 'timeout=30')
    response.setHeader('X-Hop', '1')
    response.setHeader('X-MIXED-Case', '1')
    response.end('hello')
  },
  interim: (_, response) => {
    response.writeEarlyHints({ link: '</a.css>; rel=preload' })
    response.end('hello')
  },
  trailers: (_, response) => {
    response.setHeader('Trailer', 'X-Late')
    response.write('hello')
    response.addTrailers({ 'X-Late': '1' })
    response.end()
  },
  /** Says that more comes, and ends. */
  cut: (_, response) => {
    response.writeHead(200, { 'Content-Length': '100' })
    response.write('x')
    setTimeout(() => response.destroy(), 10)
  },
  /** Counts how often it was called by this name. */
  count: (_, response, name) => {
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    response.end(String(count))
  },
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  return Buffer.concat(await request.toArray())
}

/** RFC 6455 section 4.2.2. */
function acceptOf(key: string): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
}

/** Starts the origin on loopback; the process must end it. */
export async function startOrigin(): Promise<{ readonly port: number; close(): void }> {
  const server: Server = createServer(
    { keepAliveTimeout: 60_000, maxHeaderSize: 65_536 },
    (request, response) => {
      request.on('error', () => {})
      response.on('error', () => {})
      const [, name = '', rest = ''] = /^\/?(\w*)\/?([^?]*)/.exec(request.url!)!
      const behave = behaviours[name] ?? behaviours['']!
      void Promise.resolve(behave(request, response, rest)).catch(() => response.destroy())
    },
  )
  // A WebSocket whose other end sends all bytes back.
  server.on('upgrade', ({ headers }: IncomingMessage, socket: Socket, first: Buffer) => {
    socket.on('error', () => {})
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${acceptOf(headers['sec-websocket-key'] ?? '')}\r\n\r\n`,
    )
    socket.write(first)
    socket.pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

// What Gatehouse needs of node:http, without an import: an import reads every exported name, among them
// WebSocket, and so loads all of undici, which costs each process 4 MiB and a tenth of its start.

import type { ClientRequest, Server } from 'node:http'
import type { Socket } from 'node:net'

const { Agent, createServer, request, STATUS_CODES } = process.getBuiltinModule('node:http')

export { Agent, createServer, request, STATUS_CODES }

/**
 * How long the rest of a body is read and dropped after a last response, in ms: without a byte, and in all.
 */
const linger = 2_000
const maxLinger = 30_000

/**
 * Makes a server read the rest of a body after the last response of a connection. Node closes at once, and
 * the reset for the unread bytes destroys the response at the client.
 */
export function lingerBehindResponses(server: Server): void {
  server.prependListener('request', request => {
    const { 'content-length': length, 'transfer-encoding': coding } = request.headers
    if (length === undefined && coding === undefined) return
    const socket = request.socket as Socket
    socket.destroySoon = () => {
      Reflect.deleteProperty(socket, 'destroySoon')
      if (request.complete) socket.destroySoon()
      else lingerOn(socket)
    }
  })
}

function lingerOn(socket: Socket): void {
  socket.end()
  let seen = socket.bytesRead
  let left = maxLinger / linger
  const timer = setInterval(() => {
    if (socket.bytesRead === seen || --left === 0) socket.destroy()
    seen = socket.bytesRead
  }, linger).unref()
  socket.once('close', () => clearInterval(timer))
}

/**
 * Calls `failed` if a request gets no response. A response that switches protocols is neither a response nor
 * an error to Node, and the request would never end.
 */
export function whenFailed(sent: ClientRequest, failed: (cause: Error) => void): void {
  sent.on('error', failed)
  sent.once('upgrade', (_, socket) => {
    socket.destroy()
    failed(new Error('the response switches protocols'))
  })
}

// Replaces an import of node:http, which would load undici: 4 MiB and a tenth of each start.

import type { ClientRequest, Server } from 'node:http'
import type { Socket } from 'node:net'

const { Agent, createServer, request, STATUS_CODES } = process.getBuiltinModule('node:http')

export { Agent, createServer, request, STATUS_CODES }

/** Ms for the rest of a body after a last response: without a byte, and in all. */
const linger = 2_000
const maxLinger = 30_000

/** Node closes at once, and the reset for the unread bytes destroys the response at the client. */
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

/** Calls `failed` also for a response that switches protocols, which Node ignores. */
export function whenFailed(sent: ClientRequest, failed: (cause: Error) => void): void {
  sent.on('error', failed)
  sent.once('upgrade', (_, socket) => {
    socket.destroy()
    failed(new Error('the response switches protocols'))
  })
}

// What Gatehouse needs of node:http, taken without an import: one reads every name of it, among them WebSocket, and so loads all of undici,
// which costs each process 4 MiB and a tenth of its start.

import type { ClientRequest } from 'node:http'

const { Agent, createServer, request, STATUS_CODES } = process.getBuiltinModule('node:http')

export { Agent, createServer, request, STATUS_CODES }

/** Calls `failed` where a request gets no response. One that switches protocols is neither a response nor an error to Node, and the request would never end. */
export function whenFailed(sent: ClientRequest, failed: (cause: Error) => void): void {
  sent.on('error', failed)
  sent.once('upgrade', (_, socket) => {
    socket.destroy()
    failed(new Error('the response switches protocols'))
  })
}

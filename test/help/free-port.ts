// Ports for what goes down and comes back where it was. The system gives a port of its own choice, once let go, to the next that asks, in this process or in another;
// these are below those that it chooses from, and claimed until the process ends.

import { randomInt } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** The first port that Linux chooses from; macOS and Windows begin above it. */
export const systemPorts = 32_768

/** Above the ports of known services. */
const lowest = 20_000

/** What tells other processes that a port is claimed; the system ends it with this one. */
const claims: Socket[] = []

/** Returns a TCP port on which nothing listens, and that is given to nobody else while this process lives. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(lowest, systemPorts)
    if ((await isDone(claim(port))) && (await isDone(listenOnce(port)))) return port
  }
}

/** Takes the UDP port of the same number, which only one process can have. */
async function claim(port: number): Promise<void> {
  const socket = createSocket('udp4').unref()
  try {
    socket.bind({ port, address: '127.0.0.1', exclusive: true })
    await once(socket, 'listening')
    claims.push(socket)
  } catch (error) {
    socket.close()
    throw error
  }
}

/** Listens at every address for a moment. */
async function listenOnce(port: number): Promise<void> {
  const server = createServer().listen(port, '0.0.0.0')
  await once(server, 'listening')
  await once(server.close(), 'close')
}

/** Whether the port was to be had; rejects where something else is wrong than that others have it. */
async function isDone(work: Promise<void>): Promise<boolean> {
  try {
    await work
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    return false
  }
}

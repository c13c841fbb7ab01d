// Ports for what goes down and comes back where it was. The system gives a port of its own choice, once let go, to the next that asks, in this process or in another;
// these are below those that it chooses from, and claimed until the process ends.

import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { randomInt } from 'node:crypto'

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
    if ((await claim(port)) && (await isFree(port))) return port
  }
}

/** Takes the UDP port of the same number, which only one process can have. */
async function claim(port: number): Promise<boolean> {
  const socket = createSocket('udp4').unref()
  socket.bind({ port, address: '127.0.0.1', exclusive: true })
  const isClaimed = await once(socket, 'listening').then(
    () => true,
    () => false,
  )
  if (isClaimed) claims.push(socket)
  else socket.close()
  return isClaimed
}

/** Whether nothing listens on the port, at any address. */
async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '0.0.0.0')
  return once(server, 'listening').then(
    async () => {
      await once(server.close(), 'close')
      return true
    },
    () => false,
  )
}

// Describes the failure of a listening socket as a sentence for the operator.

import { once } from 'node:events'
import { createServer, isIPv6 } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Endpoint } from '../../config/config.ts'
import { dataFolder } from '../store/location.ts'

/** Ms between two checks whether an address is free. */
const pause = 50

/** Node's errors for a socket that cannot listen, or a name without an address. */
interface ListenError extends NodeJS.ErrnoException {
  readonly address?: string
  readonly port?: number
  readonly hostname?: string
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the address is already in use',
  EADDRNOTAVAIL: 'this machine does not have this address',
  EACCES: 'permission denied for this port',
  ENOTFOUND: 'the name does not resolve',
  EAI_AGAIN: 'the name does not resolve at the moment',
  ENOTSUP: 'this system cannot share a port between workers',
}

/** Turns the error of a listening socket into one whose message is a sentence; other errors are returned as they are. */
export function listenFailure(cause: unknown): unknown {
  if (!(cause instanceof Error)) return cause
  const { code = '', address, port, hostname } = cause as ListenError
  const reason = reasons[code]
  const where = address === undefined ? hostname : `${isIPv6(address) ? `[${address}]` : address}:${port}`
  if (!reason || where === undefined) return cause
  return new Error(`cannot listen on ${where}: ${reason}`, { cause })
}

/** Whether another process listens there already. */
export function isInUse(cause: unknown): boolean {
  return (cause as NodeJS.ErrnoException).code === 'EADDRINUSE'
}

/** Returns the sentence for a side port that was not handed over. */
export function noneToReplace(cause: unknown): Error {
  const { message } = listenFailure(cause) as Error
  return new Error(`${message}; --replace found no gateway there with the data folder ${dataFolder()}`, {
    cause,
  })
}

/** Rejects when another process listens there, and still does after `patience` ms: where ports are shared, the kernel would not report it. */
export async function assertFree(endpoint: Endpoint, patience = 0): Promise<void> {
  for (const begun = performance.now(); ; await wait(pause)) {
    try {
      return await probe(endpoint)
    } catch (cause) {
      if (!isInUse(cause) || performance.now() - begun >= patience) throw listenFailure(cause)
    }
  }
}

async function probe(endpoint: Endpoint): Promise<void> {
  const server = createServer()
  server.listen({ ...endpoint })
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}

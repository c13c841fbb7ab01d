// What went wrong with a listening socket, as a sentence for the operator.

import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Endpoint } from '../config/config.ts'

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the address is already in use',
  EADDRNOTAVAIL: 'this machine does not have the address',
  EACCES: 'this user may not listen on the port',
  ENOTFOUND: 'the name does not resolve',
  ENOTSUP: 'this system cannot share a port between workers',
}

/** Turns the error of a listening socket into one whose message is a sentence; what is no such error is returned as it is. */
export function listenFailure(cause: unknown): unknown {
  if (!(cause instanceof Error)) return cause
  const { code = '', address, port } = cause as NodeJS.ErrnoException & { address?: string; port?: number }
  const reason = reasons[code]
  if (!reason || address === undefined) return cause
  return new Error(`cannot listen on ${address}:${port}: ${reason}`, { cause })
}

/** Rejects when somebody listens there already: where ports are shared, the kernel would not say so. */
export async function assertFree(endpoint: Endpoint): Promise<void> {
  const probe = createServer()
  try {
    probe.listen({ ...endpoint })
    await once(probe, 'listening')
  } catch (cause) {
    throw listenFailure(cause)
  }
  probe.close()
  await once(probe, 'close')
}

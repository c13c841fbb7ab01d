// A server of https on a free port of loopback, for webhooks and what else is called by us.

import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { TlsIdentity } from '../../src/config/model/config.ts'

/** Also counts its connections. */
export async function startHttps(
  t: TestContext,
  { certificate: cert, key }: TlsIdentity,
  handle: NonNullable<Parameters<typeof createServer>[1]>,
): Promise<{ readonly port: number; connections(): number }> {
  const server = createServer({ cert, key }, handle)
  let connections = 0
  server.on('connection', () => connections++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  t.after(() => server.closeAllConnections())
  const { port } = server.address() as AddressInfo
  return { port, connections: () => connections }
}

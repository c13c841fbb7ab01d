// The queue of a listening socket, as the system shows it (proc_net_tcp(5)).

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'

/** Asserts that so many clients can wait to be accepted from a port of 127.0.0.1. */
export async function assertQueues(port: number, count: number): Promise<void> {
  const clients = Array.from({ length: count }, () => connect({ host: '127.0.0.1', port }))
  // All of them connect before this process gets to accept the first.
  await new Promise(resolve => process.nextTick(resolve))
  for (let looks = 0; looks < 100 && queued(port) < count; looks++) {}
  const found = queued(port)
  for (const client of clients) client.destroy()
  assert.equal(found, count)
}

/** Counts the connections that wait to be accepted: the receive queue of a socket that listens. */
function queued(port: number): number {
  const address = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')} 00000000:0000 0A`
  const row = readFileSync('/proc/net/tcp', 'latin1').split(address)[1]!
  return Number.parseInt(row.slice(10), 16)
}

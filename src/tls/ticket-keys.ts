// The keys that seal the sessions that clients resume (RFC 5077 section 4). OpenSSL knows one at a time.

import { randomBytes } from 'node:crypto'
import type { SecureContext } from 'node:tls'

/** Bytes of a key: its name, one for HMAC and one for AES. */
const keyLength = 48
const nameLength = 16

/** Ms for which a session can be resumed, from its full handshake: a ticket is not renewed. */
export const sessionLifetime = 2 * 3_600_000

/** Keys as they are passed between processes. */
export interface TicketKeySet {
  readonly current: Uint8Array
  /** Open tickets of previous keys, and of processes whose clocks are ahead. */
  readonly others: readonly Uint8Array[]
}

export class TicketKeys {
  readonly #current: Buffer
  readonly #others: readonly Buffer[]

  constructor({ current, others }: TicketKeySet = { current: newTicketKey(), others: [] }) {
    this.#current = Buffer.from(current)
    this.#others = others.map(key => Buffer.from(key))
  }

  applyTo(context: SecureContext): void {
    setKey(context, this.#current)
  }

  /** Begins a handshake. While its hello is read, the context has the key that sealed its ticket. */
  during<T>(context: SecureContext, ticket: Buffer | null, begin: () => T): T {
    const key = ticket === null ? undefined : this.#others.find(other => isOf(ticket, other))
    if (key === undefined) return begin()
    // Node passes on bytes that were already read in the next tick, so that the hello is read between these
    // two.
    process.nextTick(setKey, context, key)
    try {
      return begin()
    } finally {
      process.nextTick(setKey, context, this.#current)
    }
  }
}

export function newTicketKey(): Buffer {
  return randomBytes(keyLength)
}

function isOf(ticket: Buffer, key: Buffer): boolean {
  return ticket.length > nameLength && ticket.compare(key, 0, nameLength, 0, nameLength) === 0
}

/** Sets the key of a context without a server, as `Server.setTicketKeys` does. */
function setKey({ context }: SecureContext, key: Buffer): void {
  context.setTicketKeys(key)
}

// How much TLS may have to do for a client beside what HTTP has.

import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { TlsPace } from '../../../src/edge/client/tls-pace.ts'

test('what TLS has for a client that does not read is bounded, beside what HTTP has for it', () => {
  const transport = { bytesRead: 0 }
  const handle = { writeQueueSize: 0 }
  const socket = { bytesRead: 0, writableLength: 0, _handle: handle }
  const pace = new TlsPace(socket as unknown as Socket, transport as Socket)
  const look = (writableLength: number, writeQueueSize: number) => {
    transport.bytesRead += 1_000
    socket.bytesRead += 1
    socket.writableLength = writableLength
    handle.writeQueueSize = writeQueueSize
    return pace.isFlooded()
  }
  assert.equal(look(0, 0), false)
  assert.equal(look(8_000_000, 8_100_000), false)
  assert.equal(look(0, 256 * 1024), false)
  assert.equal(look(0, 256 * 1024 + 1), true)
  assert.equal(look(1_000_000, 2_300_000), true)
})

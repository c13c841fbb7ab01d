// How much TLS may have to do for a client beside what HTTP has.

import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { TlsPace } from '../../../../src/edge/client/pace/tls-pace.ts'

test('output buffered by TLS for a client that does not read is bounded, in addition to that of HTTP', () => {
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

test('a flood counts behind data that came before the same look, and small records do not', () => {
  const most = 256 * 1024
  const flooded = (looks: readonly (readonly [received: number, data: number])[]) => {
    const transport = { bytesRead: 0 }
    const socket = { bytesRead: 0, writableLength: 0 }
    const pace = new TlsPace(socket as unknown as Socket, transport as Socket)
    return looks.map(([received, data]) => {
      transport.bytesRead += received
      socket.bytesRead += data
      return pace.isFlooded()
    })
  }
  assert.deepEqual(flooded([[60 * 256 + most, 60]]), [false])
  assert.deepEqual(flooded([[60 * 256 + most + 1, 60]]), [true])
  assert.deepEqual(
    flooded([
      [60 * 256 + most, 60],
      [1, 0],
    ]),
    [false, true],
  )
  assert.deepEqual(
    flooded([
      [60 * 256 + most, 60],
      [100, 1],
      [most, 0],
    ]),
    [false, false, false],
  )
  assert.deepEqual(
    flooded([
      [39 * 1_000_000, 1_000_000],
      [most, 0],
      [1, 0],
    ]),
    [false, false, true],
  )
})

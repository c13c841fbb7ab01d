import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ListeningSocket } from '../../../src/net/socket/listening-socket.ts'
import type { SocketPlace } from '../../../src/process/workers/messages.ts'
import { type Acceptor, SharedSockets } from '../../../src/process/workers/shared-sockets.ts'

function socket(listener: number, slot: number, isAlone = false): ListeningSocket {
  return { listener, slot, isAlone, handle: { fd: -1, close() {} } }
}

const nameOf = ({ listener, slot }: SocketPlace) => `${listener}/${slot}`

/** A worker that keeps note of what it accepts from. */
class Worker implements Acceptor {
  readonly slot: number
  readonly accepts: Set<string>

  constructor(slot: number, sockets: SharedSockets) {
    this.slot = slot
    this.accepts = new Set(sockets.of(slot).map(nameOf))
  }

  adopt(socket: ListeningSocket): void {
    assert.ok(!this.accepts.has(nameOf(socket)))
    this.accepts.add(nameOf(socket))
  }

  release(place: SocketPlace): void {
    assert.ok(this.accepts.delete(nameOf(place)))
  }
}

test('each worker has its own sockets, several where there are more than workers', () => {
  const sockets = new SharedSockets(
    2,
    [0, 1, 2].map(slot => socket(0, slot)),
  )
  assert.deepEqual(
    [0, 1].map(slot => sockets.of(slot).map(nameOf)),
    [['0/0', '0/2'], ['0/1']],
  )
})

test('a worker without a socket binds one, unless nobody else can share the address', () => {
  const sockets = new SharedSockets(3, [socket(0, 0), socket(1, 0, true)])
  assert.deepEqual(
    [0, 1, 2].map(slot => sockets.of(slot).map(nameOf)),
    [['0/0', '1/0'], ['1/0'], ['1/0']],
  )
})

test('while any worker is up, every socket is accepted from, by its own worker where that is up and by one other at most', () => {
  const event = fc.record({ slot: fc.nat({ max: 3 }), isUp: fc.boolean() })
  const property = (
    workers: number,
    slots: number,
    isAlone: boolean,
    events: readonly { slot: number; isUp: boolean }[],
  ) => {
    const sockets = new SharedSockets(
      workers,
      Array.from({ length: slots }, (_, slot) => socket(0, slot, isAlone)),
    )
    const up = new Map<number, Worker>()
    for (const { slot, isUp } of events.filter(({ slot }) => slot < workers)) {
      if (!isUp) up.delete(slot)
      else if (!up.has(slot)) up.set(slot, new Worker(slot, sockets))
      sockets.cover([...up.values()])
      if (up.size === 0) continue
      for (const one of sockets.all) {
        const own = [...up.values()].filter(({ slot }) => sockets.of(slot).includes(one))
        const accepting = [...up.values()].filter(({ accepts }) => accepts.has(nameOf(one)))
        if (own.length > 0) assert.deepEqual(accepting, own)
        else assert.equal(accepting.length, 1)
      }
    }
  }
  const slots = fc.integer({ min: 1, max: 6 })
  fc.assert(fc.property(fc.integer({ min: 1, max: 4 }), slots, fc.boolean(), fc.array(event), property))
})

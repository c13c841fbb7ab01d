// What responses on their way take of memory, whoever follows them, and however they end.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Answer, AnswerHead } from '../../src/answers/answer.ts'
import { AnswerRoom } from '../../src/answers/answer-room.ts'
import { Flight, type Follower } from '../../src/answers/flight.ts'

const place = { account: 'a', gateway: 'g', key: 'k' }
const head: AnswerHead = {
  ...{ status: 200, reason: 'OK', fields: [] },
  ...{ contentType: 'text/plain', isEventStream: false, isEncoded: false },
}
const answer: Answer = {
  ...{ head, use: { tokensIn: null, tokensOut: null, cost: null } },
  ...{ storedAt: 0, expiresAt: 1, body: Buffer.alloc(5_000, 'x') },
}

class Reader implements Follower {
  at = 0
  text = ''
  isReading = true
  hasFailed = false
  readonly #flight: Flight

  constructor(flight: Flight) {
    this.#flight = flight
    flight.follow(this)
  }

  moved(): void {
    while (this.isReading) {
      const piece = this.#flight.piece(this.at)
      if (piece === null) break
      this.text += piece.toString()
      this.at++
    }
    this.#flight.progressed()
  }

  failed(): void {
    this.hasFailed = true
    this.#flight.leave(this)
  }
}

type Act = readonly [what: 'push' | 'follow' | 'leave' | 'pause' | 'read', size: number]

const acts: fc.Arbitrary<readonly Act[]> = fc.array(
  fc.tuple(fc.constantFrom('push', 'push', 'follow', 'leave', 'pause', 'read'), fc.nat(400)),
  { maxLength: 60 },
)

test('all readers get all bytes, and nothing is left in the room in the end', () => {
  fc.assert(
    fc.property(acts, fc.constantFrom('end', 'fail', 'land'), fc.nat(9_000), (acts, end, max) => {
      const room = new AnswerRoom(max)
      const flight = new Flight(place, 2_000, room, () => {})
      const readers = new Set<Reader>()
      let sent = ''
      if (end !== 'land') flight.begin(head)
      for (const [what, size] of acts) {
        const some = [...readers][size % Math.max(1, readers.size)]
        if (what === 'push' && end !== 'land') {
          sent += 'y'.repeat(size)
          flight.push(Buffer.alloc(size, 'y'))
        } else if (what === 'follow' && flight.isWhole) {
          const reader = new Reader(flight)
          readers.add(reader)
          reader.moved()
        } else if (some !== undefined && what === 'leave') {
          flight.leave(some)
          readers.delete(some)
        } else if (some !== undefined && what !== 'push') {
          some.isReading = what === 'read'
          some.moved()
        }
        assert.ok(room.bytes >= flight.size)
      }
      const whole = end === 'land' ? answer.body.toString() : sent
      if (end === 'end') flight.end()
      else if (end === 'fail') flight.fail(false)
      else flight.land(answer)
      for (const reader of readers) {
        reader.isReading = true
        reader.moved()
        if (end === 'fail') assert.ok(reader.hasFailed)
        else assert.equal(reader.text, whole)
        flight.leave(reader)
      }
      assert.equal(room.bytes, 0)
    }),
  )
})

test('a response that nobody follows is kept up to its bound, and to that of the room', () => {
  for (const [max, size, pieces, isWhole] of [
    [1_000_000, 1_000, 10, true],
    [1_000_000, 1_001, 10, false],
    [11_000, 1_000, 10, true],
    [10_000, 1_000, 10, false],
    [100_000_000, 0, 100_000, true],
    [100_000_000, 0, 100_001, false],
  ] as const) {
    const room = new AnswerRoom(max)
    const flight = new Flight(place, 10_000, room, () => {})
    flight.begin(head)
    for (let i = 0; i < pieces; i++) flight.push(Buffer.alloc(size))
    assert.equal(flight.isWhole, isWhole, `${max} ${size} ${pieces}`)
    assert.equal(room.bytes > 0, isWhole)
    flight.end()
    assert.equal(room.bytes, 0)
  }
})

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

test('a call pauses while a reader is more than a MiB behind what is kept, and goes on once it is not', () => {
  const flight = new Flight(place, 10, new AnswerRoom(), () => {})
  let resumed = 0
  flight.resume = () => resumed++
  flight.begin(head)
  const reader = new Reader(flight)
  reader.isReading = false
  assert.equal(flight.push(Buffer.alloc(10)), true)
  assert.equal(flight.isWhole, true)
  assert.equal(flight.push(Buffer.alloc(2 ** 20 - 10)), true)
  assert.equal(flight.isWhole, false)
  assert.equal(flight.push(Buffer.alloc(1)), false)
  reader.moved()
  assert.equal(resumed, 0)
  reader.isReading = true
  reader.moved()
  assert.deepEqual([resumed, flight.size, reader.text.length], [1, 0, 2 ** 20 + 1])
  reader.moved()
  assert.equal(resumed, 1)
})

test('that nobody follows any more is told once for each last reader, before the end alone', () => {
  const flight = new Flight(place, 10, new AnswerRoom(), () => {})
  let empty = 0
  flight.onEmpty = () => empty++
  const [one, other] = [new Reader(flight), new Reader(flight)]
  flight.leave(one)
  assert.deepEqual([empty, flight.isFollowed], [0, true])
  flight.leave(other)
  flight.leave(other)
  assert.deepEqual([empty, flight.isFollowed], [1, false])
  const last = new Reader(flight)
  flight.end()
  flight.leave(last)
  assert.equal(empty, 1)
})

test('a call is over once, and readers are told whether the next one may have it', () => {
  for (const mayJoin of [true, false]) {
    let over = 0
    const flight = new Flight(place, 10, new AnswerRoom(), () => over++)
    const told: unknown[] = []
    flight.follow({ at: 0, moved: () => told.push('moved'), failed: mayJoin => told.push(mayJoin) })
    flight.begin(head)
    flight.fail(mayJoin)
    flight.end()
    flight.fail(!mayJoin)
    assert.deepEqual([told, over, flight.state, flight.isOver], [['moved', mayJoin], 1, 'failed', true])
  }
})

test('a small piece does not keep all that was read with it', () => {
  const flight = new Flight(place, 2 ** 20, new AnswerRoom(), () => {})
  const read = Buffer.from(new ArrayBuffer(1_000))
  for (const size of [249, 250]) flight.push(read.subarray(0, size))
  assert.deepEqual(
    [0, 1].map(i => flight.piece(i)!.buffer === read.buffer),
    [false, true],
  )
})

test('a response that was stored is a call that has ended, in pieces', () => {
  const room = new AnswerRoom()
  for (const pieces of [2, 3, 1]) {
    const flight = Flight.of(answer, Math.ceil(answer.body.length / pieces), room)
    assert.deepEqual([flight.head, flight.use, flight.storedAt], [answer.head, answer.use, answer.storedAt])
    assert.deepEqual([flight.state, flight.isOver, flight.size], ['ended', true, answer.body.length])
    assert.deepEqual(flight.body, answer.body)
    assert.deepEqual([flight.piece(pieces - 1) === null, flight.piece(pieces)], [false, null])
    assert.equal(room.bytes, 0)
    const reader = new Reader(flight)
    assert.ok(room.bytes > answer.body.length, 'while somebody reads it, it counts')
    flight.leave(reader)
    assert.equal(room.bytes, 0)
  }
})

test('a call has what is told of it, and tells its readers of each change', () => {
  for (const lands of [false, true]) {
    const over: Flight[] = []
    const flight = new Flight(place, 10_000, new AnswerRoom(), one => over.push(one))
    assert.deepEqual([flight.isHeld, flight.isPersistent, flight.state], [false, false, 'waiting'])
    let moves = 0
    flight.follow({ at: 0, moved: () => moves++, failed: () => assert.fail('it failed') })
    if (lands) flight.land({ ...answer, storedAt: 7 })
    else {
      flight.begin(head)
      assert.deepEqual([flight.head, flight.state, moves], [head, 'begun', 1])
      flight.push(Buffer.from('a'))
      assert.equal(moves, 2)
      flight.end()
    }
    assert.deepEqual([flight.place, flight.head, flight.state], [place, head, 'ended'])
    assert.deepEqual([over, moves], [[flight], lands ? 1 : 3])
    assert.deepEqual([flight.storedAt, flight.use], lands ? [7, answer.use] : [null, null])
    assert.equal(flight.size, lands ? answer.body.length : 1)
  }
})

test('what is too large to keep reaches readers all the same, the slower one, too', () => {
  const flight = new Flight(place, 10, new AnswerRoom(), () => {})
  flight.begin(head)
  const [fast, slow] = [new Reader(flight), new Reader(flight)]
  const push = (text: string) => flight.push(Buffer.from(text))
  for (const text of ['0123456789', 'ab']) push(text)
  slow.isReading = false
  for (const text of ['cd', 'ef', 'gh']) push(text)
  assert.deepEqual([fast.text, flight.size], ['0123456789abcdefgh', 6])
  slow.isReading = true
  push('ij')
  assert.deepEqual([slow.text, fast.text], [fast.text, '0123456789abcdefghij'])
  assert.equal(flight.size, 0)
})

test('a call goes on when the reader that was behind leaves, or is a MiB behind and no more', () => {
  for (const leaves of [false, true]) {
    const flight = new Flight(place, 10, new AnswerRoom(), () => {})
    flight.begin(head)
    const [reader, other] = [new Reader(flight), new Reader(flight)]
    reader.isReading = false
    assert.equal(flight.push(Buffer.alloc(1)), true)
    assert.equal(flight.push(Buffer.alloc(2 ** 20)), false)
    // Nobody waits for it, so far.
    if (!leaves) flight.progressed()
    let resumed = 0
    flight.resume = () => resumed++
    if (leaves) flight.leave(reader)
    else {
      reader.at = 1
      flight.progressed()
    }
    assert.deepEqual([resumed, flight.size], [1, leaves ? 0 : 2 ** 20])
    flight.leave(other)
  }
})

test('a call that nobody resumes goes on without a word', () => {
  const flight = new Flight(place, 10, new AnswerRoom(), () => {})
  flight.begin(head)
  const reader = new Reader(flight)
  reader.isReading = false
  assert.equal(flight.push(Buffer.alloc(2 ** 20 + 1)), false)
  flight.leave(reader)
  assert.equal(flight.size, 0)
})

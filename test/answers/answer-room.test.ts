import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AnswerRoom } from '../../src/answers/answer-room.ts'

test('from half of its bytes on no call begins, and from all on nothing is kept', () => {
  for (const [room, max] of [
    [new AnswerRoom(1_000), 1_000],
    [new AnswerRoom(), 256 * 1024 * 1024],
  ] as const) {
    const at = (bytes: number) => {
      room.bytes = bytes
      return [room.isTight, room.isFull]
    }
    assert.deepEqual(
      [at(max / 2 - 1), at(max / 2)],
      [
        [false, false],
        [true, false],
      ],
    )
    assert.deepEqual(
      [at(max - 1), at(max)],
      [
        [true, false],
        [true, true],
      ],
    )
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ClosedStreams } from '../../../src/http2/server/closed-streams.ts'

test('the ends of the last 256 streams are known, and of no others', () => {
  const closed = new ClosedStreams()
  const ends = ['ended', 'reset', 'reset_by_us'] as const
  const endOf = (i: number) => ends[i % 3]!
  for (let i = 0; i < 600; i++) {
    closed.add(2 * i + 1, endOf(i))
    assert.equal(closed.endOf(2 * i + 1), endOf(i))
    if (i >= 255) assert.equal(closed.endOf(2 * (i - 255) + 1), endOf(i - 255))
    if (i >= 256) assert.equal(closed.endOf(2 * (i - 256) + 1), null)
  }
  assert.equal(closed.endOf(9_999), null)
})

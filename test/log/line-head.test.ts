import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isoTime, lineHead } from '../../src/log/line-head.ts'

test('a time is that of Date, in whichever order times come', () => {
  const times = fc.array(fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }))
  const near = fc.array(fc.integer({ min: 1_767_323_040_000, max: 1_767_323_045_000 }))
  fc.assert(
    fc.property(fc.oneof(times, near), times => {
      for (const time of times) assert.equal(isoTime(time), new Date(time).toISOString())
    }),
  )
})

test('a line begins with the level and the time, in either form', () => {
  const time = Date.UTC(2026, 0, 2, 3, 4, 5, 6)
  assert.equal(lineHead('info', time, false), '{"level":"info","time":"2026-01-02T03:04:05.006Z"')
  assert.equal(lineHead('warn', time, false), '{"level":"warn","time":"2026-01-02T03:04:05.006Z"')
  assert.equal(lineHead('info', time, true), '{"level":30,"time":1767323045006')
  assert.equal(lineHead('warn', time, true), '{"level":40,"time":1767323045006')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { EventStream } from '../../../src/edge/exchange/event-stream.ts'

/** Gives what stands before a last event, after these runs of bytes. */
function openingAfter(...runs: string[]): string {
  const stream = new EventStream(false)
  for (const run of runs) stream.note(Buffer.from(run, 'latin1'))
  return stream.opening
}

test('a last event needs nothing before it where a line has ended', () => {
  for (const runs of [
    [],
    ['data: 1\n\n'],
    ['data: 1\n'],
    ['data: 1\r\n'],
    ['data: 1\r'],
    ['data: 1', '\n'],
    ['x', '\r', '\n'],
  ])
    assert.equal(openingAfter(...runs), '', JSON.stringify(runs))
})

test('a line that was cut is ended first', () => {
  for (const runs of [
    ['data: 1'],
    ['data: 1\n\ndata:'],
    ['data: 1\n', 'd'],
    ['data: 1\r\n', 'd'],
    ['x'.repeat(10), 'a'],
  ])
    assert.equal(openingAfter(...runs), '\n', JSON.stringify(runs))
})

test('a piece of a name becomes an event of its own, without data', () => {
  for (const runs of [
    ['d'],
    ['d', '', 'a'],
    ['data'],
    ['data: 1\n', '\ndata'],
    ['data: 1\r\n\r\nevent'],
    ['1\r\rid'],
  ])
    assert.equal(openingAfter(...runs), '.\n\n', JSON.stringify(runs))
})

test('what precedes a last event is the same however the bytes before it are cut', () => {
  const text = fc.array(fc.constantFrom('\n', '\n', '\r', 'da', ':x'), { maxLength: 12 })
  fc.assert(
    fc.property(text, fc.array(fc.nat({ max: 24 }), { maxLength: 4 }), (letters, cuts) => {
      const whole = letters.join('')
      const borders = [0, ...cuts.sort((a, b) => a - b), whole.length]
      const runs = borders.slice(1).map((border, i) => whole.slice(borders[i], border))
      assert.equal(openingAfter(...runs), openingAfter(...whole), JSON.stringify(runs))
    }),
    { numRuns: 2000 },
  )
})

/** Gives the number of a last event, after these runs of bytes. */
function sequenceAfter(runs: readonly string[], isNumbered = true): number {
  const stream = new EventStream(false, isNumbered)
  for (const run of runs) stream.note(Buffer.from(run, 'latin1'))
  return stream.sequence
}

test('a last event has the number after that of the last one, however the bytes are cut', () => {
  const text = [
    'data: {"type":"a","sequence_number":8}\n\n',
    'data: {"type":"b", "sequence_number" : 9, "delta":"\\"sequence_number\\":77"}\n\n',
    'data: {"type":"c","sequence_number":10,"delta":"x"}\n\n',
  ].join('')
  for (let at = 0; at <= text.length; at++)
    assert.equal(sequenceAfter([text.slice(0, at), text.slice(at)]), 11, `${at}`)
  assert.equal(sequenceAfter([...text]), 11)
  assert.equal(sequenceAfter(['data: {}\n\n']), 0)
  assert.equal(sequenceAfter([text], false), 0)
})

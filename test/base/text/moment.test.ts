import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseMoment } from '../../../src/base/text/moment.ts'

test('a moment is read with its offset and its fractions', () => {
  assert.equal(parseMoment('1970-01-01T00:00:01Z'), 1_000)
  assert.equal(parseMoment('1970-01-01T01:00:00.5+01:00'), 500)
})

test('a day is a moment only where it may be', () => {
  assert.equal(parseMoment('1970-01-02'), null)
  assert.equal(parseMoment('1970-01-02', { allowsDay: true }), 86_400_000)
})

test('impossible dates and times are refused', () => {
  const days = [
    '2026-02-29',
    '2026-02-31',
    '2026-04-31',
    '2026-13-01',
    '2026-00-01',
    '2026-01-00',
    '2026-01-32',
  ]
  for (const day of days) {
    assert.equal(parseMoment(day, { allowsDay: true }), null, day)
    assert.equal(parseMoment(`${day}T00:00:00Z`), null, day)
  }
  assert.notEqual(parseMoment('2028-02-29', { allowsDay: true }), null)
  for (const text of [
    '',
    'yesterday',
    '2026-01-01T25:00:00Z',
    '2026-01-01T00:00:00',
    '2026-1-1',
    ' 2026-01-01',
  ])
    assert.equal(parseMoment(text), null, text)
})

test('every moment is read as it was written, and no text makes it throw', () => {
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }), date => {
      assert.equal(parseMoment(date.toISOString()), date.getTime())
    }),
  )
  fc.assert(fc.property(fc.string(), text => void parseMoment(text, { allowsDay: true })))
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LogThrottle } from '../../src/log/log-throttle.ts'
import { createLogger } from '../../src/log/log.ts'
import { ManualClock } from '../help/clock.ts'

test('a warning is logged at once, then once a minute with how often it was due, and others do not wait for it', () => {
  const clock = new ManualClock()
  const lines: object[] = []
  const write = (line: string) => {
    const { msg, what, count } = JSON.parse(line)
    lines.push({ msg, what, count })
  }
  const throttle = new LogThrottle(createLogger('warn', { write }), clock)
  const warn = (key: string) => throttle.warn(key, { what: key }, 'it happened')
  warn('one')
  warn('one')
  clock.advance(59_999)
  warn('one')
  warn('two')
  clock.advance(1)
  warn('one')
  warn('one')
  assert.deepEqual(lines, [
    { msg: 'it happened', what: 'one', count: 1 },
    { msg: 'it happened', what: 'two', count: 1 },
    { msg: 'it happened', what: 'one', count: 3 },
  ])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger } from '../../src/log/log.ts'

/** Collects what is written to a log; `lines` parses it. */
function collect() {
  const written: string[] = []
  const destination = { write: (line: string) => written.push(line) }
  return { destination, written, lines: () => written.map(line => JSON.parse(line)) }
}

test('levels and times are names and ISO 8601, or numbers', t => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_700_000_000_007 })
  for (const isNumeric of [false, true]) {
    const { destination, lines } = collect()
    const log = createLogger('debug', destination, isNumeric)
    for (const level of ['debug', 'info', 'warn', 'error', 'fatal'] as const) log[level]('m')
    log.child({ part: 'one' }).warn('m')
    const at = isNumeric ? 1_700_000_000_007 : '2023-11-14T22:13:20.007Z'
    const levels = isNumeric ? [20, 30, 40, 50, 60, 40] : ['debug', 'info', 'warn', 'error', 'fatal', 'warn']
    assert.deepEqual(
      lines().map(({ level, time }) => [level, time]),
      levels.map(level => [level, at]),
    )
  }
})

test('terminal control characters are escaped', () => {
  const steering = '\u007f\u009b2J\u0085\u202e'
  const { destination, written } = collect()
  createLogger('info', destination).info({ name: steering }, steering)
  assert.equal(written.join('').split(String.raw`\u007f\u009b2J\u0085\u202e`).length, 3)
  assert.doesNotMatch(written.join(''), /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/)
})

test('the logger writes message, code and stack of an error, and nothing else that it carries', () => {
  const { destination, lines } = collect()
  const bug = Object.assign(new Error('broken'), { code: 'EBUG', request: { headers: { cookie: 'hush' } } })
  createLogger('info', destination).error({ err: bug }, 'a bug')
  createLogger('info', destination).debug('too quiet')
  const [line, ...more] = lines()
  assert.equal(more.length, 0)
  const { err, ...rest } = line as { err: Record<string, string>; msg: string; level: number }
  assert.equal(rest.msg, 'a bug')
  assert.deepEqual(Object.keys(err), ['type', 'message', 'stack', 'code'])
  assert.equal(JSON.stringify(line).includes('hush'), false)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createLogger } from '../../src/log/log.ts'
import { readable } from '../../src/log/readable.ts'
import { anyCharacter } from '../help/any-text.ts'
import { thorough } from '../help/thorough.ts'

/** Returns what a line of the log is at a terminal, without its time. */
function shown(fields: object, msg: string, hasColours = false): string {
  let text = ''
  createLogger('debug', { write: line => (text += readable(line, hasColours)) }).warn(fields, msg)
  return withoutColours(text)
    .replace(/^\d\d:\d\d:\d\d\.\d{3} /, '')
    .replace(` pid=${process.pid}`, '')
}

function withoutColours(text: string): string {
  return text.replace(/\u001b\[\d+m/g, '')
}

test('a line has level, message and fields, without empty ones', () => {
  const fields = { status: 521, host: 'a.example', error: null, phases: { connect: 1.5 }, aborted: false }
  const line = 'WARN  what happened status=521 host=a.example phases={"connect":1.5} aborted=false\n'
  assert.equal(shown(fields, 'what happened'), line)
})

test('the time is local wall-clock time', () => {
  const at = new Date(2026, 0, 2, 3, 4, 5, 6)
  const text = '03:04:05.006 DEBUG m\n'
  for (const head of [`"level":20,"time":${at.getTime()}`, `"level":"debug","time":"${at.toISOString()}"`])
    assert.equal(readable(`{${head},"msg":"m"}\n`, false), text)
})

test('a text that could be taken for anything else is quoted', () => {
  for (const text of ['', 'a b', 'a=b', '"a"', 'a\\b', 'é', '\u200b', 'a\nb'])
    assert.match(shown({ text }, 'm'), /^WARN {2}m text="[^\n]*"\n$/, text)
})

test('an error is shown with its code, and its stack below the line', () => {
  const err = Object.assign(new Error('one\n00:00:00.000 FATAL two'), { code: 'EACCES' })
  const [line, ...rest] = shown({ err }, 'm').split('\n')
  assert.equal(line, 'WARN  m')
  assert.deepEqual(rest.slice(0, 2), ['    Error: one', '    00:00:00.000 FATAL two'])
  assert.deepEqual(rest.slice(-2), ['    (EACCES)', ''])
  assert.ok(rest.slice(0, -1).every(frame => frame.startsWith('    ')))
  assert.match(shown({ stack: 'at f (x.js:1:2)' }, 'm'), /^WARN {2}m\n {4}at f \(x\.js:1:2\)\n$/)
})

test('with colours, only our own sequences are added', () => {
  const line = '{"level":40,"time":0,"a":"\\u001b[31m","msg":"\\u001b[2J"}\n'
  const coloured = readable(line, true)
  assert.match(coloured, /\u001b\[33mWARN \u001b\[39m \\u\{1b\}\[2J /)
  assert.equal(withoutColours(coloured), readable(line, false))
})

test('whatever is logged stays in its line and field, and cannot control the terminal', () => {
  const text = fc.oneof(fc.string({ unit: anyCharacter }), fc.string({ unit: 'grapheme' }), fc.string())
  fc.assert(
    fc.property(text, text, fc.jsonValue(), (a, message, b) => {
      const line = shown({ first: a, second: b, last: 'end' }, message)
      assert.equal(line.indexOf('\n'), line.length - 1)
      assert.ok(!/(?![\u200c\u200d])\p{C}/u.test(line.slice(0, -1)), JSON.stringify(line))
      // What follows the message are the fields, each once, in their order.
      const names = ['first', ...(b === null ? [] : ['second']), 'last']
      const value = '(?:"(?:[^"\\\\]|\\\\.)*"|[^ "=][^ ]*|[{[].*[}\\]])'
      const fields = names.map(name => `${name}=${value}`).join(' ')
      assert.match(line, new RegExp(` ${fields}\n$`))
    }),
    { numRuns: thorough(2_000, 500) },
  )
})

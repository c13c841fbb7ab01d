import { equal, match, ok, throws } from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { compileExpression } from '../../src/expression/expression.ts'
import { useWork } from '../../src/expression/meter.ts'
import { Pattern } from '../../src/expression/pattern.ts'
import { countFolded } from '../../src/expression/pattern-size.ts'
import { Work } from '../../src/expression/work-budget.ts'

beforeEach(() => useWork(new Work()))

describe('a pattern that would be too large is refused before it is compiled', () => {
  for (const [text, says] of [
    ['(x{0,1000})'.repeat(80), /too many repetitions/],
    ['((((a{30}){30}){30}){30})', /too many repetitions/],
    ['(?:(?:){1000}){1000}', /too many repetitions/],
    ['(?i)\\pL{1,9}'.repeat(80), /too many Unicode classes/],
    ['(?i)'.concat('\\pL'.repeat(300)), /too many Unicode classes/],
    ['(?i)'.concat('[\u0080-\u{10ffff}]'.repeat(100)), /too many Unicode classes/],
    ['(?i)'.concat('[\\x{80}-\\x{1ffff}]'.repeat(50)), /too many Unicode classes/],
  ] as const) {
    test(text.slice(0, 40), () => {
      const { user } = process.threadCpuUsage()
      match(Pattern.compile(text) as string, says)
      const spent = (process.threadCpuUsage().user - user) / 1000
      ok(spent < 50, `took ${spent} ms`)
    })
  }
})

test('the characters that a pattern folds are counted', () => {
  for (const [pattern, count] of [
    ['[\u{4e00}-\u{9fff}]', 0],
    ['(?i)[\u{4e00}-\u{9fff}]', 0x5200],
    ['(?i)[^\\x{4E00}-\\x{9fff}a-z]', 0x5200 + 26],
    ['(?mi:[\\d-\\x{7b}-\\x{1e942}])', 0x1e942 - 0x7b + 1 + 0x7b - 0x64 + 1],
    ['(?i)[{-\u{10ffff}]', 0x1e943 - 0x7b + 1],
    ['(?i)[ -\u{10ffff}]', 0],
    ['(?i)[\\x{20000}-\\x{2ffff}]', 0],
  ] as const)
    equal(countFolded(pattern), count, pattern)
})

test('the patterns of an expression fold no more than takes some ms', () => {
  const flawOf = (...patterns: readonly string[]) => {
    const text = patterns.map(pattern => `request.path.matches("${pattern}")`).join(' || ')
    const result = compileExpression(text, 'request', 'bool')
    return 'line' in result ? result.message : null
  }
  const { user } = process.threadCpuUsage()
  const wide = (i: number) => `(?i)${i}[{-\u{1e942}]`
  match(flawOf(...Array.from({ length: 60 }, (_, i) => wide(i)))!, /ignore case in ranges that are too wide/)
  match(flawOf('(?i)[一-龥]', '(?i)[ぁ-龥]', '(?i)[一-鿿]')!, /ignore case in ranges that are too wide/)
  equal(flawOf('(?i)[一-龥]', '(?i)[ぁ-龥]'), null)
  const spent = (process.threadCpuUsage().user - user) / 1000
  ok(spent < 500, `took ${spent} ms`)
})

test('what only looks like repetition is none', () => {
  for (const [pattern, text] of [
    ['\\{1000\\}\\{1000\\}', '{1000}{1000}'],
    ['\\Q{1000}{1000}\\E', '{1000}{1000}'],
    ['^[{1000}]{3}$', '{1}'],
    ['^[]{9]{2}(?i)x{2,3}(?P<name>y){2}$', ']{XXYY'],
    ['^[\\w-\\.]+@[\\w-\\.]+\\.[\\w-\\.]+$', 'a.b@c.example'],
  ] as const)
    equal(compiled(pattern).test(text), true, pattern)
})

test('the patterns of one request share its steps', () => {
  const pattern = compiled('a.{40}b')
  const words = () => Array.from({ length: 5000 }, () => (Math.random() < 0.5 ? 'a' : 'c')).join('')
  const work = new Work()
  useWork(work)
  throws(() => {
    for (let i = 0; i < 1000; i++) equal(pattern.test(words()), false)
  }, /no steps left/)
  ok(work.left < 1_000 && work.left > -100, `${work.left}`)
  useWork(new Work())
  equal(pattern.test(`a${'b'.repeat(41)}`), true)
})

function compiled(text: string): Pattern {
  const pattern = Pattern.compile(text)
  ok(pattern instanceof Pattern, String(pattern))
  return pattern
}

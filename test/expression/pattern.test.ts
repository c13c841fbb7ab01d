import { equal, match, ok, throws } from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { useWork } from '../../src/expression/meter.ts'
import { Pattern } from '../../src/expression/pattern.ts'
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

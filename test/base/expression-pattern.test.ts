import { equal, match, ok } from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import type { Facts } from '../../src/base/expression.ts'
import { Pattern, renewRanges, renewSteps } from '../../src/base/expression-pattern.ts'

const facts = () => ({}) as Facts

beforeEach(() => {
  renewRanges()
  renewSteps(facts())
})

describe('a pattern that would be too large is refused before it is compiled', () => {
  for (const [text, says] of [
    ['(x{0,1000})'.repeat(80), /repeats too much/],
    ['((((a{30}){30}){30}){30})', /repeats too much/],
    ['(?:(?:){1000}){1000}', /repeats too much/],
    ['(?i)\\pL{1,9}'.repeat(80), /classes of Unicode/],
    ['(?i)'.concat('\\pL'.repeat(300)), /classes of Unicode/],
    ['(?i)'.concat('[\u0080-\u{10ffff}]'.repeat(100)), /classes of Unicode/],
    ['(?i)'.concat('[\\x{80}-\\x{1ffff}]'.repeat(50)), /classes of Unicode/],
  ] as const) {
    test(text.slice(0, 40), () => {
      const { user } = process.cpuUsage()
      match(Pattern.compile(text) as string, says)
      const spent = (process.cpuUsage().user - user) / 1000
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

test('the patterns of one expression share their ranges of characters', () => {
  for (let i = 0; i < 5; i++) compiled('\\pL')
  match(Pattern.compile('\\pL') as string, /too large together/)
  renewRanges()
  compiled('\\pL')
})

test('the evaluations of one request share what patterns may do', () => {
  const pattern = compiled('a.*b')
  const text = 'a'.repeat(8000)
  const request = facts()
  const ask = (facts: Facts) => {
    renewSteps(facts)
    return pattern.test(text)
  }
  let asked = 0
  while (asked < 1000 && ask(request) === false) asked++
  ok(asked > 50 && asked < 200, `asked ${asked} times`)
  equal(ask(facts()), false)
})

function compiled(text: string): Pattern {
  const pattern = Pattern.compile(text)
  ok(pattern instanceof Pattern, String(pattern))
  return pattern
}

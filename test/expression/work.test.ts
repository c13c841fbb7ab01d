import { equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { compileExpression } from '../../src/expression/expression.ts'
import { Work } from '../../src/expression/work-budget.ts'
import { cpuTime } from '../help/stall.ts'
import { compiled, facts, refused, request } from '../base/expressions.ts'

const bombs = [
  'request.headers.all(a, request.headers.all(b, request.headers.all(c, a != b || b != c)))',
  `${'[1,2,3,4,5,6,7,8,9].all(a, '.repeat(12)}true${')'.repeat(12)}`,
  `["a"]${'.map(a, a + a)'.repeat(60)}[0] == "b"`,
  `[["a"]]${'.map(a, a + a)'.repeat(60)}[0] == ["b"]`,
  'request.path.split("").exists(a, request.path.split("").exists(b, a + b == "x"))',
  'request.path.split("").map(a, request.path).join("").contains("x")',
]
for (const bomb of bombs) {
  test(`${bomb.slice(0, 50)} is refused, or fails early`, () => {
    const expression = compileExpression(bomb, 'error', 'bool')
    if ('line' in expression) return match(expression.message, /too many steps/)
    const long = { ...facts, request: { ...request, path: 'a'.repeat(8_000), headers: headersOf(256, 1) } }
    const took = cpuTime(() => equal(expression.evaluate(long), null))
    ok(took < 100, `${took} ms`)
  })
}

test('a pattern that would backtrack is quick', () => {
  const path = 'a'.repeat(8000)
  for (const pattern of ['^(a+)+$b', '(a|aa)+!', '(.*)*.*(.*)*!$', '^(a?){99}a{99}!', 'a.{200}!']) {
    const expression = compiled(`request.path.matches("${pattern}")`)
    const took = cpuTime(() =>
      ok(expression.evaluate({ ...facts, request: { ...request, path } }) !== true, pattern),
    )
    ok(took < 1_000, `${pattern} took ${took} ms`)
  }
})

test('a pattern repeats no more than it can be matched for', () => {
  match(refused('zone.matches("(a{30}){30}(b{30}){30}")').message, /too many repetitions/)
  match(refused(`zone.matches("${'a'.repeat(1025)}")`).message, /1024 characters/)
})

test('patterns that texts build on share the steps of a request', () => {
  const hard = Array.from({ length: 4 }, (_, i) => compiled(`!request.path.matches("a.{${30 + i}}c.{3}d")`))
  const work = new Work()
  const answers = new Set<boolean | null>()
  for (let i = 0; i < 40; i++)
    answers.add(hard[i % 4]!.evaluate({ ...facts, request: { ...request, path: words(4000) } }, work))
  ok(answers.has(null))
  ok(work.left > -20_000, `${work.left}`)
  equal(
    compiled('request.path.matches("ab|ba")').evaluate({
      ...facts,
      request: { ...request, path: words(4000) },
    }),
    true,
  )
})

test('a pattern finds the same however much it has seen', () => {
  const expression = compiled('request.path.matches("a.{12}c")')
  const evaluate = (path: string) =>
    expression.evaluate({ ...facts, request: { ...request, path } }, new Work({ file: 1e9, api: 0 }))
  for (let i = 0; i < 50; i++) {
    const path = words(2000)
    equal(evaluate(path), false)
    equal(evaluate(`${path}a${'b'.repeat(12)}c`), true)
  }
})

test('loops in loops fail on more than there are steps for', () => {
  const nested = compiled('request.headers.exists(a, request.headers[a].exists(b, b.contains("!")))')
  const plain = compiled('request.headers.exists(a, a == "!")')
  for (const headers of [headersOf(1000, 8), headersOf(900, 9)]) {
    const many = { ...facts, request: { ...request, headers } }
    equal(nested.evaluate(many), null)
    equal(plain.evaluate(many), false)
  }
  equal(nested.evaluate({ ...facts, request: { ...request, headers: headersOf(32, 1, 100) } }), false)
})

function headersOf(names: number, values: number, length = 1000): Map<string, string[]> {
  const value = 'v'.repeat(length)
  return new Map(Array.from({ length: names }, (_, i) => [`x-${i}`, Array<string>(values).fill(value)]))
}

/** Gives a and b by chance, which builds the largest automata. */
function words(length: number): string {
  return Array.from({ length }, () => (Math.random() < 0.5 ? 'a' : 'b')).join('')
}

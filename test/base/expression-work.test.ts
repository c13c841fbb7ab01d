import { equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { compiled, facts, refused, request } from './expressions.ts'

const bombs = [
  'request.headers.all(a, request.headers.all(b, request.headers.all(c, a != b || b != c)))',
  `${'[1,2,3,4,5,6,7,8,9].all(a, '.repeat(12)}true${')'.repeat(12)}`,
  `["a"]${'.map(a, a + a)'.repeat(60)}[0] == "b"`,
  `[["a"]]${'.map(a, a + a)'.repeat(60)}[0] == ["b"]`,
  'request.path.split("").exists(a, request.path.split("").exists(b, a + b == "x"))',
  'request.path.split("").map(a, request.path).join("").contains("x")',
]
for (const bomb of bombs) {
  test(`${bomb.slice(0, 50)} is refused`, () => {
    match(refused(bomb).message, /too much work/)
  })
}

test('a pattern that would backtrack is quick', () => {
  const path = 'a'.repeat(8000)
  for (const pattern of ['^(a+)+$b', '(a|aa)+!', '(.*)*.*(.*)*!$', '^(a?){99}a{99}!', 'a.{200}!']) {
    const expression = compiled(`request.path.matches("${pattern}")`)
    const [result, elapsed] = timed(() => expression.evaluate({ ...facts, request: { ...request, path } }))
    ok(result !== true, pattern)
    ok(elapsed < 100, `${pattern} took ${elapsed} ms`)
  }
})

test('a pattern repeats no more than it can be matched for', () => {
  match(refused('zone.matches("(a{30}){30}(b{30}){30}")').message, /repeats too much/)
  match(refused(`zone.matches("${'a'.repeat(1025)}")`).message, /1024 characters/)
})

test('a text too long for a pattern is a failure', () => {
  const long = { ...facts, request: { ...request, path: 'a'.repeat(8193) } }
  equal(compiled('request.path.matches("a")').evaluate(long), null)
  equal(compiled('request.path.contains("a")').evaluate(long), true)
})

test('patterns share their steps, anew at each evaluation', () => {
  const path = words(4000)
  const at = { ...facts, request: { ...request, path } }
  const hard = Array.from({ length: 40 }, (_, i) => `!request.path.matches("a.{${i % 9}}c.{3}d")`)
  const [result, elapsed] = timed(() => compiled(hard.join(' && ')).evaluate(at))
  equal(result, null)
  ok(elapsed < 200, `took ${elapsed} ms`)
  equal(compiled('request.path.matches("ab|ba")').evaluate(at), true)
})

test('a pattern finds the same however much it has seen', () => {
  const expression = compiled('request.path.matches("a.{12}c")')
  for (let i = 0; i < 50; i++) {
    const path = words(2000)
    equal(expression.evaluate({ ...facts, request: { ...request, path } }), false)
    equal(
      expression.evaluate({ ...facts, request: { ...request, path: `${path}a${'b'.repeat(12)}c` } }),
      true,
    )
  }
})

test('loops in loops fail on more headers than they were let in for', () => {
  const nested = compiled('request.headers.exists(a, request.headers[a].exists(b, b == "!"))')
  const plain = compiled('request.headers.exists(a, a == "!")')
  for (const headers of [headersOf(129, 1), headersOf(1, 9)]) {
    const many = { ...facts, request: { ...request, headers } }
    equal(nested.evaluate(many), null)
    equal(plain.evaluate(many), false)
  }
  equal(nested.evaluate({ ...facts, request: { ...request, headers: headersOf(128, 8) } }), false)
})

test('what is let in is quick on the largest heads', () => {
  const large = {
    ...request,
    path: 'ab'.repeat(4096),
    query: 'a'.repeat(8192),
    headers: headersOf(128, 8),
  }
  for (const text of [
    'request.headers.all(a, request.headers[a].all(v, !v.matches("(?i)bot|a.*b")))',
    'request.headers.all(a, request.headers.all(b, a != "x" || b != "x"))',
    'request.headers.all(a, !request.query.contains("ab") && !request.query.contains("ac"))',
    'request.path.split("").all(a, a.substring(7) == "")',
  ]) {
    const expression = compiled(text)
    const [, elapsed] = timed(() => expression.evaluate({ ...facts, request: large }))
    ok(elapsed < 200, `${text} took ${elapsed} ms`)
  }
})

function headersOf(names: number, values: number): Map<string, string[]> {
  const value = 'v'.repeat(1000)
  return new Map(Array.from({ length: names }, (_, i) => [`x-${i}`, Array<string>(values).fill(value)]))
}

/** Gives a and b by chance, which builds the largest automata. */
function words(length: number): string {
  return Array.from({ length }, () => (Math.random() < 0.5 ? 'a' : 'b')).join('')
}

function timed<T>(call: () => T): [T, number] {
  const began = performance.now()
  return [call(), performance.now() - began]
}

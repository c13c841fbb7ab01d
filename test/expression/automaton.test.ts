import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RE2JS } from '@bufbuild/re2'
import fc from 'fast-check'
import { Automaton } from '../../src/expression/automaton.ts'
import { useWork } from '../../src/expression/meter.ts'
import { Work } from '../../src/expression/work-budget.ts'
import { thorough } from '../help/thorough.ts'

const atom = fc.constantFrom(
  'a',
  'b',
  '.',
  '\\w',
  '\\W',
  '\\d',
  '\\s',
  '[^a]',
  '[a-c1]',
  '\\pL',
  'é',
  '😀',
  '\\x{ff}',
  '[[:upper:]]',
  '\\bb',
  '\\B',
  '^',
  '$',
  '\\A',
  '\\z',
  '\\n',
  '_',
)
const pattern = fc.letrec<{ readonly expression: string }>(tie => ({
  expression: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    atom,
    fc
      .tuple(tie('expression'), fc.constantFrom('*', '+', '?', '{2}', '{0,3}', '*?'))
      .map(([of, times]) => `(?:${of})${times}`),
    fc.tuple(tie('expression'), tie('expression')).map(([a, b]) => a + b),
    fc.tuple(tie('expression'), tie('expression')).map(([a, b]) => `(${a}|${b})`),
  ),
})).expression
const flagged = fc
  .tuple(fc.constantFrom('', '(?i)', '(?m)', '(?s)', '(?im)'), pattern)
  .map(([flags, of]) => flags + of)
const text = fc.string({
  unit: fc.constantFrom('a', 'b', 'A', 'c', '1', '_', ' ', '\n', 'é', '\xff', '😀', '\ud83d', 'K'),
  maxLength: 12,
})

test('an automaton finds what the engine of its program finds', () => {
  fc.assert(
    fc.property(flagged, fc.array(text, { minLength: 1 }), (pattern, texts) => {
      const engine = RE2JS.compile(pattern)
      const automaton = new Automaton(engine.re2().prog)
      for (const text of texts)
        assert.equal(
          within(1e6, () => automaton.test(text)).result,
          engine.test(text),
          JSON.stringify([pattern, text]),
        )
    }),
    { numRuns: thorough(2000, 500) },
  )
})

test('an automaton that has forgotten finds the same as before', () => {
  const pattern = 'a.{12}c|x'
  const engine = RE2JS.compile(pattern)
  const automaton = new Automaton(engine.re2().prog)
  assert.equal(automaton.isWhole, false)
  for (let i = 0; i < 30; i++) {
    const text = words(3_000) + (i % 3 === 0 ? `a${'b'.repeat(12)}c` : '')
    assert.equal(within(1e9, () => automaton.test(text)).result, i % 3 === 0)
  }
})

test('what is usual is built ahead, and then costs its characters alone', () => {
  for (const pattern of [
    '^/(shop|admin)/items/[0-9]+$',
    '(?i)bot|crawl|spider',
    '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}',
    '(?i)curl/[0-9]+|wget|python-requests|go-http-client|java/|libwww|scrapy',
    '\\bfoo\\b.*\\bbar\\b',
  ]) {
    const automaton = new Automaton(RE2JS.compile(pattern).re2().prog)
    assert.ok(automaton.isWhole, pattern)
    const { steps } = within(0, () => automaton.test('/shop/items/ab'.repeat(50)))
    assert.equal(steps, 0, pattern)
  }
})

test('no text takes more than is left and the steps of one character', () => {
  for (const pattern of [
    '(a|b)*a(a|b){20}c',
    'a.{200}!',
    '^(a?){99}a{99}!',
    '(a?){400}a{400}!',
    '(.*)*.*(.*)*!$',
    'a{1,400}!',
    '\\b(a?){300}c\\b',
  ]) {
    const { prog } = RE2JS.compile(pattern).re2()
    const automaton = new Automaton(prog)
    for (let i = 0; i < 10; i++) {
      const { result, steps } = within(1000, () => automaton.test(words(5_000)))
      assert.notEqual(result, true)
      assert.ok(steps <= 1000 + 2 * prog.inst.length, `${pattern} took ${steps}`)
    }
  }
})

/** Runs something with so many steps; `result` is null if they were too few. */
function within(
  left: number,
  run: () => boolean,
): { readonly result: boolean | null; readonly steps: number } {
  const work = Object.assign(new Work(), { left })
  useWork(work)
  try {
    return { result: run(), steps: left - work.left }
  } catch {
    return { result: null, steps: left - work.left }
  }
}

/** Gives a and b by chance, which builds the largest automata. */
function words(length: number): string {
  return Array.from({ length }, () => (Math.random() < 0.5 ? 'a' : 'b')).join('')
}

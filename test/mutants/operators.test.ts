import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mutate, mutationsOf } from './operators.ts'

/** Code, and all that becomes of it. */
const table: readonly (readonly [code: string, becomes: readonly string[]])[] = [
  ['if (a) b()', ['if (true) b()', 'if (false) b()']],
  ['if (a && b === c) d()', ['if (false) d()', 'if (a) d()', 'if (b === c) d()']],
  ['x = a || b || c', [';', 'x = a || b', 'x = a || c', 'x = b || c']],
  ['f(a ?? b)', [';', 'f(a)', 'f(b)']],
  ['while (a < b) c()', ['while (false) c()', 'while (a <= b) c()']],
  ['const f = a => a.isX', ['const f = a => true', 'const f = a => false']],
  [
    'const f = (a: string): a is "b" => a === "b"',
    ['true', 'false'].map(b => `const f = (a: string): a is "b" => ${b}`),
  ],
  ['const x = !a', ['const x = a']],
  ['const x = a === b', ['const x = a !== b']],
  ['const x = a >= b', ['const x = a > b', 'const x = a < b']],
  ['const x = a << b & c', ['const x = a << b | c', 'const x = a >> b & c']],
  ["const x = a + 'b' + c", []],
  ['const x = { isY: true }', ['const x = { isY: false }']],
  ['const x = new Set([1])', ['const x = new Set([])']],
  ['const maxLength = 1_024', ['const maxLength = 1_024 + 1', 'const maxLength = 1_024 - 1']],
  ['const lifetime = 60 * 1_000', ['const lifetime = 2 * (60 * 1_000)', 'const lifetime = 60 / 1_000']],
  ['const x = a?.b?.(c)', ['const x = a.b?.(c)', 'const x = a?.b(c)']],
  ['const x = a.toString()', []],
  ['const x = Math.min(a, b)', ['const x = Math.max(a, b)']],
  ['await a()', [';', 'a()']],
  ['x ??= a', [';', 'x = a']],
  [
    'for (const a of b) { c(a); if (a) { d(); continue } }',
    [
      'for (const a of b) { ; if (a) { d(); continue } }',
      'for (const a of b) { c(a); if (true) { d(); continue } }',
      'for (const a of b) { c(a); if (false) { d(); continue } }',
      'for (const a of b) { c(a); if (a) { ; continue } }',
      'for (const a of b) { c(a); if (a) { d(); ; } }',
    ],
  ],
]

for (const [code, becomes] of table)
  test(`mutations of ${code}`, () => {
    const made = mutationsOf(code).map(mutation => mutate(code, mutation))
    assert.deepEqual(made.toSorted(), becomes.toSorted())
  })

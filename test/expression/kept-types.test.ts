import { equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { compileClaimCondition } from '../../src/expression/expression.ts'

/** Bytes. */
async function keptOf(count: number, run: (i: number) => void): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const heap = async () => {
    // Weak references let go at the end of a turn.
    await turn()
    collect()
    return process.memoryUsage().heapUsed
  }
  for (let i = 0; i < 100; i++) run(i)
  const before = await heap()
  for (let i = 100; i < count; i++) {
    run(i)
    if (i % 100 === 0) await turn()
  }
  return (await heap()) - before
}

/** Nested in lists and maps as the bits of a number say. */
function nested<T>(bits: number, innermost: T, list: (inner: T) => T, map: (inner: T) => T): T {
  let value = innermost
  for (let i = 0; i < 12; i++) value = (bits >> i) & 1 ? list(value) : map(value)
  return value
}

function literal(bits: number): string {
  return nested(
    bits,
    '1',
    inner => `[${inner}]`,
    inner => `{"a": ${inner}}`,
  )
}

function resultOf(text: string, claims: Readonly<Record<string, unknown>> = {}): boolean | null {
  const condition = compileClaimCondition(text)
  if ('line' in condition) throw new Error(condition.message)
  return condition.evaluate({ claims })
}

test('names that are no functions are not kept', async () => {
  const kept = await keptOf(20_000, i => {
    const name = `f${'x'.repeat(100)}${i}`
    for (const text of [`${name}(1)`, `"a".${name}(1, 2)`]) ok('line' in compileClaimCondition(text))
  })
  ok(kept < 1_000_000, `${kept} bytes`)
})

test('types of conditions are kept down to some depth', async () => {
  const kept = await keptOf(4_000, i => equal(resultOf(`${literal(i)} == ${literal(i)}`), true))
  ok(kept < 1_000_000, `${kept} bytes`)
})

test('types of the keys of maps are not kept', async () => {
  const keyed = (bits: number, depth: number): string =>
    depth === 0
      ? ['1', '"a"', 'true', '2u', '1.5', 'null', 'b"a"', 'int'][bits % 8]!
      : `{${keyed(bits, depth - 1)}: ${keyed(Math.floor(bits / 8 ** (2 ** (depth - 1))), depth - 1)}}`
  const kept = await keptOf(8_000, i =>
    equal(resultOf(`size(${keyed((i * 2_654_435) % 8 ** 8, 3)}) == 1`), true),
  )
  ok(kept < 1_000_000, `${kept} bytes`)
})

test('types of values are kept down to some depth', async () => {
  const kept = await keptOf(4_000, i => {
    const value = nested<unknown>(
      i,
      1,
      inner => [inner],
      inner => ({ a: inner }),
    )
    equal(resultOf('claims.value == ["x"]', { value }), false)
  })
  ok(kept < 1_000_000, `${kept} bytes`)
})

test('what is nested deeper works like a value of any type', () => {
  for (const text of [
    '[[[[[1]]]]] == [[[[[1]]]]]',
    '[[[[[1]]]]] != [[[[[2]]]]]',
    '[[[[[1]]]]][0][0][0][0][0] + 1 == 2',
    '[{"a": [{"b": ["x"]}]}][0].a[0].b[0].startsWith("x")',
    '[[[[["a"]]]]].exists(a, a[0][0][0][0].startsWith("a"))',
    '[[[{"a": [1]}[?"a"]]]][0][0][0].orValue([2]) == [1]',
    '{"a": {"b": {"c": {"d": 1}}}}.a.b.c.d == 1',
    '{1: "a"}[1] == "a" && 1 in {1: "a"} && !(2 in {1: "a"})',
    '{1: ["a"]} == {1: ["a"]} && {1: "a"} != {1: "b"}',
  ])
    equal(resultOf(text), true, text)
})

import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { canonicalResource, compileResource } from '../../../src/budgets/policies/resource.ts'
import { thorough } from '../../help/thorough.ts'

const names = fc.string({ unit: fc.constantFrom('a', 'B', '/', '-', '.'), minLength: 1, maxLength: 6 })
const patterns = fc.string({
  unit: fc.constantFrom('a', 'B', '/', '*', '.', 'A'),
  minLength: 1,
  maxLength: 6,
})
const lists = fc.oneof(patterns, fc.array(patterns, { minLength: 1, maxLength: 3 }))

/** The same by a regular expression. */
function isMatch(pattern: string | readonly string[], name: string): boolean {
  return [pattern].flat().some(pattern => {
    const parts = pattern.split('*').map(part => RegExp.escape(part))
    return new RegExp(`^${parts.join('.*')}$`, 'is').test(name)
  })
}

test('patterns match models with their provider or without, and providers, in any case', () => {
  fc.assert(
    fc.property(lists, names, names, (pattern, provider, model) => {
      const call = { provider: provider.toLowerCase(), model, metadata: null }
      const named = `${call.provider}/${model}`
      const isModel = [pattern].flat().some(one => isMatch(one, one.includes('/') ? named : model))
      const isEither = isMatch(pattern, model) || isMatch(pattern, named)
      equal(compileResource({ model: pattern }, 'strict')(call), isModel ? 'yes' : 'no')
      equal(compileResource({ model: pattern }, 'broad')(call), isEither ? 'yes' : 'no')
      for (const reading of ['strict', 'broad'] as const) {
        const ofProvider = compileResource({ provider: pattern }, reading)
        equal(ofProvider(call), isMatch(pattern, provider) ? 'yes' : 'no')
        equal(compileResource({ model: pattern }, reading)({ ...call, model: null }), 'unknown')
      }
    }),
    { numRuns: thorough(2_000, 400) },
  )
})

test('resources that differ in order, case or repetition alone are the same', () => {
  fc.assert(
    fc.property(fc.array(patterns, { minLength: 1, maxLength: 3 }), model => {
      const other = [...model].reverse().flatMap(pattern => [pattern.toUpperCase(), pattern])
      const of = (model: readonly string[]) => JSON.stringify(canonicalResource({ model }))
      equal(of(other), of(model))
    }),
  )
})

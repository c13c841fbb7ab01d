import { equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { modelHint, providerHint } from '../../../src/ai/providers/hints.ts'

const names = { all: ['openai', 'google'], usable: [], aliases: [] }

test('a provider that is nearly right is named, and nothing is said of one that is not', () => {
  equal(providerHint('opneai', names), '; did you mean openai?')
  equal(providerHint('nobody', names), '')
  equal(providerHint('nobody', { ...names, usable: ['a', 'b'] }), '; this gateway has a, b')
})

test('only so many providers are listed', () => {
  const usable = Array.from({ length: 21 }, (_, i) => `custom-${i}`)
  ok(providerHint('nobody', { ...names, usable }).endsWith(', custom-19 and more'))
})

test('a dated model belongs to its longest family', () => {
  equal(modelHint('gpt-4o-mini-2024-07-18', names), '; did you mean openai/gpt-4o-mini-2024-07-18?')
})

test('an alias that is nearly right is named, and the others are listed', () => {
  const aliased = { ...names, usable: ['openai'], aliases: ['fast', 'smart'] }
  equal(modelHint('fats', aliased), '; did you mean fast? This gateway has fast, smart, openai')
  equal(modelHint('dynamic/smrt', aliased), '; did you mean smart? This gateway has fast, smart, openai')
  equal(modelHint('dynamic/x', aliased), '; this gateway has fast, smart, openai')
})

test('whatever a caller names, the hint is short, and has no name that it may not read', () => {
  const text = fc.oneof(fc.string({ maxLength: 200 }), fc.stringMatching(/^[a-z-]{0,12}\/?[a-z0-9.-]{0,20}$/))
  fc.assert(
    fc.property(text, name => {
      for (const hint of [providerHint(name, names), modelHint(name, names)]) {
        ok(hint.length < 300)
        ok(hint === '' || /^; did you mean .*\?$/s.test(hint), hint)
      }
    }),
  )
})

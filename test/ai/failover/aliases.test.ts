import { deepEqual, equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Aliases } from '../../../src/ai/failover/aliases.ts'
import { modelAt, type RouteNode } from '../../../src/ai/failover/model-route.ts'
import type { AliasStep } from '../../../src/config/model/config.ts'

const step = (model: string, rest: Partial<AliasStep> = {}): AliasStep => ({
  model,
  timeout: null,
  retries: 0,
  weight: null,
  ...rest,
})

/** Lists the models of a route in the order in which they are tried, with these draws of a share. */
function order(route: RouteNode | null, ...draws: number[]): string[] {
  const models: string[] = []
  for (let at = route; at !== null; ) {
    const node = modelAt(at, {
      draw: () => draws.shift()!,
      facts: () => [],
      spend: () => true,
      pass: () => {},
    })
    if (node === null || node instanceof Promise) break
    models.push(node.model)
    at = node.fallback
  }
  return models
}

describe('an alias', () => {
  test('tries its models in order', () => {
    const aliases = new Aliases([{ name: 'fast', steps: [step('openai/a'), step('groq/b', { retries: 2 })] }])
    deepEqual(order(aliases.find('fast')), ['openai/a', 'groq/b'])
    deepEqual(aliases.find('fast'), {
      type: 'model',
      model: 'openai/a',
      timeout: null,
      retries: 0,
      fallback: { type: 'model', model: 'groq/b', timeout: null, retries: 2, fallback: null },
    })
  })

  test('is found by its bare name and behind dynamic/, and no other name is', () => {
    const aliases = new Aliases([{ name: 'fast', steps: [step('openai/a')] }])
    equal(aliases.find('dynamic/fast'), aliases.find('fast'))
    for (const name of ['slow', 'openai/a', 'dynamic/', 'dynamic/dynamic/fast', 'Fast', ''])
      equal(aliases.find(name), null)
    equal(new Aliases([]).find('fast'), null)
  })

  test('shares calls out by weight, and each share goes on to the other models', () => {
    const steps = [step('a/1'), step('b/2', { weight: 20 }), step('c/3', { weight: 30 })]
    const route = new Aliases([{ name: 'mix', steps }]).find('mix')
    deepEqual(order(route, 0.1999), ['b/2', 'a/1', 'c/3'])
    deepEqual(order(route, 0.2), ['c/3', 'a/1', 'b/2'])
    deepEqual(order(route, 0.5), ['a/1', 'b/2', 'c/3'])
    deepEqual(order(route, 0.999999), ['a/1', 'b/2', 'c/3'])
  })

  test('contains another alias, whose models come first and are followed by its own', () => {
    const aliases = new Aliases([
      { name: 'outer', steps: [step('inner'), step('c/3')] },
      { name: 'inner', steps: [step('a/1', { weight: 50 }), step('b/2', { weight: 50 })] },
    ])
    deepEqual(order(aliases.find('outer'), 0), ['a/1', 'b/2', 'c/3'])
    deepEqual(order(aliases.find('outer'), 0.9), ['b/2', 'a/1', 'c/3'])
  })
})

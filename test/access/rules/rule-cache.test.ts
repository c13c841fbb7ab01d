import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RuleCache } from '../../../src/access/rules/rule-cache.ts'
import { CompiledRule } from '../../../src/access/rules/rules.ts'
import { PathPrefixes } from '../../../src/base/path/path-prefixes.ts'
import type { AccessCondition } from '../../../src/config/model/access-config.ts'
import { inputOf } from './rule-input.ts'

const sources = {
  geo: { countryOf: () => '', networkOf: () => 0 },
  lists: {
    get() {
      throw new Error('no lists')
    },
  },
}

function compile(conditions: readonly AccessCondition[]): readonly CompiledRule[] {
  return conditions.map(
    condition => new CompiledRule({ action: 'deny', condition, description: null }, 'rule', sources),
  )
}

const inputAt = (address: string) => inputOf({ address })

const networks = ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4']

test('for a returning client, rules on clients end with the first that matches', () => {
  const rules = compile(networks.map(network => ({ kind: 'ip', networks: [network] })))
  const cache = new RuleCache(rules)
  assert.deepEqual(cache.rulesFor(inputAt('10.0.0.2')), rules)
  assert.deepEqual(cache.rulesFor(inputAt('10.0.0.2')), [rules[1]])
  assert.deepEqual(cache.rulesFor(inputAt('192.0.2.1')), rules)
  assert.deepEqual(cache.rulesFor(inputAt('192.0.2.1')), [])
})

test('fewer rules on clients are all evaluated again', () => {
  const rules = compile(networks.slice(1).map(network => ({ kind: 'ip', networks: [network] })))
  const cache = new RuleCache(rules)
  for (let i = 0; i < 3; i++) assert.deepEqual(cache.rulesFor(inputAt('192.0.2.1')), rules)
})

test('rules on paths are left out where no prefix matches, unless no work is left to see that', () => {
  const onPaths = ['/a', '/b', '/c', '/d'].map(prefix => ({ kind: 'path', prefixes: [prefix] }) as const)
  const rules = compile([...onPaths, { kind: 'referer', hosts: ['a.test'] }])
  const cache = new RuleCache(rules)
  assert.deepEqual(cache.rulesFor(inputOf({ paths: ['/x'] })), [rules[4]])
  assert.deepEqual(cache.rulesFor(inputOf({ paths: ['/d/e'] })), rules)
  assert.deepEqual(cache.rulesFor(inputOf({ paths: ['/x'], work: 0 })), rules)
})

test('finding out that no prefix matches takes steps for each reading and length', () => {
  const prefixes = ['/a', '/bb', '/ccc', '/dddd']
  const { lookups } = new PathPrefixes(prefixes)
  assert.ok(lookups > 1)
  const rules = compile(prefixes.map(prefix => ({ kind: 'path', prefixes: [prefix] })))
  const rulesWith = (work: number) => new RuleCache(rules).rulesFor(inputOf({ paths: ['/x', '/y'], work }))
  assert.deepEqual([rulesWith(2 * lookups), rulesWith(2 * lookups - 1)], [[], rules])
})

test('fewer rules on paths are all evaluated', () => {
  const onPaths = ['/a', '/b', '/c'].map(prefix => ({ kind: 'path', prefixes: [prefix] }) as const)
  const rules = compile([...onPaths, { kind: 'referer', hosts: ['a.test'] }])
  assert.deepEqual(new RuleCache(rules).rulesFor(inputOf({ paths: ['/x'] })), rules)
})

test('a client has changed when something has that rules ask for, and only then', () => {
  const [one, other] = [
    { fields: ['User-Agent', 'one'], country: 'FR', network: 1 },
    { fields: ['User-Agent', 'other'], country: 'DE', network: 2 },
  ]
  const kinds: readonly (readonly [AccessCondition, keyof typeof one | null])[] = [
    [{ kind: 'user_agent', patterns: ['bot'] }, 'fields'],
    [{ kind: 'country', countries: ['US'] }, 'country'],
    [{ kind: 'asn', numbers: [3] }, 'network'],
    [{ kind: 'ip', networks: ['10.0.0.1'] }, null],
  ]
  for (const [condition, asked] of kinds)
    for (const changed of ['fields', 'country', 'network'] as const) {
      const rules = compile(Array(4).fill(condition))
      const cache = new RuleCache(rules)
      const visit = (who: typeof one) => cache.rulesFor(inputOf({ ...one, [changed]: who[changed] }))
      assert.deepEqual(visit(one), rules)
      const remembered = visit(one)
      assert.deepEqual(remembered, [], condition.kind)
      assert.equal(visit(one), remembered)
      const isOther = changed === asked
      assert.deepEqual(visit(other), isOther ? rules : [], `${condition.kind} ${changed}`)
      assert.deepEqual(visit(other), [])
      assert.deepEqual(visit(one), isOther ? rules : [])
    }
})

test('rules behind one that always matches a client are left out', () => {
  const rules = compile(
    ['10.0.0.2', '10.0.0.0/8', '10.0.0.1', '10.0.0.0/16'].map(network => ({
      kind: 'ip',
      networks: [network],
    })),
  )
  const cache = new RuleCache(rules)
  assert.deepEqual(cache.rulesFor(inputAt('10.0.0.1')), rules)
  assert.deepEqual(cache.rulesFor(inputAt('10.0.0.1')), [rules[1]])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RuleInput } from '../../../src/access/rules/access-request.ts'
import { LowerCase } from '../../../src/access/rules/lower-case.ts'
import { RuleCache } from '../../../src/access/rules/rule-cache.ts'
import { CompiledRule } from '../../../src/access/rules/rules.ts'
import { TallyBook } from '../../../src/activity/tally-book.ts'
import type { AccessCondition } from '../../../src/config/model/access-config.ts'
import type { Facts } from '../../../src/expression/expression.ts'
import { Work } from '../../../src/expression/work-budget.ts'
import { AddressWords } from '../../../src/net/address/address-words.ts'
import { ManualClock } from '../../help/clock.ts'

const sources = {
  geo: null,
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

const tallies = new TallyBook(new ManualClock(), () => {}).scope('zone')
const words = new AddressWords()
const lowerCase = new LowerCase()
let lastAddress = ''

function inputFor(address: string, path = '/', work = new Work()): RuleInput {
  if (address !== lastAddress) words.read(address)
  lastAddress = address
  const request = { address, paths: [path], fields: [], facts: {} as Facts, tallies, work }
  return new RuleInput(request, words, null, lowerCase)
}

const networks = ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4']

test('for a returning client, rules on clients end with the first that matches', () => {
  const rules = compile(networks.map(network => ({ kind: 'ip', networks: [network] })))
  const cache = new RuleCache(rules)
  assert.deepEqual(cache.rulesFor(inputFor('10.0.0.2')), rules)
  assert.deepEqual(cache.rulesFor(inputFor('10.0.0.2')), [rules[1]])
  assert.deepEqual(cache.rulesFor(inputFor('192.0.2.1')), rules)
  assert.deepEqual(cache.rulesFor(inputFor('192.0.2.1')), [])
})

test('fewer rules on clients are all evaluated again', () => {
  const rules = compile(networks.slice(1).map(network => ({ kind: 'ip', networks: [network] })))
  const cache = new RuleCache(rules)
  for (let i = 0; i < 3; i++) assert.deepEqual(cache.rulesFor(inputFor('192.0.2.1')), rules)
})

test('rules on paths are left out where no prefix matches, unless no work is left to see that', () => {
  const onPaths = ['/a', '/b', '/c', '/d'].map(prefix => ({ kind: 'path', prefixes: [prefix] }) as const)
  const rules = compile([...onPaths, { kind: 'referer', hosts: ['a.test'] }])
  const cache = new RuleCache(rules)
  assert.deepEqual(cache.rulesFor(inputFor('192.0.2.1', '/x')), [rules[4]])
  assert.deepEqual(cache.rulesFor(inputFor('192.0.2.1', '/d/e')), rules)
  const spent = new Work()
  while (spent.take(1)) {}
  assert.deepEqual(cache.rulesFor(inputFor('192.0.2.1', '/x', spent)), rules)
})

// What each kind of condition finds in a request, and that it finds nothing where it cannot know.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AccessSources, compileCondition, readsPath } from '../../../src/access/rules/conditions.ts'
import type { AccessRequest } from '../../../src/access/rules/access-request.ts'
import type { AccessCondition } from '../../../src/config/model/access-config.ts'
import { AddressTable } from '../../../src/net/address/address-table.ts'
import { type Asked, inputOf } from './rule-input.ts'

const sources: AccessSources = {
  lists: { get: () => AddressTable.of(['192.0.2.0/31', '2001:db8::/32']) },
  geo: { countryOf: () => null, networkOf: () => null },
}

const factsOf = (request: object) => ({ request }) as AccessRequest['facts']
const browser = (agent: string) => ({ fields: ['User-Agent', agent] })
const from = (referer: string) => ({ fields: ['Referer', referer] })
const onPath = 'request.path == "/a"'
const ofCountry = 'request.country == "DE"'
const german = factsOf({ country: 'DE' })

const cases: readonly (readonly [AccessCondition, ...(readonly [Asked, boolean | null])[]])[] = [
  [
    { kind: 'list', name: 'any' },
    [{}, true],
    [{ address: '192.0.2.2' }, false],
    [{ address: '2001:db8::1' }, true],
    [{ address: '' }, false],
  ],
  [
    { kind: 'country', countries: ['DE', 'FR'] },
    [{ country: 'DE' }, true],
    [{ country: 'US' }, false],
    [{ country: 'FR' }, true],
    [{ country: '' }, false],
    [{ country: null }, null],
  ],
  [
    { kind: 'asn', numbers: [64_500] },
    [{ network: 64_500 }, true],
    [{ network: 0 }, false],
    [{ network: null }, null],
  ],
  [
    { kind: 'user_agent', patterns: ['*bot*', 'curl'] },
    [browser('Robot'), true],
    [browser('Curl'), true],
    [browser('Browser'), false],
    [{}, false],
    // 2 + 1 + 60 / 6 steps for the first pattern, and 2 for the other.
    [{ ...browser('a'.repeat(60)), work: 15.1 }, false],
    [{ ...browser('a'.repeat(60)), work: 14.9 }, null],
  ],
  [
    { kind: 'referer', hosts: ['a.test'] },
    [from('https://a.test/x'), true],
    [from('https://b.test/'), false],
    [{}, false],
  ],
  [
    { kind: 'referer_not', hosts: ['a.test'] },
    [from('https://a.test/x'), false],
    [from('https://b.test/'), true],
    [from('nonsense'), true],
    [{}, false],
  ],
  [
    { kind: 'path', prefixes: ['/a', '/b'] },
    [{ paths: ['/x', '/', '/b'], work: 6 }, true],
    [{ paths: ['/x', '/', '/c'], work: 6 }, false],
    [{ paths: ['/x', '/', '/b'], work: 5 }, null],
    [{ paths: null }, null],
  ],
  [
    { kind: 'expression', text: onPath },
    [{ paths: ['/b', '/a'], facts: factsOf({}) }, true],
    [{ paths: ['/b', '/c'], facts: factsOf({}) }, false],
    [{ paths: null }, null],
  ],
  [
    { kind: 'expression', text: ofCountry },
    [{ facts: german }, true],
    [{ facts: factsOf({ country: 'US' }) }, false],
    [{ facts: german, country: null }, null],
    [{ facts: german, network: null }, null],
  ],
]

for (const [condition, ...asked] of cases)
  test(`a condition on ${JSON.stringify(condition)}`, () => {
    const matches = compileCondition({ action: 'deny', condition }, sources)
    for (const [request, expected] of asked)
      assert.equal(matches(inputOf(request)), expected, JSON.stringify(request))
  })

test('a rule that allows needs every reading of a path, and one that denies any', () => {
  for (const condition of [
    { kind: 'path', prefixes: ['/a'] },
    { kind: 'expression', text: onPath },
  ] as const)
    for (const [action, paths, expected] of [
      ['allow', ['/a', '/b'], false],
      ['allow', ['/a', '/a'], true],
      ['deny', ['/a', '/b'], true],
      ['legal', ['/b', '/a'], true],
    ] as const) {
      const input = inputOf({ paths, facts: factsOf({}) })
      assert.equal(compileCondition({ action, condition }, sources)(input), expected, `${action} ${paths}`)
    }
})

test('an expression needs a database only for places', () => {
  const compile = (text: string) =>
    compileCondition({ action: 'deny', condition: { kind: 'expression', text } }, { ...sources, geo: null })
  assert.equal(compile(onPath)(inputOf({ facts: factsOf({ path: '/a' }) })), true)
  assert.throws(() => compile(ofCountry), /geo.databases is not configured/)
})

test('rules that read the path are known', () => {
  for (const [condition, expected] of [
    [{ kind: 'path', prefixes: ['/'] }, true],
    [{ kind: 'expression', text: onPath }, true],
    [{ kind: 'expression', text: ofCountry }, false],
    [{ kind: 'referer', hosts: ['a.test'] }, false],
  ] as const)
    assert.equal(readsPath(condition), expected, condition.kind)
})

test('a table says whether it has the address itself or a network, each time that it is asked', () => {
  const condition = { kind: 'ip', networks: ['192.0.2.1', '10.0.0.0/8'] } as const
  const matches = compileCondition({ action: 'deny', condition }, sources)
  for (const [address, lookup] of [
    ['192.0.2.1', 'address'],
    ['10.0.0.1', 'network'],
    ['192.0.2.1', 'address'],
  ] as const) {
    const input = inputOf({ address })
    for (let i = 0; i < 2; i++) {
      input.lookup = 'nothing'
      assert.deepEqual([matches(input), input.lookup], [true, lookup])
    }
  }
})

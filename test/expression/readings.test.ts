// What conditions say of several readings of a path.

import { equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import {
  compileExpression,
  type Expression,
  type Facts,
  type RequestFacts,
} from '../../src/expression/expression.ts'
import { holdsForAll, holdsForAny } from '../../src/expression/readings.ts'
import { Work } from '../../src/expression/work-budget.ts'
import { noTls } from '../../src/expression/tls-facts.ts'

function condition(text: string): Expression<boolean> {
  const expression = compileExpression(text, 'request', 'bool')
  if ('message' in expression) throw new Error(expression.message)
  return expression
}

const request = { method: 'GET', path: '/facts', query: '', headers: new Map(), ip: '', host: '' }
const facts: Facts = {
  request: { ...request, country: '', asn: 0, scheme: 'http' as const, tls: noTls } satisfies RequestFacts,
  response: null,
  error: null,
  zone: '',
}
/** Fails for every path but these two. */
const failing = condition('request.path == "/a" || request.path != "/b" && request.headers["x"][0] == "y"')
const isA = condition('request.path == "/a"')

for (const [expression, paths, any, all] of [
  [isA, ['/a', '/b'], true, false],
  [isA, ['/b', '/a'], true, false],
  [isA, ['/a', '/a/../a'], true, false],
  [isA, ['/b', '/c'], false, false],
  [isA, null, null, null],
  [failing, ['/a', '/c'], true, null],
  [failing, ['/c', '/b'], null, false],
  [failing, ['/b', '/c'], null, false],
  [failing, ['/c', '/d'], null, null],
  // One reading is that of the facts.
  [condition('request.path == "/facts"'), ['/facts?x'], true, true],
  [condition('request.method == "GET"'), null, true, true],
] as const)
  test(`${expression.text} of ${paths}: any ${any}, all ${all}`, () => {
    equal(holdsForAny(expression, facts, { paths, work: new Work() }), any)
    equal(holdsForAll(expression, facts, { paths, work: new Work() }), all)
  })

test('each reading is taken from the work that is left', () => {
  const paths = Array.from({ length: 8 }, (_, i) => `/${i}`)
  const one = new Work()
  holdsForAny(isA, facts, { paths: ['/facts'], work: one })
  const eight = new Work()
  holdsForAny(isA, facts, { paths, work: eight })
  const all = new Work().left
  ok(all - eight.left > 7.5 * (all - one.left))
  equal(holdsForAny(isA, facts, { paths, work: new Work({ file: 0, api: 0 }) }), null)
})

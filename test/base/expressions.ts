// Facts of a request and its error, and expressions that look at them. Called by the tests of expressions.
import { ok } from 'node:assert/strict'
import {
  compileExpression,
  describeFlaw,
  type Expression,
  type ExpressionFlaw,
  type Facts,
  type RequestFacts,
} from '../../src/expression/expression.ts'
import { noTls } from '../../src/expression/tls-facts.ts'

export const request: RequestFacts = {
  method: 'GET',
  host: 'shop.example',
  path: '/shop/items/4711',
  query: 'page=2',
  headers: new Map([
    ['accept', ['text/html', 'application/json']],
    ['user-agent', ['curl/8']],
  ]),
  ip: '192.0.2.7',
  country: 'DE',
  asn: 64500,
  scheme: 'https' as const,
  tls: noTls,
}

export const facts: Facts = {
  request,
  response: { code: 522 },
  error: { code: 1004, name: 'origin_timeout', category: 'origin' },
  zone: 'main',
}

/** Compiles what has no flaw. */
export function compiled(text: string): Expression<boolean> {
  const result = compileExpression(text, 'error', 'bool')
  ok(!('line' in result), 'line' in result ? `${text}: ${describeFlaw(result)}` : '')
  return result
}

/** Gives the flaw of what has one. */
export function refused(text: string): ExpressionFlaw {
  const result = compileExpression(text, 'error', 'bool')
  ok('line' in result, text)
  return result
}

// Operators' conditions, in every scope.

import assert from 'node:assert/strict'
import { isUtf8 } from 'node:buffer'
import {
  compileCallCondition,
  compileClaimCondition,
  compileExpression,
  type CallFacts,
  type ExpressionFlaw,
} from '../../../src/expression/expression.ts'
import { facts } from '../../base/expressions.ts'
import type { Target } from '../target.ts'

const callFacts: CallFacts = {
  ...{ user: 'u', email: 'a@b.example', app: null, token: 't', gateway: 'main', provider: 'openai' },
  ...{ model: null, metadata: { team: 'a', n: 1, is: true } },
}
const claims = { claims: { sub: 'a', groups: ['x', 'y'], n: 1.5, deep: { a: null } } }

function assertFlawIn(text: string, { line, column, message }: ExpressionFlaw): void {
  const at = text.split('\n')[line - 1]
  assert.ok(at !== undefined && column >= 1 && column <= at.length + 1, 'a flaw is inside of its text')
  assert.match(message, /^[ -~]{1,200}$/)
}

export const target: Target = {
  seeds: [
    'request.headers.exists(n, request.headers[n].exists(v, v.matches("(?i)a|b+")))',
    'request.method == "GET" && request.asn == 1 || request.ip in ["1.2.3.4"]',
    'request.headers[?"x"].orValue([]).map(v, v.size()) == [1, 2]',
    'request.path.split("/").filter(p, p != "")[0].upperAscii() + zone',
    'has(request.tls.client.subject) ? response.code >= 500 : error.name == "x"',
    'user.id == "u" && metadata.team in ["a"] && model.startsWith("gpt")',
    'claims.groups.exists(g, g == "x") && claims.deep.a == null && int(claims.n) == 1',
  ],
  tokens: [
    ...[
      'request',
      'response',
      'error',
      '.path',
      '.headers',
      '["a"]',
      '[?"a"]',
      '.code',
      '.tls',
      '.client',
      'zone',
      'user',
      'metadata',
      'claims',
      'model',
    ],
    ...[
      '==',
      '!=',
      '&&',
      '||',
      '!',
      '+',
      '-',
      '*',
      '/',
      '%',
      '<',
      '>=',
      '? ',
      ':',
      ',',
      '(',
      ')',
      '[',
      ']',
      '{',
      '}',
      ' in ',
      '.',
      '?',
    ],
    ...[
      '.exists(v, ',
      '.all(v, ',
      '.map(v, ',
      '.filter(v, ',
      '.exists_one(v, ',
      '.matches("',
      '.split("',
      '.size()',
      '.contains("',
      'has(',
      'int(',
      'string(',
    ],
    ...[
      '.orValue(',
      '.hasValue()',
      '.substring(1)',
      '.indexOf("',
      '.join("")',
      '.lowerAscii()',
      'cel.bind(a, ',
      'dyn(',
      'type(',
      'duration("1s")',
      'timestamp("',
    ],
    ...[
      'null',
      'true',
      'false',
      '1',
      '1u',
      '2.5',
      '0x1F',
      '1e9',
      '9223372036854775808',
      '"a"',
      "'b'",
      'b"x"',
      'r"\\',
      '"""',
      '\\u00e9',
      '//',
      '\n',
      '\xc3\xa9',
    ],
    ...[
      '(?i)',
      '[a-z]+',
      '(a|b)*',
      '{2,5}',
      '{1000}',
      '{{1: "a"}: 1}',
      '\\d',
      '\\b',
      '.*',
      '^',
      '$',
      '(?P<a>',
      '[^a]',
      '[{-\xf0\x9e\xa5\x82]',
      '\\pL',
    ],
  ],
  maxLength: 1024,
  covers: ['src/expression/', 'node_modules/@marcbachmann/cel-js/'],
  attempt(input) {
    if (!isUtf8(input)) return
    const text = input.toString()
    for (const scope of ['request', 'error'] as const)
      for (const type of ['bool', 'string'] as const) {
        const compiled =
          scope === 'request' && type === 'string'
            ? compileExpression(text, scope, type)
            : compileExpression(text, scope, 'bool')
        if ('line' in compiled) assertFlawIn(text, compiled)
        else {
          const value = compiled.evaluate(facts)
          assert.equal(compiled.evaluate(facts), value, 'the same facts, the same result')
        }
      }
    const call = compileCallCondition(text)
    if ('line' in call) assertFlawIn(text, call)
    else call.evaluate(callFacts)
    const claim = compileClaimCondition(text)
    if ('line' in claim) assertFlawIn(text, claim)
    else claim.evaluate(claims)
  },
}

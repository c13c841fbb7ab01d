import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  compileExpression,
  describeFlaw,
  type Facts,
  type RequestFacts,
} from '../../src/expression/expression.ts'
import { anyCharacter } from '../help/any-text.ts'
import { compiled, facts, refused } from '../base/expressions.ts'

describe('conditions', () => {
  gives(true, [
    'request.method == "GET" && request.host == "shop.example"',
    'request.path.startsWith("/shop/") && request.path.endsWith("4711") && request.query.contains("page")',
    'request.ip in ["192.0.2.7", "192.0.2.8"]',
    'request.country == "DE" && request.asn == 64500 && request.tls',
    'request.headers["accept"].exists(v, v.contains("json"))',
    'request.headers.accept[0] == "text/html"',
    'request.headers.exists(name, request.headers[name].exists(v, v.matches("(?i)CURL|wget")))',
    'has(request.headers.accept) && !has(request.headers.cookie)',
    'request.path.matches("^/(shop|admin)/items/[0-9]+$")',
    'request.path.split("/").filter(part, part != "").size() == 3',
    'request.host.upperAscii() == "SHOP.EXAMPLE"',
    'response.code == 522 && error.code == 1004 && error.name == "origin_timeout" && error.category == "origin"',
    'response.code >= 500 ? zone == "main" : false',
  ])
  gives(false, [
    'request.path.startsWith("/admin")',
    '"x-test" in request.headers && request.headers["x-test"].exists(v, v == "1")',
    'request.headers[?"x-test"].orValue([]).exists(v, v == "1")',
    'request.path.matches("^items")',
  ])
  gives(null, [
    'request.headers["x-test"].exists(v, v == "1")',
    'request.headers["accept"][2] == "text/plain"',
    'request.path.substring(100) == ""',
    'int(request.path) == 1',
    'request.asn / (request.asn - request.asn) == 1',
  ])

  test('an error next to a decisive operand is no failure', () => {
    equal(compiled('request.headers["x"][0] == "1" || request.tls').evaluate(facts), true)
  })

  test('what stands outside of error rules is a failure', () => {
    const expression = compiled('response.code == 522')
    equal(expression.evaluate({ ...facts, response: null }), null)
    equal(expression.evaluate(facts), true)
  })

  test('texts', () => {
    const expression = compileExpression('request.host + "/" + zone', 'request', 'string')
    ok(!('line' in expression))
    equal(expression.evaluate(facts), 'shop.example/main')
  })

  test('tell what they were and whether they need a database', () => {
    equal(compiled('zone == "main"').text, 'zone == "main"')
    for (const [text, needsGeo] of [
      ['request.path == "/"', false],
      ['request.country == "DE"', true],
      ['[1].exists(i, request.asn == i)', true],
    ] as const) {
      equal(compiled(text).needsGeo, needsGeo, text)
    }
  })

  test('read only the facts that they name', () => {
    const request = new Proxy({} as RequestFacts, {
      get: (_, name) => (name === 'path' ? '/' : undefined),
    })
    const expression = compiled('request.path == "/"')
    const unread: Facts = {
      request,
      get response(): never {
        throw new Error('read')
      },
      get error(): never {
        throw new Error('read')
      },
      zone: '',
    }
    equal(expression.evaluate(unread), true)
    equal(compiled('response.code == 1').evaluate(unread), null)
  })
})

describe('flaws', () => {
  const flaws: readonly (readonly [text: string, line: number, column: number, says: RegExp])[] = [
    ['', 1, 1, /empty/],
    ['request.path ==', 1, 16, /the end/],
    ['request.tls &&\n  request.pth == "/"', 2, 11, /pth/],
    ['host == "a"', 1, 1, /unknown variable: host/],
    ['request.path == 1', 1, 1, /string == int/],
    ['request.path.startsWith(1)', 1, 1, /startsWith\(int\)/],
    ['request.path', 1, 1, /it returns string but must return bool/],
    ['[request].size() == 1', 1, 2, /cannot be used as a value/],
    ['request["path"] == "/"', 1, 1, /cannot be used as a value/],
    ['dyn(request.path) == 1', 1, 1, /unknown function dyn\(\)/],
    ['cel.bind(a, 1, a == 1)', 1, 1, /unknown function bind\(\)/],
    ['request.path.matches("(")', 1, 22, /regular expression/],
    ['request.path.matches("(?=a)")', 1, 22, /regular expression/],
    ['request.path.matches(request.query)', 1, 30, /literal pattern/],
    ['request.asn.matches("1")', 1, 9, /a string, not int/],
    [`zone == "${'a'.repeat(4096)}"`, 1, 1, /4 KiB/],
    [`${'('.repeat(100)}`, 1, 65, /too many parts/],
    [`${'!'.repeat(4000)}true`, 1, 3001, /too many parts/],
  ]
  for (const [text, line, column, says] of flaws) {
    test(`${JSON.stringify(text.slice(0, 40))} at ${line}:${column}`, () => {
      const flaw = refused(text)
      match(flaw.message, says)
      deepEqual([flaw.line, flaw.column], [line, column])
    })
  }

  test('errors are unknown to requests', () => {
    for (const text of ['response.code == 500', 'error.name == "a"']) {
      const flaw = compileExpression(text, 'request', 'bool')
      ok('line' in flaw)
      match(flaw.message, /unknown variable/)
    }
  })

  test('say what a setting must be', () => {
    equal(describeFlaw(refused('tls')), 'must be a CEL expression; line 1, column 1: unknown variable: tls')
  })
})

describe('fuzz', () => {
  const words = fc.constantFrom(
    ...[
      'request',
      'response',
      '.',
      'path',
      'headers',
      'code',
      '"a"',
      '[',
      ']',
      '(',
      ')',
      '{',
      '}',
      '==',
      '&&',
    ],
    ...[
      '||',
      '!',
      '+',
      '-',
      '1',
      '1u',
      '2.5',
      'in',
      '?',
      ':',
      ',',
      'v',
      '.exists(v,',
      '.map(v,',
      'matches',
      '\n',
    ],
    ...[
      'has(',
      'size(',
      'null',
      'true',
      'b"x"',
      '//',
      '"""',
      '\\',
      'é',
      '\u{1f600}',
      'type',
      'google',
      'cel',
    ],
  )
  const texts = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.array(words, { maxLength: 40 }).map(all => all.join('')),
  )

  test('any text is compiled or has its flaw inside it', () => {
    fc.assert(
      fc.property(texts, fc.constantFrom('request', 'error'), (text, scope) => {
        const result = compileExpression(text, scope as 'request', 'bool')
        if (!('line' in result)) return typeof result.evaluate(facts) !== 'string'
        const line = text.split('\n')[result.line - 1]
        return line !== undefined && result.column >= 1 && result.column <= line.length + 1
      }),
      { numRuns: 5000 },
    )
  })

  test('any facts are looked at or are a failure', () => {
    const expressions = [
      'request.headers.exists(a, request.headers[a].exists(v, v.matches("a|b+")))',
      'request.asn == 1 || request.country.lowerAscii() == "de" || error.code == 1',
      'request.path.split("/")[1].substring(1) == request.headers["a"][0]',
    ].map(compiled)
    const anything = fc.anything({ withMap: true, withNullPrototype: true, withBigInt: true })
    const record = fc.record({ path: anything, headers: anything, asn: anything, country: anything })
    const strange = fc.record({ request: fc.oneof(record, anything), error: anything, zone: anything })
    fc.assert(
      fc.property(strange, broken => {
        for (const expression of expressions) {
          const result = expression.evaluate(broken as unknown as Facts)
          ok(result === null || typeof result === 'boolean')
        }
      }),
      { numRuns: 2000 },
    )
  })
})

function gives(wanted: boolean | null, texts: readonly string[]): void {
  for (const text of texts)
    test(`${text} gives ${wanted}`, () => equal(compiled(text).evaluate(facts), wanted))
}

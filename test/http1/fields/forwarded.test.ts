import { deepEqual, equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseForwarded } from '../../../src/http1/fields/forwarded.ts'

const element = (node: string | null, proto: string | null = null, host: string | null = null) => ({
  node,
  host,
  proto,
})

describe('parseForwarded', () => {
  for (const [list, elements] of [
    ['', []],
    [' , ;, \t', []],
    ['for=192.0.2.1', [element('192.0.2.1')]],
    ['For=a;PROTO=https;host=b.test;by=c', [element('a', 'https', 'b.test')]],
    ['for=a, for=b,for=c', [element('a'), element('b'), element('c')]],
    ['for=a ; proto=http;', [element('a', 'http')]],
    ['proto=https', [element(null, 'https')]],
    ['by=a', [element(null)]],
    ['for="[2001:db8::1]:80"', [element('[2001:db8::1]:80')]],
    ['for=[2001:db8::1], for=192.0.2.1:80', [element('[2001:db8::1]'), element('192.0.2.1:80')]],
    ['for="a, for=b;proto=c"', [element('a, for=b;proto=c')]],
    ['for="a\\"b\\\\"', [element('a"b\\')]],
    ['for="", x=1;x=2', [element(''), element(null)]],
    ['for=a,'.repeat(100), Array.from({ length: 100 }, () => element('a'))],
    [' '.repeat(16 * 1024), []],
  ] as const)
    test(`reads ${list.slice(0, 40)}`, () => deepEqual(parseForwarded(list), elements))

  for (const list of [
    'for',
    'for=',
    'for=;',
    '=a',
    'for="a',
    'for="a\\',
    'for="a\\"',
    'for="a"b',
    'for=a b',
    'for=a;for=b',
    'for=a proto=b',
    'for=a\\',
    'for =a',
    'for= a',
    'for=\u00e9',
    'for=a, "',
    'for=a,'.repeat(101),
    ' '.repeat(16 * 1024 + 1),
  ])
    test(`takes ${list.slice(0, 20)} for junk`, () => equal(parseForwarded(list), null))

  test('reads what it is written as', () => {
    const token = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/)
    const value = fc.oneof(token, fc.string({ unit: fc.constantFrom(...' ",;=\\a\t[é') }))
    const written = fc
      .record(
        { node: fc.option(value), host: fc.option(value), proto: fc.option(value) },
        { noNullPrototype: true },
      )
      .filter(({ node, host, proto }) => node !== null || host !== null || proto !== null)
    fc.assert(
      fc.property(fc.array(written, { maxLength: 100 }), elements => {
        const list = elements.map(({ node, host, proto }) =>
          [pair('for', node), pair('host', host), pair('proto', proto)]
            .filter(text => text !== null)
            .join(';'),
        )
        deepEqual(parseForwarded(list.join(', ')), elements)
      }),
    )
  })
})

function pair(name: string, value: string | null): string | null {
  return value === null ? null : `${name}="${value.replace(/["\\]/g, '\\$&')}"`
}

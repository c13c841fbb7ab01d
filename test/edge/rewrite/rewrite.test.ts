// Whatever rules make of whatever a client sends, an origin and a client get one message each that reads as it was meant, or the request is refused.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Work } from '../../../src/expression/work-budget.ts'
import { Tally } from '../../../src/metrics/counters/distribution.ts'
import { normalPath } from '../../../src/base/path/path.ts'
import type { Facts, RequestFacts } from '../../../src/expression/expression.ts'
import { HeaderChanges, HeaderRules } from '../../../src/edge/rewrite/headers.ts'
import { PathRule } from '../../../src/edge/rewrite/path.ts'
import { crossingLines } from '../../../src/http1/fields/fields.ts'
import { endOfHead } from '../../../src/http1/fields/field-lines.ts'
import { parseRequestHead, RequestHead } from '../../../src/http1/heads/request-head.ts'
import { anyCharacter } from '../../help/any-text.ts'

const limits = { url: 16_384, headerSection: 131_072, headers: 256 }

/** Facts whose query is the text that a rule gives. */
function factsWith(query: string): Facts {
  return { zone: '', response: null, error: null, request: { query } as RequestFacts }
}

/** What rules ask of a request whose path they don't look at. */
function unread() {
  return { paths: null, work: new Work() }
}

function parse(text: string): RequestHead | string {
  const bytes = Buffer.from(text, 'latin1')
  return parseRequestHead(bytes, 0, endOfHead(bytes, 0), limits)
}

const text = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.string({ unit: fc.constantFrom('\r', '\n', '\0', ' ', ':', 'a', '/', '.', '%2e', '?', '#', '\xe9') }),
  fc.string({ unit: fc.constantFrom('/', '..', '.', '%2E', 'cdn-cgi', 'cdn%2dcgi', '?', ';', 'a') }),
)
const anyPath = fc.oneof(
  text,
  text.map(rest => `/${rest}`),
)

test("a rewritten path is refused, or read by the origin as intended, outside of the gateway's own paths", () => {
  const rule = new PathRule('request.query', new Tally())
  fc.assert(
    fc.property(anyPath, fc.constantFrom('/', '/old?x=1'), (path, asked) => {
      const target = rule.targetFor(asked, factsWith(path), unread(), limits.url)
      if (typeof target !== 'string') return assert.equal(target.error, 'rewrite_invalid_path')
      const head = parse(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`)
      assert.ok(head instanceof RequestHead)
      assert.equal(head.target, target)
      assert.ok(target === path || target === `${path}?x=1`)
      assert.doesNotMatch(normalPath(target), /^\/cdn-cgi(\/|$)/)
    }),
    { numRuns: 2_000 },
  )
})

test('what is put below a prefix stays there', () => {
  const rule = new PathRule('"/public" + request.query', new Tally())
  fc.assert(
    fc.property(anyPath, path => {
      const target = rule.targetFor('/', factsWith(path), unread(), limits.url)
      if (typeof target === 'string') assert.ok(normalPath(target).startsWith('/public'))
    }),
    { numRuns: 2_000 },
  )
})

test('a rewritten value is refused, or read by the origin as intended, and nothing else', () => {
  const rules = new HeaderRules([{ name: 'X-Set', value: 'request.query' }], 'request', new Tally())
  const names = fc.constantFrom('x-set', 'X_Set', 'x_SET', 'X-Sets', 'Connection', 'Accept')
  fc.assert(
    fc.property(text, fc.array(names), (value, sent) => {
      const changes = rules.evaluate(factsWith(value), unread())
      if (!(changes instanceof HeaderChanges))
        return assert.equal(changes.error, 'rewrite_invalid_header_value')
      const asked = parse(
        `GET / HTTP/1.1\r\nHost: a\r\n${sent.map(name => `${name}: X-Set\r\n`).join('')}\r\n`,
      ) as RequestHead
      const read = parse(`GET / HTTP/1.1\r\nHost: a\r\n${crossingLines(changes.applyTo(asked))}\r\n`)
      assert.ok(read instanceof RequestHead)
      const values = read.fields.filter((_, i) => i % 2 === 1 && /^x[-_]set$/i.test(read.fields[i - 1]!))
      assert.deepEqual(values, value === '' ? [] : [value.replace(/^[ \t]+|[ \t]+$/g, '')])
      const others = sent.filter(name => /^(x-sets|accept)$/i.test(name))
      assert.equal(read.fields.length / 2, 1 + others.length + values.length)
    }),
    { numRuns: 2_000 },
  )
})

test('an expression that does not compile is a bug of whoever checked it', () => {
  assert.throws(() => new PathRule('request.', new Tally()), /^Error: a rewrite must be a CEL expression/)
})

test('rules for fields of the gateway do not compile', () => {
  const compile = (kind: 'request' | 'response', name: string, value: string | null) => () =>
    new HeaderRules([{ name, value }], kind, new Tally())
  for (const value of ['"1"', null]) {
    for (const name of ['x_forwarded_for', 'Content_Length', 'Host', 'transfer-encoding', 'svc-ray'])
      assert.throws(compile('request', name, value), /is the gateway's/, name)
    for (const name of ['Content-Length', 'transfer-encoding', 'Connection', 'svc-ray'])
      assert.throws(compile('response', name, value), /is the gateway's/, name)
    compile('request', 'X-Real-IP', value)()
  }
})

// Measures what rules of a route make of a request, in ns, beside the copy of its lines without rules: node bench/micro/edge/rewrite.ts
import { Work } from '../../../src/expression/work-budget.ts'
import { Tally } from '../../../src/metrics/counters/distribution.ts'
import type { Facts } from '../../../src/expression/expression.ts'
import { HeaderChanges, HeaderRules } from '../../../src/edge/rewrite/headers.ts'
import { PathRule } from '../../../src/edge/rewrite/path.ts'
import { crossingLines } from '../../../src/http1/fields/fields.ts'
import { endOfHead } from '../../../src/http1/fields/field-lines.ts'
import { parseRequestHead, RequestHead } from '../../../src/http1/heads/request-head.ts'
import { medianOf } from '../median.ts'
import { noTls } from '../../../src/expression/tls-facts.ts'

const calls = 100_000

const facts: Facts = {
  request: {
    method: 'GET',
    host: 'shop.example',
    path: '/shop/items/4711',
    query: 'page=2',
    headers: new Map([['accept', ['text/html']]]),
    ip: '192.0.2.7',
    country: '',
    asn: 0,
    scheme: 'https' as const,
    tls: noTls,
  },
  response: null,
  error: null,
  zone: 'main',
}

const head = parse(
  'GET /shop/items/4711?page=2 HTTP/1.1\r\nHost: shop.example\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\n' +
    'Accept: text/html\r\nAccept-Language: en\r\nAccept-Encoding: gzip, br\r\nCookie: session=0123456789abcdef\r\n' +
    'X-Debug: 1\r\nReferer: https://shop.example/\r\n\r\n',
)
const path = new PathRule('"/v2" + request.path', new Tally())
const two = rulesOf({ 'X-Env': '"prod"', 'X-Debug': null })
const four = rulesOf({ 'X-Env': '"prod"', 'X-Debug': null, 'X-Host': 'request.host', 'X-Ip': 'request.ip' })

report('lines, no rules', () => crossingLines(head))
report('path', () => path.targetFor(head.target, facts, { paths: ['/'], work: new Work() }, 16_384))
report('lines, one header set and one removed', () => crossingLines(changesOf(two).applyTo(head)))
report('lines, three headers set and one removed', () => crossingLines(changesOf(four).applyTo(head)))

function parse(text: string): RequestHead {
  const bytes = Buffer.from(text)
  const parsed = parseRequestHead(bytes, 0, endOfHead(bytes, 0), {
    url: 16_384,
    headerSection: 131_072,
    headers: 256,
  })
  if (parsed instanceof RequestHead) return parsed
  throw new Error(parsed)
}

function rulesOf(headers: Readonly<Record<string, string | null>>): HeaderRules {
  const rules = Object.entries(headers).map(([name, value]) => ({ name, value }))
  return new HeaderRules(rules, 'request', new Tally())
}

function changesOf(rules: HeaderRules): HeaderChanges {
  const changes = rules.evaluate(facts, { paths: ['/'], work: new Work() })
  if (changes instanceof HeaderChanges) return changes
  throw new Error(changes.error)
}

/** Prints the median over some rounds. */
function report(what: string, call: () => unknown): void {
  console.log(`${what.padEnd(42)} ${medianOf(calls, call).toFixed(0).padStart(6)} ns`)
}

// Measures a condition at each request, and its compilation, in ns: node bench/micro/base/expression.ts
import { compileExpression, type Expression, type Facts } from '../../../src/expression/expression.ts'
import { medianOf } from '../median.ts'
import { noTls } from '../../../src/expression/tls-facts.ts'

const facts: Facts = {
  request: {
    method: 'GET',
    host: 'shop.example',
    path: '/shop/items/4711',
    query: 'page=2',
    headers: new Map([
      ['accept', ['text/html', 'application/json']],
      ['user-agent', ['Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0']],
    ]),
    ip: '192.0.2.7',
    country: 'DE',
    asn: 64500,
    scheme: 'https' as const,
    tls: noTls,
  },
  response: null,
  error: null,
  zone: 'main',
}

// Facts of their own for each evaluation, like requests: those of one share what patterns may do.
const requests = [facts, { ...facts }]

for (const text of [
  'request.path.startsWith("/admin")',
  'request.ip in ["198.51.100.4"]',
  'request.country == "XX" && request.method != "GET"',
  'request.asn == 64500',
  'request.headers["accept"].exists(v, v.contains("json"))',
  'request.headers[?"x-test"].orValue([]).exists(v, v == "1")',
  'request.path.matches("^/(shop|admin)/items/[0-9]+$")',
  'request.headers["user-agent"][0].matches("(?i)bot|crawl|spider")',
  'request.headers["x-test"][0] == "1"', // fails
]) {
  const expression = compile(text)
  let asked = 0
  const evaluation = measure(100_000, () => expression.evaluate(requests[asked++ & 1]!))
  // What was compiled once is remembered by its text.
  let texts = 0
  const compilation = measure(1_000, () => compile(`${text} // ${texts++}`))
  const again = measure(1_000, () => compile(text))
  console.log(`${text.padEnd(66)} ${evaluation} ns, compiled in ${compilation} ns, again in ${again} ns`)
}

function compile(text: string): Expression<boolean> {
  const result = compileExpression(text, 'request', 'bool')
  if ('line' in result) throw new Error(result.message)
  return result
}

/** Gives the median over some rounds. */
function measure(calls: number, call: () => unknown): string {
  return medianOf(calls, call).toFixed(0).padStart(6)
}

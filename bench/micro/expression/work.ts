// Measures what a step of the work of expressions takes, at the worst texts for each: node bench/micro/base/work.ts
import { compileExpression, type Facts } from '../../../src/expression/expression.ts'
import { Work } from '../../../src/expression/work-budget.ts'
import { noTls } from '../../../src/expression/tls-facts.ts'

const header = 'request.headers["x"][0]'
const kilobyte = 1024

const texts = [
  'request.path.startsWith("/admin")',
  'request.method == "POST" && request.host == "a" || request.path == "/b" || request.query == "c"',
  'request.ip in ["198.51.100.4", "198.51.100.5", "198.51.100.6"]',
  'request.asn == 64500',
  `${header}.contains("aaab")`,
  `${header}.contains("${'a'.repeat(40)}b")`,
  `${header}.contains("${'a'.repeat(100)}b${'a'.repeat(100)}")`,
  `${header}.contains(request.headers["y"][0])`,
  `${header}.matches("(?i)bot|crawl|spider")`,
  `${header}.matches("a.{30}b")`,
  `${header}.lowerAscii() == "x"`,
  `${header}.size() == 7`,
  `${header}.split("").exists(c, c == "b")`,
  `${header}.split("").exists(c, int(c) == 1)`,
  `${header}.split("").map(c, c + "b").join("").size() == 1`,
  `${header}.indexOf("aaab") == 3`,
  'request.headers["z"][0] == "1"',
  'request.headers["z"][0] == "1" || request.headers["zz"][0] == "1"',
  'request.headers.exists(n, n == "b")',
  'request.headers.exists(n, request.headers[n].exists(v, v.contains("aaab")))',
  'request.headers.exists(n, request.headers[n].exists(v, v.matches("(?i)bot|crawl")))',
]

for (const text of texts) {
  const result = compileExpression(text, 'request', 'bool')
  if ('line' in result) {
    console.log(`${text.slice(0, 70).padEnd(72)} ${result.message}`)
    continue
  }
  const cells = [64, kilobyte, 16 * kilobyte].map(length => {
    let least = Number.POSITIVE_INFINITY
    let steps = 0
    for (let round = 0; round < 40; round++) {
      const work = new Work({ file: 1e9, api: 0 })
      const facts = factsOf(length)
      const began = performance.now()
      result.evaluate(facts, work)
      const elapsed = (performance.now() - began) * 1e6
      steps = 1e9 - work.left
      least = Math.min(least, elapsed)
    }
    return `${steps.toFixed(0).padStart(8)} ${(least / steps).toFixed(1).padStart(6)}`
  })
  console.log(`${text.slice(0, 70).padEnd(72)} ${result.work.toFixed(0).padStart(6)} |${cells.join(' |')}`)
}

function factsOf(length: number): Facts {
  const value = Array.from({ length }, () => (Math.random() < 0.01 ? 'c' : 'a')).join('')
  const headers = new Map([
    ['x', [value]],
    ['y', ['a'.repeat(Math.min(length, 4000))]],
    ...Array.from({ length: Math.min(250, length / 4) }, (_, i) => [`h${i}`, ['aaaa']] as [string, string[]]),
  ])
  const line = { method: 'GET', host: 'shop.example', path: `/${value}`, query: value }
  return {
    request: {
      ...line,
      headers,
      ip: '192.0.2.7',
      country: 'DE',
      asn: 1,
      scheme: 'https' as const,
      tls: noTls,
    },
    response: null,
    error: null,
    zone: 'main',
  }
}

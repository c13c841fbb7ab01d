// Measures what patterns cost, in µs: node bench/micro/guard/scan.ts

import { PatternSet } from '../../../src/guard/scan.ts'
import { patterns } from '../../../src/guard/patterns.ts'
import { TextScanner } from '../../../src/guard/text-scanner.ts'

const rounds = 15
const prose =
  'In 2024 we sold 1711 pieces of the "risk-free" kind, and a task-force asked what was said of it. '
const body = Buffer.from(JSON.stringify({ messages: [{ role: 'user', content: prose.repeat(40) }] }))
const words = prose.split(/(?= )/)
const all = new PatternSet(patterns)

measure('a body of 4 KB', 200, () => all.mayMatch(body.toString('latin1')))
measure('a body of 4 KB with other letters', 200, () => {
  new TextScanner(all).end(`${prose.repeat(40)}é`)
})
measure('a stream of 21 words', 200, () => {
  const scanner = new TextScanner(all)
  for (const word of words) scanner.push(word)
})

/** Prints the fastest of some rounds. */
function measure(name: string, times: number, run: () => unknown): void {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now()
    for (let i = 0; i < times; i++) run()
    best = Math.min(best, ((performance.now() - startedAt) * 1_000) / times)
  }
  console.log(`${name}: ${best.toFixed(2)}`)
}

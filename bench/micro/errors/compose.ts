// What one answer costs, by format: composed and flattened to bytes, as the edge does when it writes it.

import { compose, composeEvent } from '../../../src/errors/audience/people.ts'
import { refuse } from '../../../src/errors/catalogue/refusal.ts'

const options = { documentation: 'http://127.0.0.1:8081/errors' }
const refusal = refuse('origin_down')
const target = Buffer.alloc(16 * 1024)
const rounds = 7
const calls = 100_000

const accepts = {
  html: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8',
  json: 'application/json',
  markdown: 'text/markdown',
  plain: 'text/plain',
}

for (const [format, accept] of Object.entries(accepts)) {
  report(
    format,
    time => compose(refusal, { ray: rayAt(time), zone: 'www.example.com', accept, time }, options).body,
  )
}
report('event', time =>
  composeEvent(refusal, { ray: rayAt(time), zone: 'www.example.com', accept: null, time }, options),
)
report('html, Accept never seen', time => {
  const accept = `text/html, application/json;q=0.5, image/x-${time}, */*;q=0.1`
  return compose(refusal, { ray: rayAt(time), zone: 'www.example.com', accept, time }, options).body
})

/** Prints the median over some rounds; time moves by a millisecond a call. */
function report(name: string, compose: (time: number) => string): void {
  let time = Date.now()
  const composing: number[] = []
  const writing: number[] = []
  for (let round = 0; round < rounds; round++) {
    composing.push(measure(() => void compose(time++)))
    writing.push(measure(() => void target.write(compose(time++), 'latin1')))
  }
  console.log(`${name.padEnd(24)} ${median(composing)} ns composed, ${median(writing)} ns written`)
}

function measure(call: () => void): number {
  const start = process.hrtime.bigint()
  for (let i = 0; i < calls; i++) call()
  return Number(process.hrtime.bigint() - start) / calls
}

function median(values: readonly number[]): string {
  return values
    .toSorted((a, b) => a - b)
    [values.length >> 1]!.toFixed(0)
    .padStart(6)
}

function rayAt(time: number): string {
  return time.toString(16).padStart(16, '0')
}

// What a message head costs to parse and to pass on, for request-head.ts and response-head.ts.
import { crossingLines, type FieldLines } from '../../../src/http1/fields/fields.ts'

const rounds = 7
const calls = 200_000

/** Prints the median ns of both, over rounds of many calls. */
export function report(name: string, lines: readonly string[], parse: (bytes: Buffer) => FieldLines): void {
  const bytes = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  const parsing: number[] = []
  const passing: number[] = []
  for (let round = 0; round < rounds; round++) {
    parsing.push(measure(() => parse(bytes).fields.length))
    const head = parse(bytes)
    passing.push(measure(() => crossingLines(head).length))
  }
  console.log(`${name.padEnd(24)} ${median(parsing)} ns parsed, ${median(passing)} ns to pass on`)
}

function measure(call: () => number): number {
  let sum = 0
  const began = process.hrtime.bigint()
  for (let i = 0; i < calls; i++) sum += call()
  const elapsed = Number(process.hrtime.bigint() - began)
  if (sum === 0) throw new Error('nothing was read')
  return elapsed / calls
}

function median(values: number[]): string {
  return values
    .sort((a, b) => a - b)
    [values.length >> 1]!.toFixed(0)
    .padStart(5)
}

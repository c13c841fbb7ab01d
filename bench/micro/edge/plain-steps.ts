// Measures, in ns, the steps of AI calls and gates that every plain request passes as well: node bench/micro/edge/plain-steps.ts

import { claim } from '../../../src/edge/answers/claim.ts'
import { recall } from '../../../src/edge/answers/recall.ts'
import type { Exchange } from '../../../src/edge/exchange/exchange.ts'
import { inspect } from '../../../src/edge/guard/inspect.ts'
import { protect } from '../../../src/edge/protect/protect.ts'
import { medianOf } from '../median.ts'

const calls = 5_000_000
const route = { gates: null, stranger: null } as Exchange['route']
/** All that the steps read of a request that is no AI call. */
const plain = Array.from({ length: 64 }, () => ({ ai: null, route }) as Exchange)

let at = 0
let passed = 0
const next = () => plain[at++ & 63]!
const pass = () => {
  const x = next()
  if (claim(x) === null && inspect(x) === null && recall(x) === null) passed++
}
const passGates = () => {
  if (protect(next()) === null) passed++
}
const empty = medianOf(calls, next)
console.log(`claim, inspect and recall: ${(medianOf(calls, pass) - empty).toFixed(1)} ns a plain request`)
console.log(`protect: ${(medianOf(calls, passGates) - empty).toFixed(1)} ns a plain request`)
if (passed === 0) throw new Error('a plain request was stopped')

// What custom errors cost: the way to an answer with rules and pages of some numbers, composed and flattened to bytes; and the first use of a large page.

import type { Facts } from '../../../src/expression/expression.ts'
import type { ErrorRule } from '../../../src/config/model/custom-errors-config.ts'
import type { ErrorResponse } from '../../../src/errors/audience/audience.ts'
import { compose } from '../../../src/errors/audience/people.ts'
import { composeCustom } from '../../../src/errors/custom/compose-custom.ts'
import { CustomErrors, type CustomLayer } from '../../../src/errors/custom/custom-errors.ts'
import { refuse } from '../../../src/errors/catalogue/refusal.ts'
import { noTls } from '../../../src/expression/tls-facts.ts'

const options = { documentation: 'http://127.0.0.1:8081/errors' }
const refusal = refuse('origin_down')
const target = Buffer.alloc(2 * 1024 * 1024)
const rounds = 7
const accept = 'application/json'

const facts: Facts = {
  request: {
    method: 'GET',
    host: 'www.example.com',
    path: '/a/b',
    query: '',
    headers: new Map([['accept', [accept]]]),
    ip: '192.0.2.7',
    country: '',
    asn: 0,
    scheme: 'http' as const,
    tls: noTls,
  },
  response: { code: 521 },
  error: { code: 521, name: 'origin_down', category: 'origin' },
  zone: 'site',
}

const onAccept = (type: string): ErrorRule => ({
  expression: `response.code == 521 && request.headers[?"accept"].orValue([]).exists(a, a.contains("${type}"))`,
  content: '{"error":"::RAY_ID::","from":"::CLIENT_IP::","say":"Désolé"}',
  contentType: 'application/json',
  status: null,
  description: null,
})
const passing = onAccept('application/other')
const matching = onAccept(accept)
const pageOf = (bytes: number) => `<p>${'x'.repeat(bytes)}</p>::SVC_ERROR_500S_BOX::::RAY_ID::`

const layers: Readonly<Record<string, CustomLayer>> = {
  nothing: { rules: [], pages: {} },
  '1 rule that matches': { rules: [matching], pages: {} },
  '1 rule that does not': { rules: [passing], pages: {} },
  '10 rules, the last matches': { rules: [...Array(9).fill(passing), matching], pages: {} },
  'page of 10 kB with a box': { rules: [], pages: { '500_errors': pageOf(10_000) } },
  'page of 1.4 MB with a box': { rules: [], pages: { '500_errors': pageOf(1_400_000) } },
}

for (const [name, layer] of Object.entries(layers)) report(name, new CustomErrors([layer]))
reportFirstUse()

/** Answers as the edge does. */
function answer(custom: CustomErrors, time: number): ErrorResponse {
  const occasion = { ray: time.toString(16).padStart(16, '0'), zone: 'www.example.com', accept, time }
  const found = custom.isEmpty ? null : custom.find('origin_down', facts)
  return found === null
    ? compose(refusal, occasion, options)
    : composeCustom(found.content, refusal, occasion, facts)
}

/** Prints the median over some rounds; time moves by a millisecond a call. */
function report(name: string, custom: CustomErrors): void {
  let time = Date.now()
  const calls = name.includes('MB') ? 200 : 50_000
  const nanoseconds = Array.from({ length: rounds }, () => {
    const start = process.hrtime.bigint()
    for (let i = 0; i < calls; i++) target.write(answer(custom, time++).body, 'latin1')
    return Number(process.hrtime.bigint() - start) / calls
  })
  console.log(`${name.padEnd(28)} ${median(nanoseconds)} ns`)
}

function reportFirstUse(): void {
  const nanoseconds = Array.from({ length: rounds }, (_, i) => {
    const custom = new CustomErrors([{ rules: [], pages: { '500_errors': `${i}é${pageOf(1_400_000)}` } }])
    const start = process.hrtime.bigint()
    answer(custom, Date.now())
    return Number(process.hrtime.bigint() - start)
  })
  console.log(`${'first use of 1.4 MB'.padEnd(28)} ${median(nanoseconds)} ns`)
}

function median(values: readonly number[]): string {
  return values
    .toSorted((a, b) => a - b)
    [values.length >> 1]!.toFixed(0)
    .padStart(9)
}

import { deepEqual, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { callLine, deletionLine, editLine } from '../../src/log-export/lines.ts'
import { root } from '../help/source.ts'
import { account, entry } from './exported.ts'

const schema = JSON.parse(readFileSync(join(root, 'docs/log-export.schema.json'), 'utf8'))
const isValid = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(schema)
const occasion = { ray: '00000000000000aa', account, now: Date.UTC(2026, 0, 2) }

const lines = {
  'a call': callLine(entry()),
  'a call without most': callLine(
    entry({ model: null, timeToFirstByte: null, tokensIn: null, tokensOut: null, cost: null, tokenId: null }),
  ),
  'a call with everything': callLine(
    entry({
      usageIsEstimated: true,
      hasCustomCost: true,
      attempts: [{ provider: 'openai', model: null, outcome: 'http_503', duration: 1 }],
      step: 1,
      eventId: 'e',
      dropped: ['top_k'],
      cached: true,
      saved: { tokensIn: 1, tokensOut: null, cost: 0.5 },
      metadata: { team: 'a', n: 1, is: true },
      app: { user: 'u', email: 'a@b.example', isEmailVerified: true, client: 'c', clientName: 'App' },
      response: { text: 'AA==', isCut: true, isBase64: true },
      providerResponse: { text: '', isCut: false },
    }),
  ),
  'an edit': editLine(occasion, entry({ feedback: 1, score: 50 })),
  'an edit that took all back': editLine(occasion, entry()),
  'a deletion': deletionLine(occasion, 'default'),
}

for (const [name, line] of Object.entries(lines))
  test(`docs/log-export.schema.json fits ${name}`, () => {
    ok(isValid(JSON.parse(line)), JSON.stringify(isValid.errors))
  })

test('docs/log-export.schema.json has every member', () => {
  const kinds = [lines['a call with everything'], lines['an edit'], lines['a deletion']]
  const members = kinds.map(line => Object.keys(JSON.parse(line)))
  const described = schema.oneOf.map((kind: { properties: object }) => Object.keys(kind.properties))
  const bodies = ['request', 'response', 'provider_response']
  deepEqual(
    members[0]!.filter(name => !described[0].includes(name)),
    [],
  )
  deepEqual(
    described[0].filter((name: string) => !members[0]!.includes(name)),
    [],
  )
  deepEqual(members.slice(1), described.slice(1))
  ok(bodies.every(name => members[0]!.includes(name)))
})

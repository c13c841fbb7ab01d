import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { AiExchange } from '../../../src/edge/ai-call/ai-exchange.ts'
import { evidenceLines } from '../../../src/edge/ai-call/response-fields.ts'
import type { LedgerAttempt } from '../../../src/store/records/records.ts'

const openai: LedgerAttempt = { provider: 'openai', model: null, outcome: 'ok', duration: 12.6 }

function linesOf(...attempts: LedgerAttempt[]): string {
  const { provider, model } = attempts.at(-1)!
  const ai = { provider: { name: provider }, model, course: null, attempts, dropped: [] }
  return evidenceLines(ai as unknown as AiExchange, null)
}

function expected(provider: string, ledger: string, more = ''): string {
  return `svc-aig-step: 0\r\nsvc-aig-provider: ${provider}\r\n${more}svc-aig-attempts: ${ledger}\r\n`
}

test('each call has its own lines, whatever the one before had', () => {
  equal(linesOf(openai), expected('openai', 'openai;outcome=ok;ms=13'))
  equal(linesOf({ ...openai, duration: 0 }), expected('openai', 'openai;outcome=ok;ms=0'))
  equal(linesOf({ ...openai, outcome: 'http_503' }), expected('openai', 'openai;outcome=http_503;ms=13'))
  equal(
    linesOf({ ...openai, model: 'gpt-4o' }),
    expected('openai', 'openai;model="gpt-4o";outcome=ok;ms=13', 'svc-aig-model: gpt-4o\r\n'),
  )
  equal(linesOf({ ...openai, model: 'a b' }), expected('openai', 'openai;model="a b";outcome=ok;ms=13'))
  equal(linesOf({ ...openai, provider: 'groq' }), expected('groq', 'groq;outcome=ok;ms=13'))
  equal(linesOf(openai), expected('openai', 'openai;outcome=ok;ms=13'))
})

test('two attempts without a course are listed', () => {
  const first = { ...openai, outcome: 'http_400' }
  equal(linesOf(first, openai), expected('openai', 'openai;outcome=http_400;ms=13, openai;outcome=ok;ms=13'))
})

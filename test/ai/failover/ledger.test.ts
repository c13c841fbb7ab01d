import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { writeLedger } from '../../../src/ai/failover/ledger.ts'
import type { LedgerAttempt } from '../../../src/store/records/records.ts'

test('a ledger is a list of structured items', () => {
  const attempts: LedgerAttempt[] = [
    { provider: 'openai', model: 'gpt-4o-mini', outcome: 'http_503', duration: 12.6 },
    { provider: 'custom-lab', model: null, outcome: 'origin_down', duration: 0 },
    { provider: 'groq', model: 'a"b\\c\u00e9\n', outcome: 'ok', duration: 312 },
  ]
  equal(
    writeLedger(attempts),
    'openai;model="gpt-4o-mini";outcome=http_503;ms=13, custom-lab;outcome=origin_down;ms=0, groq;model="a\\"b\\\\c??";outcome=ok;ms=312',
  )
  equal(writeLedger([]), '')
})

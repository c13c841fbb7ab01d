import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { UsageRefusals } from '../../src/ai/usage-refusals.ts'

test('a refusal is remembered by provider and model, and noted once', () => {
  const refusals = new UsageRefusals()
  equal(refusals.has('openai', 'a'), false)
  deepEqual([refusals.add('openai', 'a'), refusals.add('openai', 'a')], [true, false])
  deepEqual(
    [refusals.has('openai', 'a'), refusals.has('openai', 'b'), refusals.has('groq', 'a')],
    [true, false, false],
  )
})

test('callers that choose many names do not fill the memory', () => {
  const refusals = new UsageRefusals()
  for (let i = 0; i < 1001; i++) refusals.add('openai', `${i}`)
  deepEqual(
    [refusals.has('openai', '0'), refusals.has('openai', '1'), refusals.has('openai', '1000')],
    [false, true, true],
  )
})

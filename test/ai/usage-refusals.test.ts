import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { UsageRefusals } from '../../src/ai/usage-refusals.ts'

const provider = (name: string, url = 'https://llm.example/v1') => ({ name, base: new URL(url) })
const openai = provider('openai')

test('a refusal is remembered by provider and model, and noted once', () => {
  const refusals = new UsageRefusals()
  equal(refusals.has(openai, 'a'), false)
  deepEqual([refusals.add(openai, 'a'), refusals.add(openai, 'a')], [true, false])
  deepEqual(
    [refusals.has(openai, 'a'), refusals.has(openai, 'b'), refusals.has(provider('groq'), 'a')],
    [true, false, false],
  )
})

test('a refusal by the server of one account says nothing of that of another, of the same name', () => {
  const refusals = new UsageRefusals()
  refusals.add(provider('custom-team', 'https://a.example/v1'), 'm')
  equal(refusals.has(provider('custom-team', 'https://b.example/v1'), 'm'), false)
  equal(refusals.has(provider('custom-team', 'https://a.example/v1'), 'm'), true)
})

test('callers that choose many names do not fill the memory', () => {
  const refusals = new UsageRefusals()
  for (let i = 0; i < 1001; i++) refusals.add(openai, `${i}`)
  deepEqual(
    [refusals.has(openai, '0'), refusals.has(openai, '1'), refusals.has(openai, '1000')],
    [false, true, true],
  )
})

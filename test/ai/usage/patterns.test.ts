import { deepEqual, equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type Tokens, usageName, usageAt } from '../../../src/ai/usage/usage-member.ts'
import { levelOf } from '../../../src/ai/usage/level.ts'
import { noTokens } from '../../../src/ai/usage/usage.ts'
import { UsagePatterns } from '../../../src/ai/usage/patterns.ts'
import { anyCharacter } from '../../help/any-text.ts'

const near = 1024

/** Reads the last usage member the long way. */
function parsed(bytes: Buffer): Tokens | null {
  const text = bytes.toString('latin1', Math.max(0, bytes.length - near))
  const at = text.lastIndexOf(usageName)
  const member = at === -1 ? null : usageAt(text, at)
  const start = Math.max(0, bytes.length - near) + at
  if (member === null || levelOf(bytes, start, start + member.text.length, false) !== 1) return null
  const { text: _, ...tokens } = member
  return tokens
}

function tokens(tokensIn: number, tokensOut: number): Tokens {
  return { ...noTokens, tokensIn, tokensOut }
}

/** Gives what has learned the form of an answer. */
function learned(...answers: readonly string[]): UsagePatterns {
  const patterns = new UsagePatterns()
  for (const answer of answers) {
    const member = usageAt(answer, answer.lastIndexOf(usageName))
    patterns.learn(member!.text, Buffer.from(answer, 'latin1'), near)
  }
  return patterns
}

function read(patterns: UsagePatterns, answer: string): Tokens | null {
  return patterns.lastIn(Buffer.from(answer, 'latin1'), near, false)
}

/** The forms of the providers, with numbers in their places. */
const forms: readonly ((n: readonly number[]) => object)[] = [
  n => ({ usage: { prompt_tokens: n[0], completion_tokens: n[1], total_tokens: n[2] } }),
  n => ({
    usage: {
      prompt_tokens: n[0],
      completion_tokens: n[1],
      prompt_tokens_details: { cached_tokens: n[2] },
      completion_tokens_details: { reasoning_tokens: n[3] },
    },
    service_tier: 'default',
  }),
  n => ({
    usage: {
      input_tokens: n[0],
      cache_creation_input_tokens: n[1],
      cache_read_input_tokens: n[2],
      cache_creation: { ephemeral_5m_input_tokens: n[3], ephemeral_1h_input_tokens: n[1] },
      output_tokens: n[4],
      service_tier: 'standard',
    },
  }),
  n => ({
    usageMetadata: {
      promptTokenCount: n[0],
      candidatesTokenCount: n[1],
      thoughtsTokenCount: n[2],
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: n[3] }],
    },
  }),
  n => ({ usage: { output_tokens: n[0] } }),
  n => ({ usage: { prompt_tokens: n[0], prompt_tokens_details: null, completion_tokens: null } }),
]

const form = fc.constantFrom(...forms)
const numbers = fc.array(fc.nat(), { minLength: 5, maxLength: 5 })
const indent = fc.constantFrom(0, 2)
const piece = fc.oneof(
  fc.constantFrom(
    '0',
    '7',
    '-',
    '.',
    'e',
    ',',
    ':',
    '"',
    '{',
    '}',
    '"usage',
    '"output_tokens":1,',
    '\\',
    ' ',
  ),
  fc.string({ unit: anyCharacter, maxLength: 3 }),
)
/** Something that is put in the place of some characters, somewhere from the end on. */
const change = fc.record({ from: fc.nat(400), length: fc.nat(3), piece })

describe('a form of usage that was learned', () => {
  test('reads other numbers', () => {
    fc.assert(
      fc.property(form, indent, numbers, numbers, (form, indent, first, second) => {
        const patterns = learned(JSON.stringify(form(first), null, indent))
        const answer = JSON.stringify(form(second), null, indent)
        deepEqual(read(patterns, answer), parsed(Buffer.from(answer)))
      }),
    )
  })

  test('reads everything as a parser does', () => {
    fc.assert(
      fc.property(
        form,
        indent,
        numbers,
        numbers,
        fc.array(change),
        (form, indent, first, second, changes) => {
          const patterns = learned(JSON.stringify(form(first), null, indent))
          let answer = JSON.stringify(form(second), null, indent)
          for (const { from, length, piece } of changes) {
            const at = Math.max(0, answer.length - from)
            answer = answer.slice(0, at) + piece + answer.slice(at + length)
          }
          const bytes = Buffer.from(answer)
          const tokens = patterns.lastIn(bytes, near, false)
          if (tokens !== null) deepEqual(tokens, parsed(bytes))
        },
      ),
      { numRuns: 1000 },
    )
  })

  test('does not read numbers that are not valid JSON, not whole, or possibly unsafe', () => {
    const usage = (tokens: string) => `{"usage":{"prompt_tokens":${tokens},"completion_tokens":2}}`
    const patterns = learned(usage('1'))
    deepEqual(read(patterns, usage('999999999999999')), tokens(999_999_999_999_999, 2))
    deepEqual(read(patterns, usage('0')), tokens(0, 2))
    for (const tokens of ['01', '-1', '1.5', '1e3', '', ' ', '1 ', '"1"', 'null', '9999999999999999'])
      equal(read(patterns, usage(tokens)), null)
  })

  test('does not read a member that is cut, or far from the end', () => {
    const answer = '{"usage":{"prompt_tokens":1,"completion_tokens":2}}'
    const patterns = learned(answer)
    for (let end = 0; end < answer.length; end++) equal(read(patterns, answer.slice(0, end)), null)
    const rest = near - answer.length + 1
    deepEqual(read(patterns, answer + ' '.repeat(rest)), tokens(1, 2))
    equal(read(patterns, answer + ' '.repeat(rest + 1)), null)
  })
})

test('forms in which numbers are ambiguous are not learned', () => {
  for (const member of ['"total_time":0.5', '"note":"\\u00e9"', '"time":1234567890123456']) {
    const answer = `{"usage":{"prompt_tokens":1,${member}}}`
    equal(read(learned(answer), answer), null)
  }
})

test('a form is not learned from a member that is not the last', () => {
  const member = '"usage":{"prompt_tokens":1}'
  const patterns = new UsagePatterns()
  patterns.learn(member, Buffer.from(`{${member},"usage":null}`), near)
  equal(read(patterns, `{${member}}`), null)
})

test('several forms are known at a time, and the oldest is forgotten', () => {
  const numbers = [1, 2, 3, 4, 5]
  const answers = forms.slice(0, 5).map(form => JSON.stringify(form(numbers)))
  const patterns = learned(...answers)
  equal(read(patterns, answers[0]!), null)
  for (const answer of answers.slice(1)) deepEqual(read(patterns, answer), parsed(Buffer.from(answer)))
})

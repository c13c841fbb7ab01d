import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { patternNames, patterns } from '../../src/guard/patterns.ts'
import { anyCharacter } from '../help/any-text.ts'
import { cpuTime } from '../help/stall.ts'
import { thorough } from '../help/thorough.ts'
import { maxBeginning } from '../../src/guard/pattern.ts'
import { PatternSet } from '../../src/guard/scan.ts'
import { matchesIn, TextScanner } from '../../src/guard/text-scanner.ts'
import { pem, secrets } from './secrets.ts'

const all = new PatternSet(patterns)

const found = (text: string) =>
  matchesIn(text, all).map(({ name, start, end }) => [name, text.slice(start, end)])

describe('what patterns match', () => {
  for (const name of patternNames)
    test(`${name}, wherever a text has it`, () => {
      assert.ok((secrets[name]?.length ?? 0) > 0)
      for (const secret of secrets[name]!)
        for (const [before, after] of [
          ['', ''],
          ['the key is ', ' and no more'],
          ['{"key":"', '"}'],
          ['密钥', '。'],
          ['KEY=', '\n'],
          ['(', ').'],
        ])
          assert.deepEqual(found(before + secret + after), [[name, secret]], before + secret + after)
    })

  test('nothing else', () => {
    for (const text of [
      'sk-1234',
      'a task-force and a risk-assessment-of-many-words-that-are-longer-than-forty-characters',
      `x${secrets.aws_key![0]}`,
      `${secrets.aws_key![0]}0`,
      'AKIAIOSFODNN7EXAMPLE',
      'websvct_order_history_of_all_customers_2026',
      `svct_order_history_${'a'.repeat(30)}`,
      '-----BEGIN PRIVATE KEY----- is how such a file begins, and a few words more do not make it a key.',
      '-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ==\n-----END CERTIFICATE-----',
      '-----BEGIN PUBLIC KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ==\n-----END PUBLIC KEY-----',
      '4111111111111112',
      '41111111111111110000',
      '0.4111111111111111',
      '4111111111111111.5',
      'id_4111111111111111',
      '4111111111111111a',
      '4111 1111 1111-1111',
      '1700000000000000',
      '9111111111111111',
    ])
      assert.deepEqual(found(text), [], text)
  })

  test('the beginning of no pattern is longer than what is looked at behind the end of a text', () => {
    for (const { name, beginning, first } of patterns)
      for (const secret of secrets[name]!) {
        const match = new RegExp(beginning).exec(secret)!
        assert.equal(match.index, 0)
        assert.ok(match[0].length <= maxBeginning)
        assert.ok(first.includes(secret[0]!))
      }
  })

  test('in spite of escapes, at any depth', () => {
    for (const secret of [secrets.aws_key![0]!, secrets.card_number![0]!, pem()]) {
      let nested = `{"a":"x\n${secret}"}`
      for (let depth = 0; depth < 4; depth++) {
        nested = JSON.stringify({ nested })
        assert.deepEqual(
          found(nested).map(([name]) => name),
          found(secret).map(([name]) => name),
          nested,
        )
      }
      const escaped = [...secret].map(c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
      assert.equal(found(escaped)[0]![1], escaped)
      assert.equal(found(JSON.stringify(escaped))[0]![1], JSON.stringify(escaped).slice(1, -1))
    }
    const base64 = `AccountKey=${'aB/d'.repeat(21)}aB==`
    assert.deepEqual(found(base64.replaceAll('/', '\\/')), [['azure_key', base64.replaceAll('/', '\\/')]])
  })

  test('in characters that only look different, or between which some are invisible', () => {
    for (const text of [
      '４１１１１１１１１１１１１１１１',
      '٤١١١١١١١١١١١١١١١',
      '४१११११११११११११११',
      '𝟒𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏',
      '4111\u00a01111\u00a01111\u00a01111',
      '4111‑1111‑1111‑1111',
      '4111\u200b1111\u200b1111\u200b1111',
      'ＡＫＩＡQ3XZ7PLQ3XZ7PLQ3',
      'AK\u2060IAQ3XZ7PLQ3XZ7PLQ3',
    ])
      assert.deepEqual(
        found(` ${text} `).map(([, match]) => match),
        [text],
      )
  })
})

describe('a text in pieces', () => {
  const piece = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...Object.values(secrets).flat()) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(...Object.values(secrets).flat()).map(secret => secret.slice(0, 9)),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        ' ',
        '-',
        '"',
        '\\n',
        '\\u',
        '\\',
        '\\\\u0041',
        '4',
        '1111',
        '.',
        '-----',
        'AKIA',
        'sk-',
        'a',
        '-----END PRIVATE KEY-----',
      ),
    },
    { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 6 }) },
    { weight: 1, arbitrary: fc.constantFrom('４', '\u200b', '\ud835', '\udfd2', '\\ud835\\udfd2') },
  )
  const text = fc.array(piece, { maxLength: 8 }).map(pieces => pieces.join(''))

  test('has the same matches as in one, and none that begins before what was settled', () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat(40), { maxLength: 60 }), (text, lengths) => {
        const scanner = new TextScanner(all)
        const matches = []
        let at = 0
        for (const length of lengths) {
          const settled = scanner.settled
          const next = scanner.push(text.slice(at, at + length))
          at = Math.min(text.length, at + length)
          for (const { start, end } of next) assert.ok(start >= settled && end <= scanner.settled)
          matches.push(...next)
          assert.ok(scanner.settled <= at)
        }
        const settled = scanner.settled
        const last = scanner.end(text.slice(at))
        for (const { start } of last) assert.ok(start >= settled)
        assert.deepEqual([...matches, ...last], new TextScanner(all).end(text))
      }),
      { numRuns: 3_000 },
    )
  })

  test('is never settled within a match', () => {
    for (const secret of Object.values(secrets).flat())
      for (const before of ['', ' ', 'x\\n']) {
        const scanner = new TextScanner(all)
        for (const character of (before + secret).slice(0, -1)) {
          assert.deepEqual(scanner.push(character), [])
          assert.ok(scanner.settled <= before.length, secret)
        }
        assert.equal(scanner.push(`${secret.at(-1)} . .`).length, 1)
      }
  })

  test('goes on at once where nothing can begin', () => {
    const scanner = new TextScanner(all)
    let length = 0
    for (const word of ['Hello', ',', ' I', ' can', ' help', ' with', ' Yes', '!', ' 2024', ' is', ' 1.5']) {
      scanner.push(word)
      length += word.length
      assert.equal(scanner.settled, length)
    }
  })
})

test('what stays undecided in a stream does not grow, whatever follows', () => {
  const key = `-----BEGIN PRIVATE KEY-----\n${'A'.repeat(40)}`
  for (const [first, unit, count] of [
    [key, ' ', 1],
    [key, '\\', 1],
    [key, '\u200b', 1],
    ['sk-', '\u200b', 0],
    ['x', '\\', 0],
  ] as const) {
    const scanner = new TextScanner(all)
    const matches = [...scanner.push(first)]
    for (let length = first.length + 1000; length < 300_000; length += 1000) {
      matches.push(...scanner.push(unit.repeat(1000)))
      assert.ok(length - scanner.settled <= 64 * 1024, JSON.stringify(unit))
    }
    assert.equal(matches.length, count, JSON.stringify(first + unit))
    assert.equal(scanner.push(` ${secrets.aws_key![0]} `).length, 1)
  }
})

test('a run in which many keys could begin is read once', () => {
  const length = 2 ** 18
  for (const unit of ['ya29.', '.ya29.aaa']) {
    const took = cpuTime(() => void new TextScanner(all).end(unit.repeat(length / unit.length)))
    assert.ok(took < length / 5_000, `${unit}: ${took} ms`)
  }
})

test('the time for hostile texts grows with their length', () => {
  const length = thorough(2 ** 20, 2 ** 18)
  for (const unit of [
    'sk-',
    '4',
    '4111 ',
    '-----BEGIN ',
    '-----BEGIN PRIVATE KEY-----',
    '\\',
    '\\u00',
    'AKIA',
    '\u200b',
    'a',
    ' 4111-1111',
  ]) {
    const text = unit.repeat(length / unit.length)
    const took = cpuTime(() => void new TextScanner(all).end(text))
    assert.ok(took < length / 1_400, `${unit}: ${took} ms`)
  }
})

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { passwordFlaw, type passwordFlaws } from '../../../src/people/passwords/password-rules.ts'
import { anyCharacter } from '../../help/any-text.ts'

const words = ['anna.smith1987@example.com', 'Anna', 'Smith', 'Gute Bücher GmbH']

/** What each is refused for; all are in FIPS mode, as passwords.test.ts holds. */
const cases: Readonly<Record<Exclude<keyof typeof passwordFlaws, 'fips'>, readonly string[]>> = {
  too_short: ['', 'short', 'elevenchars', '🗝'.repeat(11), 'scho\u0308nes 123'],
  too_long: [`x ${'correct horse '.repeat(80)}`, '🗝a'.repeat(300)],
  common: ['1qaz2wsx3edc', 'Q1W2E3R4T5Y6', 'password1234', 'Sunshine2024!', 'basketball12', 'leavemealone'],
  repetition: ['aaaaaaaaaaaa', 'abcabcabcabc', 'horsehorsehorse', 'Horsehorsehors', '🗝🔒🗝🔒🗝🔒🗝🔒🗝🔒🗝🔒'],
  sequence: [
    'abcdefghijkl',
    '567890123456',
    '098765432109',
    'zyxwvutsrqpo',
    'WertyuiopasdF',
    'mnbvcxzlkjhgf',
  ],
  own_words: [
    'anna.smith1987',
    'Anna.Smith2024',
    'anna.smith1987@example.com',
    'gute bücher gmbh',
    'GuteBu\u0308cherGmbH!',
    'Gatehouse-2026',
  ],
}

for (const [flaw, passwords] of Object.entries(cases))
  for (const password of passwords)
    test(`${JSON.stringify(password).slice(0, 40)} is refused as ${flaw}`, () => {
      assert.equal(passwordFlaw(password, words), flaw)
    })

test('long passwords of any composition are taken', () => {
  for (const password of [
    'correct horse battery staple',
    'twelve chars',
    'die Katze schläft',
    '🗝🔒🚪🏠🌍🌙⭐🔥💧🌱🍀🎈',
    'password for the gatehouse',
    'smith anna books',
    ' leading and trailing ',
    `${'x'.repeat(11)}y`,
  ])
    assert.equal(passwordFlaw(password, words), null, password)
})

test('random passwords are taken', () => {
  for (let i = 0; i < 2_000; i++) {
    const password = randomBytes(9).toString('base64url')
    assert.equal(passwordFlaw(password, words), null, password)
  }
})

test('no text breaks the rules', () => {
  const known = new Set([...Object.keys(cases), null])
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 40 }), fc.array(fc.string()), (text, own) => {
      assert.ok(known.has(passwordFlaw(text, own)))
    }),
  )
})

test('the list has the 10,000 most common passwords, and its licence', () => {
  const text = readFileSync(
    new URL('../../../src/people/passwords/common-passwords.txt', import.meta.url),
    'utf8',
  )
  const listed = text.split('\n').filter(line => line !== '' && !line.startsWith('#'))
  assert.ok(listed.length >= 10_000)
  assert.equal(new Set(listed).size, listed.length)
  assert.deepEqual(listed.slice(0, 3), ['123456', 'password', '12345678'])
  assert.match(text, /Permission is hereby granted/)
  for (const password of listed) assert.notEqual(passwordFlaw(password, []), null, password)
})

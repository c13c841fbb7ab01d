// Password rules: long and not easily guessed, whatever the composition.

import { getFips } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** Minimum of code points, and maximum of bytes in UTF-8. */
export const passwordBounds = { min: 12, maxBytes: 1_024 } as const

/** Why a password is rejected, and the message for it. */
export const passwordFlaws = {
  fips: 'No password can be set here: this gateway runs in FIPS mode, which lacks Argon2. Sign in with the OpenID provider.',
  too_short: `The password must have at least ${passwordBounds.min} characters.`,
  too_long: `The password must have at most ${passwordBounds.maxBytes} bytes.`,
  common: 'The password must not be one of the most common ones.',
  repetition: 'The password must not repeat a few characters over and over.',
  sequence: 'The password must not be a sequence of neighbouring characters.',
  own_words: 'The password must not be your name or address, or a name of this account.',
} as const

export type PasswordFlaw = keyof typeof passwordFlaws

/** Returns a flaw, or null. `words` are easy to guess: the owner's addresses and names. */
export function passwordFlaw(password: string, words: readonly string[]): PasswordFlaw | null {
  if (getFips() === 1) return 'fips'
  const text = normalPassword(password)
  if ([...text].length < passwordBounds.min) return 'too_short'
  if (Buffer.byteLength(text) > passwordBounds.maxBytes) return 'too_long'
  const folded = text.toLowerCase()
  if (isCommon(folded)) return 'common'
  if (isRepetition(folded)) return 'repetition'
  if (isSequence(folded)) return 'sequence'
  return [...words, product].flatMap(partsOf).some(word => isWord(folded, word)) ? 'own_words' : null
}

/** Composes a password as all keyboards do (NFC), so that its owner may type it anywhere. */
export function normalPassword(password: string): string {
  return password.normalize('NFC')
}

const product = 'gatehouse'

/** How many digits and symbols may follow a common password without making it less common. */
const maxAppended = 5

function isCommon(folded: string): boolean {
  common ??= readCommon()
  for (let cut = 0; cut <= maxAppended; cut++) {
    if (cut > 0 && isLetter.test(folded.at(-cut)!)) return false
    if (common.has(folded.slice(0, folded.length - cut))) return true
  }
  return false
}

const isLetter = /\p{L}/u

let common: ReadonlySet<string> | null = null

function readCommon(): ReadonlySet<string> {
  const lines = readFileSync(new URL('common-passwords.txt', import.meta.url), 'utf8').split('\n')
  return new Set(lines.filter(line => line !== '' && !line.startsWith('#')))
}

/** Whether it repeats one part that would be too short alone; the last repetition may be cut. */
function isRepetition(folded: string): boolean {
  const characters = [...folded]
  const isOfPeriod = (period: number) =>
    characters.every((c, i) => i < period || c === characters[i - period])
  for (let period = 1; period < passwordBounds.min && period <= characters.length / 2; period++)
    if (isOfPeriod(period)) return true
  return false
}

const rings = [
  '0123456789',
  '1234567890',
  'abcdefghijklmnopqrstuvwxyz',
  'qwertyuiopasdfghjklzxcvbnm',
].flatMap(ring => [ring, [...ring].reverse().join('')])

function isSequence(folded: string): boolean {
  return rings.some(ring => ring.repeat(Math.ceil(folded.length / ring.length) + 1).includes(folded))
}

/** An address may be guessed by its part before the @, too. */
function partsOf(word: string): readonly string[] {
  const at = word.lastIndexOf('@')
  return at < 0 ? [word] : [word, word.slice(0, at)]
}

const shortestWord = 4

function isWord(folded: string, word: string): boolean {
  const bare = lettersAndDigits(word.normalize('NFC').toLowerCase())
  if (bare.length < shortestWord) return false
  const guess = lettersAndDigits(folded)
  return guess === bare || withoutDigits(guess) === withoutDigits(bare)
}

function lettersAndDigits(text: string): string {
  return text.replace(/[^\p{L}\p{M}\p{N}]/gu, '')
}

function withoutDigits(text: string): string {
  const core = text.replace(/\p{N}+$/u, '')
  return core.length < shortestWord ? text : core
}

// Keys that begin with a certain text, and go on with so many characters of some set.

import { behindNoWord, isBoundary, isWord, noMatch, type Pattern, type Runs, undecided } from './pattern.ts'

type Characters = 'word' | 'letters' | 'alphanumeric' | 'upper' | 'hex' | 'token' | 'dotted' | 'base64'

/** One form that keys of a kind have; lengths are those of what follows the prefix. */
export interface KeyForm {
  readonly prefix: string
  readonly characters: Characters
  readonly min: number
  readonly max: number
  /** An example that documentation shows all over the world. */
  readonly isExample?: (key: string) => boolean
}

export function keyPattern(name: string, title: string, forms: readonly KeyForm[]): Pattern {
  const prefixes = [...new Set(forms.map(({ prefix }) => prefix))]
  const beginning = prefixes.map(prefix => behindNoWord(prefix.replaceAll('.', '\\.'))).join('|')
  const first = [...new Set(prefixes.map(prefix => prefix[0]!))].join('')
  return { name, title, beginning, first, endOf: (...place) => endOfKey(forms, ...place) }
}

/** The longest of those that match. */
function endOfKey(forms: readonly KeyForm[], text: string, at: number, isFinal: boolean, runs: Runs): number {
  if (!isBoundary(text, at)) return noMatch
  let longest = noMatch
  for (const form of forms) {
    const end = endOfForm(form, text, at, isFinal, runs)
    if (end === undecided) return undecided
    longest = Math.max(longest, end)
  }
  return longest
}

function endOfForm(form: KeyForm, text: string, at: number, isFinal: boolean, runs: Runs): number {
  const { prefix, characters, min, max, isExample } = form
  if (!text.startsWith(prefix, at)) return !isFinal && isPieceOf(prefix, text, at) ? undecided : noMatch
  const start = at + prefix.length
  const table = tables[characters]
  // Whatever the length of a run, it is read up to here only.
  const last = Math.min(text.length, start + max + 1)
  let end = Math.min(last, Math.max(start, runs.get(form) ?? 0))
  while (end < last && table[text.charCodeAt(end)] === 1) end++
  runs.set(form, end)
  const length = end - start
  if (length > max) return noMatch
  if (end === text.length && !isFinal) return undecided
  if (length < min || isExample?.(text.slice(start, end))) return noMatch
  return end
}

/** Whether the text ends within a prefix that begins there. */
function isPieceOf(prefix: string, text: string, at: number): boolean {
  const length = text.length - at
  return length < prefix.length && prefix.startsWith(text.slice(at))
}

function tableOf(holds: (character: string) => boolean): Uint8Array {
  return Uint8Array.from({ length: 0x80 }, (_, code) => (holds(String.fromCharCode(code)) ? 1 : 0))
}

const tables: Readonly<Record<Characters, Uint8Array>> = {
  word: tableOf(character => isWord(character.charCodeAt(0))),
  letters: tableOf(character => /[A-Za-z]/.test(character)),
  alphanumeric: tableOf(character => /[A-Za-z0-9]/.test(character)),
  upper: tableOf(character => /[A-Z0-9]/.test(character)),
  hex: tableOf(character => /[0-9a-f]/.test(character)),
  token: tableOf(character => /[\w-]/.test(character)),
  dotted: tableOf(character => /[\w.-]/.test(character)),
  base64: tableOf(character => /[\w+/=-]/.test(character)),
}

// The part of a check that editors can do, as JSON Schema of draft-07, which all of them read.

import type { Hints } from './value-hints.ts'

export interface Form {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Form>>
  readonly additionalProperties?: false | Form
  readonly items?: Form
  readonly anyOf?: readonly Form[]
  readonly description?: string
  readonly [keyword: string]: unknown
}

/** The texts that a rule accepts: these words, and matches of the pattern; without either, all. */
export interface TextForm {
  readonly words?: readonly string[]
  /** Of ECMAScript, with the flag u. */
  readonly pattern?: string
  /** Minimum and maximum, for texts that are numbers. */
  readonly range?: readonly [number, number]
  /** A restriction that a pattern does not express, such as "from 1s to 1d". */
  readonly limits?: string
  /** What a text must be; by default, the rule's phrase for a wrong one. */
  readonly rule?: string
  /** Hints for texts that are usual elsewhere. */
  readonly hints?: Hints
}

/** Returns the form of a text; editors may take its first letters for a number or a boolean. */
export function formOfText({ words = [], pattern, range, limits }: TextForm, rule: string): Form {
  const natives = words.map(native)
  const quoted = words.filter((_, i) => typeof natives[i] !== 'string')
  const patterns = [
    ...(pattern === undefined ? [] : [pattern]),
    ...quoted.map(word => `^${literally(word)}$`),
  ]
  const hasAny = pattern === undefined && words.length === 0
  const matches = (texts: readonly string[]) =>
    hasAny || (pattern !== undefined && texts.some(text => new RegExp(pattern, 'u').test(text)))
  const numbers = matches(numberTexts) ? [!matches(['0.5']) ? 'integer' : 'number'] : []
  const types = ['string', ...numbers, ...(matches(['true', 'false']) ? ['boolean'] : [])]
  const text = {
    type: types.length === 1 ? types[0]! : types,
    ...(range && { minimum: range[0], maximum: range[1] }),
    ...(!hasAny && { pattern: [...patterns, reference].join('|'), errorMessage: rule }),
    ...(limits !== undefined && { description: limits }),
  }
  return words.length === 0 ? text : oneForm({ enum: [...new Set(natives)], errorMessage: rule }, text)
}

/** Returns the union of some forms. */
export function oneForm(...forms: readonly Form[]): Form {
  return {
    anyOf: forms.flatMap(form => (form.anyOf && Object.keys(form).length === 1 ? form.anyOf : [form])),
  }
}

/** Returns a word as YAML reads it without quotes: some are numbers or booleans. */
export function native(word: string): string | number | boolean {
  if (word === 'true' || word === 'false') return word === 'true'
  return /^\d+(?:\.\d+)?$/.test(word) ? Number(word) : word
}

/** A value that is known only where Gatehouse runs: one with a variable, or the content of a file. */
const reference = '\\$\\{|^file:'

/** Texts that YAML reads as numbers: a value that may be one of them may be a number. */
const numberTexts = [
  '0',
  '7',
  '0.5',
  '404',
  '1'.repeat(16),
  '1'.repeat(32),
  '-1',
  '+1',
  '1e3',
  '0x1f',
  '0o7',
  '.5',
  '.inf',
  '.nan',
]

function literally(word: string): string {
  return word.replaceAll('.', '\\.')
}

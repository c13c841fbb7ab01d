// The forms that a setting can have, as building blocks of a schema: each reads a tree into a value, and
// records every mistake.

import { isDeepStrictEqual } from 'node:util'
import type { Reading } from '../../base/text/quantity.ts'
import { didYouMean } from '../../base/text/nearest.ts'
import type { SecretSource } from '../model/config.ts'
import { Findings, type Place, quote, stepInto } from '../file/mistake.ts'
import { describe, resolveReferences, sourceOf, type Surroundings, variablesIn } from '../file/references.ts'
import type { Entry, Mapping, Sequence, Tree } from '../file/tree.ts'
import { knownElsewhere } from './foreign-names.ts'
import { placesOf } from './setting-places.ts'
import { hintFor } from './value-hints.ts'
import { type Form, formOfText, native, oneForm, type TextForm } from './value-schema.ts'

interface Context {
  readonly findings: Findings
  readonly surroundings: Surroundings
  /** The form of the whole file, for hints about misplaced settings. */
  readonly whole: () => Form
}

/** Reads a tree; undefined means that a mistake was recorded. */
export interface Shape<T> {
  read(tree: Tree, context: Context): T | undefined
  /** Returns the part of the check that editors can do. It accepts all that `read` does. */
  form(): Form
  /** Returns a value as the file would contain it; undefined if it cannot be written. */
  write?(value: NonNullable<T>): unknown
  readonly nullWord?: string
}

export type Value<S> = S extends Shape<infer T> ? T : never

/** Parses the text of one value; a flaw follows the name of the field, such as "must be true or false". */
export interface Rule<T> {
  (text: string): Reading<T>
  readonly form?: TextForm
  /** Returns the text of a value, if that is not the value itself. */
  write?(value: T): string
}

/** Adds to a rule which texts it accepts, and how its values are written. */
export function formed<T>(rule: Rule<T>, form: TextForm, write?: (value: T) => string): Rule<T> {
  return Object.assign((text: string) => rule(text), { form, ...(write && { write }) })
}

interface Field<T> {
  readonly shape: Shape<T>
  readonly fallback: T // also used after a mistake, so that the rest can still be checked
  readonly isRequired: boolean
  readonly variables?: readonly string[] // the first of these that is set is used where the file has none
}

type Fields = Readonly<Record<string, Field<unknown>>>
export type Values<F extends Fields> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never }

/** A value with its position, for rules that compare settings. */
export interface Placed<T> extends Place {
  readonly value: T
  readonly shown: string // safe to print
  readonly variables?: readonly string[] // the environment variables that it refers to; absent for a default
}

/** A value, the variables that it refers to, and its source; for a list, those of each item. */
interface Referring<T> {
  readonly value: T
  readonly variables: readonly string[]
  readonly sources: readonly SecretSource[]
}

/** Adds a position to a default, before the first line. */
export function unwritten<T>(path: string, value: T): Placed<T> {
  return { value, line: 0, column: 0, path, shown: 'its default' }
}

export function optional<T, U = T>(shape: Shape<T>, fallback: U): Field<T | U> {
  return { shape, fallback, isRequired: false }
}

/** Makes the default come from the first of these variables that is set and not empty. */
export function unlessGiven<T>(variables: readonly string[], field: Field<T>): Field<T> {
  return { ...field, variables }
}

/** Makes a required field; its value is null after a mistake. */
export function required<T>(shape: Shape<T>): Field<T | null> {
  return { shape, fallback: null, isRequired: true }
}

/** Makes a mapping that may be missing or empty: its fields have defaults of their own. */
export function group<F extends Fields>(fields: F): Field<Values<F>> {
  const fallbacks = Object.entries(fields).map(([key, { fallback }]) => [key, fallback])
  return { shape: mapping(fields), fallback: Object.fromEntries(fallbacks) as Values<F>, isRequired: false }
}

/**
 * Reads one value; one that is `unprinted` never appears in a message. One that is `literal` may begin like a
 * reference.
 */
export function scalar<T>(rule: Rule<T>, { unprinted = false, literal = false } = {}): Shape<T> {
  return {
    read(tree, { findings, surroundings }) {
      if (tree.kind === 'empty') return findings.flaw(tree, 'is empty: give it a value, or leave it out')
      if (tree.kind !== 'scalar') return refuse(tree, 'must be a single value', findings)
      const text = literal ? { value: tree.text } : resolveReferences(tree.text, surroundings)
      if ('flaw' in text) return findings.flaw(tree, text.flaw)
      const reading = rule(text.value)
      if ('value' in reading) return reading.value
      // The content of a variable or a file may be secret.
      const isWritten = text.value === tree.text
      const hint = isWritten ? hintFor(tree.text, unprinted ? [] : (rule.form?.hints ?? [])) : ''
      return unprinted
        ? findings.flaw(tree, `${reading.flaw}${hint}`)
        : refuse(tree, reading.flaw, findings, hint)
    },
    form: () => formOfText(rule.form ?? {}, flawOf(rule)),
    write: value => native(rule.write?.(value) ?? `${value}`),
  }
}

/** Reads a list; members with mistakes are left out. */
export function list<T>(
  member: Shape<T>,
  { min = 0, max = Number.POSITIVE_INFINITY } = {},
): Shape<readonly T[]> {
  return {
    read(tree, context) {
      const items = itemsOf(tree)
      if (!items) return refuseAlone(tree, member, context)
      if (items.length < min)
        return context.findings.flaw(tree, `must have at least ${min} ${min === 1 ? 'item' : 'items'}`)
      if (items.length > max) return context.findings.flaw(tree, `must have at most ${max} items`)
      return items.map(item => member.read(item, context)).filter(value => value !== undefined)
    },
    form: () => ({
      type: min === 0 ? ['array', 'null'] : 'array',
      items: member.form(),
      ...(min > 0 && { minItems: min }),
      ...(max < Number.POSITIVE_INFINITY && { maxItems: max }),
    }),
    write: values => {
      const written = values.map(value => writtenAs(member, value))
      return written.includes(undefined) ? undefined : written
    },
  }
}

/** Reads a list, or a single value as a list with that one item. */
export function oneOrMore<T>(member: Shape<T>, { min = 0 } = {}): Shape<readonly T[]> {
  const many = list(member, { min })
  return {
    read(tree, context) {
      if (tree.kind === 'mapping') return refuse(tree, 'must be a single value or a list', context.findings)
      return many.read(tree.kind === 'scalar' ? { ...tree, kind: 'sequence', items: [tree] } : tree, context)
    },
    form: () => oneForm(member.form(), many.form()),
    ...(many.write && { write: many.write }),
  }
}

/** Reads a list of mappings with at least one, or a single mapping as a list with that one item. */
export function mappingOrList<T>(member: Shape<T>): Shape<readonly T[]> {
  const many = list(member, { min: 1 })
  return {
    read(tree, context) {
      const rule = 'must be a mapping, or a list of them'
      if (tree.kind === 'empty' || tree.kind === 'scalar') return refuse(tree, rule, context.findings)
      return many.read(tree.kind === 'mapping' ? { ...tree, kind: 'sequence', items: [tree] } : tree, context)
    },
    form: () => oneForm(member.form(), many.form()),
    ...(many.write && { write: many.write }),
  }
}

/** Reads a mapping of known keys; messages never show a value in place of an `unprinted` one. */
export function mapping<F extends Fields>(fields: F, { unprinted = false } = {}): Shape<Values<F>> {
  const keys = Object.keys(fields)
  return {
    read(tree, context) {
      const entries = entriesOf(tree)
      if (!entries) {
        const rule = `must be a mapping with the settings ${keys.join(', ')}`
        return unprinted ? context.findings.flaw(tree, rule) : refuse(tree, rule, context.findings)
      }
      for (const [key, entry] of entries) {
        if (!Object.hasOwn(fields, key)) refuseKey(key, entry, keys, context)
      }
      const read = (key: string) => readField(tree, key, entries.get(key)?.value, fields[key]!, context)
      return Object.fromEntries(keys.map(key => [key, read(key)])) as Values<F>
    },
    form: once(() => formOfMapping(fields)),
    write: values => {
      const written = keys.map(key => [key, writtenAs(fields[key]!.shape, values[key as keyof Values<F>])])
      const isUsual = (key: string, value: unknown) =>
        isDeepStrictEqual(value, {}) || isDeepStrictEqual(value, writtenFallback(fields[key]!))
      return Object.fromEntries(
        written.filter(([key, value]) => value !== undefined && !isUsual(key as string, value)),
      )
    },
  }
}

/** Reads a mapping whose keys are names chosen by the operator; a value with mistakes is null. */
export function dictionary<T>(name: Rule<string>, value: Shape<T>): Shape<ReadonlyMap<string, T | null>> {
  return {
    read(tree, context) {
      const entries = entriesOf(tree)
      if (!entries) return refuse(tree, 'must be a mapping of names', context.findings)
      const values = new Map<string, T | null>()
      for (const [key, entry] of entries) {
        const reading = name(key)
        if ('flaw' in reading) context.findings.mistake(entry.key, `the name ${quote(key)} ${reading.flaw}`)
        values.set(key, value.read(entry.value, context) ?? null)
      }
      return values
    },
    form: () => ({
      type: ['object', 'null'],
      ...(name.form?.pattern !== undefined && {
        propertyNames: { pattern: name.form.pattern, errorMessage: `the name ${flawOf(name)}` },
      }),
      additionalProperties: value.form(),
    }),
  }
}

/** Reads a mapping, or a single value as the mapping with only that key. */
export function shorthand<T>(key: string, full: Shape<T>): Shape<T> {
  return {
    read(tree, context) {
      if (tree.kind !== 'scalar') return full.read(tree, context)
      return full.read(
        { ...tree, kind: 'mapping', entries: new Map([[key, { key: tree, value: tree }]]) },
        context,
      )
    },
    form: () => {
      const whole = full.form()
      const { default: _, ...short } = whole.properties![key]!
      return oneForm(short, whole)
    },
    write: value => {
      const whole = writtenAs(full, value)
      const [name, ...more] = Object.keys(whole ?? {})
      return name === key && more.length === 0 ? (whole as Record<string, unknown>)[key] : whole
    },
  }
}

/** Reads a word that means null, such as off, or else the full form. */
export function wordOr<T>(word: string, full: Shape<T>): Shape<T | null> {
  return {
    read(tree, context) {
      const text = tree.kind === 'scalar' ? resolveReferences(tree.text, context.surroundings) : null
      return text !== null && 'value' in text && text.value === word ? null : full.read(tree, context)
    },
    form: () => oneForm(formOfText({ words: [word] }, `must be ${word}`), full.form()),
    write: value => writtenAs(full, value),
    nullWord: word,
  }
}

/** Reads off as null, on as the full form with nothing but its defaults, or else the full form. */
export function switched<T>(full: Shape<T>): Shape<T | null> {
  return {
    read(tree, context) {
      if (tree.kind !== 'scalar') return full.read(tree, context)
      const text = resolveReferences(tree.text, context.surroundings)
      if ('flaw' in text) return context.findings.flaw(tree, text.flaw)
      if (text.value === 'off' || text.value === 'false') return null
      if (text.value !== 'on' && text.value !== 'true')
        return refuse(tree, 'must be on, off, or a mapping of settings', context.findings)
      const { line, column, path } = tree
      return full.read({ kind: 'empty', line, column, path }, context)
    },
    form: () =>
      oneForm(formOfText({ words: ['on', 'off', 'true', 'false'] }, 'must be on or off'), full.form()),
    write: value => writtenAs(full, value),
    nullWord: 'off',
  }
}

export function placed<T>(shape: Shape<T>): Shape<Placed<T>> {
  return {
    read(tree, context) {
      const value = shape.read(tree, context)
      if (value === undefined) return undefined
      const { line, column, path } = tree
      const variables = tree.kind === 'scalar' ? variablesIn(tree.text) : []
      return { value, line, column, path, shown: describeTree(tree), variables }
    },
    form: () => shape.form(),
    write: ({ value }) => writtenAs(shape, value),
  }
}

/** Adds the variables to which a value, or each item of a list, refers, and its source. */
export function referring<T>(shape: Shape<T>): Shape<Referring<T>> {
  return {
    read(tree, context) {
      const value = shape.read(tree, context)
      const written = (itemsOf(tree) ?? [tree]).flatMap(one => (one.kind === 'scalar' ? one.text : []))
      const variables = written.flatMap(variablesIn)
      return value === undefined ? undefined : { value, variables, sources: written.map(sourceOf) }
    },
    form: () => shape.form(),
  }
}

function formOfMapping(fields: Fields): Form {
  const required = Object.keys(fields).filter(key => fields[key]!.isRequired)
  return {
    type: required.length === 0 ? ['object', 'null'] : 'object',
    properties: Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, formOfField(field)])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }
}

function formOfField(field: Field<unknown>): Form {
  const usual = field.isRequired ? undefined : writtenFallback(field)
  const form = field.shape.form()
  return usual === undefined ? form : { ...form, default: usual }
}

/** Returns a default as the file would contain it; undefined if its fields say it all. */
function writtenFallback({ shape, fallback }: Field<unknown>): unknown {
  const usual = writtenAs(shape, fallback)
  return isDeepStrictEqual(usual, {}) ? undefined : usual
}

/** Computes a value on first use, so that a mapping in several places has one form. */
function once<T>(compute: () => T): () => T {
  let value: T | undefined
  return () => {
    value ??= compute()
    return value
  }
}

function writtenAs<T>(shape: Shape<T>, value: unknown): unknown {
  if (value === null) return shape.nullWord && native(shape.nullWord)
  return value === undefined ? undefined : shape.write?.(value as NonNullable<T>)
}

/** Returns what a rule says a text must be, by reading a text that no rule accepts. */
function flawOf(rule: Rule<unknown>): string {
  const reading = rule('\0')
  return rule.form?.rule ?? ('flaw' in reading ? reading.flaw : '')
}

function itemsOf(tree: Tree): Sequence['items'] | null {
  if (tree.kind === 'sequence') return tree.items
  return tree.kind === 'empty' ? [] : null
}

function entriesOf(tree: Tree): Mapping['entries'] | null {
  if (tree.kind === 'mapping') return tree.entries
  return tree.kind === 'empty' ? new Map() : null
}

function refuseKey(key: string, entry: Entry, names: readonly string[], { findings, whole }: Context): void {
  const meant = knownElsewhere(key, names)
  const hint = meant === null ? didYouMean(key, names) || thereIs(key, whole()) : `; did you mean ${meant}?`
  findings.mistake(entry.key, `unknown setting ${quote(key)}${hint}`)
}

/** Rejects a value that is not a list: shows how to write it as one, or reports another mistake in it. */
function refuseAlone(tree: Tree, member: Shape<unknown>, { findings, ...context }: Context): undefined {
  const own = new Findings()
  const path = stepInto(tree.path, 0)
  if (tree.kind === 'scalar') member.read({ ...tree, path }, { ...context, findings: own })
  refuse(tree, 'must be a list', findings, own.mistakes.length === 0 ? asList(tree) : '')
  for (const { message, ...place } of own.mistakes) findings.mistake(place, message)
}

function asList(tree: Tree): string {
  if (tree.kind !== 'scalar' || !/^[\w./:-]{1,80}$/.test(tree.text)) return ''
  return `; write [${tree.text.includes(':') ? `'${tree.text}'` : tree.text}]`
}

function thereIs(key: string, whole: Form): string {
  const places = placesOf(key, whole).map(place => (place === key ? `${key} at the top level` : place))
  if (places.length === 0 || places.length > 3) return ''
  const [last, ...others] = places.toReversed()
  return `; there ${others.length > 0 ? 'are' : 'is'} ${[others.toReversed().join(', '), last].filter(Boolean).join(' and ')}`
}

function readField<T>(
  parent: Tree,
  key: string,
  tree: Tree | undefined,
  field: Field<T>,
  context: Context,
): T {
  if (tree !== undefined) {
    const value = field.shape.read(tree, context)
    return value === undefined ? field.fallback : value
  }
  const path = stepInto(parent.path, key)
  if (field.isRequired) context.findings.flaw({ ...parent, path }, 'is missing')
  const variable = field.variables?.find(name => context.surroundings.env[name])
  if (variable === undefined) return field.fallback
  const text = `\${${variable}}`
  const given = { kind: 'scalar', line: 0, column: 0, path, text, inset: null } as const
  return field.shape.read(given, context) ?? field.fallback
}

function refuse(tree: Tree, rule: string, findings: Findings, hint = ''): undefined {
  return findings.flaw(tree, `${rule}; got ${describeTree(tree)}${hint}`)
}

function describeTree(tree: Tree): string {
  if (tree.kind === 'scalar') return describe(tree.text)
  return { empty: 'empty', sequence: 'a list', mapping: 'a mapping' }[tree.kind]
}

// The forms a setting can take, as parts to build a schema of: each reads a tree to a value, and notes every mistake it meets.
import type { Reading } from '../base/quantity.ts'
import { didYouMean, type Findings, fieldName, type Place, quote, stepInto } from './mistake.ts'
import { describe, resolveReferences, type Surroundings } from './references.ts'
import type { Mapping, Tree } from './tree.ts'

export interface Context {
  readonly findings: Findings
  readonly surroundings: Surroundings
}

/** Reads a tree; undefined means that a mistake was noted. */
export interface Shape<T> {
  read(tree: Tree, path: string, context: Context): T | undefined
}

export type Value<S> = S extends Shape<infer T> ? T : never

/** Reads the text of one value; a flaw follows the name of the field, such as "must be true or false". */
export type Rule<T> = (text: string) => Reading<T>

export interface Field<T> {
  readonly shape: Shape<T>
  readonly fallback: T // stands in after a mistake too, so that the rest can still be checked
  readonly isRequired: boolean
}

export type Fields = Readonly<Record<string, Field<unknown>>>
export type Values<F extends Fields> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never }

/** A value together with where it stands, for rules that compare settings. */
export interface Placed<T> extends Place {
  readonly value: T
  readonly path: string
  readonly shown: string // safe to print
}

/** Makes a field that may be left out. */
export function optional<T, U = T>(shape: Shape<T>, fallback: U): Field<T | U> {
  return { shape, fallback, isRequired: false }
}

/** Makes a field that must be there; it is null after a mistake. */
export function required<T>(shape: Shape<T>): Field<T | null> {
  return { shape, fallback: null, isRequired: true }
}

/** Makes a mapping that may be left out, or be left empty: its fields have defaults of their own. */
export function group<F extends Fields>(fields: F): Field<Values<F>> & { readonly shape: MappingShape<F> } {
  return { shape: mapping(fields), fallback: fallbacks(fields), isRequired: false }
}

/** Reads one value; one that is `unprinted` never stands in a message. */
export function scalar<T>(rule: Rule<T>, { unprinted = false } = {}): Shape<T> {
  return {
    read(tree, path, { findings, surroundings }) {
      const name = fieldName(path)
      if (tree.kind === 'empty')
        return findings.mistake(tree, path, `${name} is empty: give it a value, or leave it out`)
      if (tree.kind !== 'scalar')
        return findings.mistake(tree, path, `${name} must be a single value, but is ${describeTree(tree)}`)
      const resolved = resolveReferences(tree.text, surroundings)
      if ('flaw' in resolved) return findings.mistake(tree, path, `${name} ${resolved.flaw}`)
      const reading = rule(resolved.value)
      if ('value' in reading) return reading.value
      return findings.mistake(
        tree,
        path,
        `${name} ${reading.flaw}${unprinted ? '' : `, but is ${describe(tree.text)}`}`,
      )
    },
  }
}

/** Reads a list; members with mistakes are left out. */
export function list<T>(member: Shape<T>, { least = 0 } = {}): Shape<readonly T[]> {
  return {
    read(tree, path, context) {
      const items = tree.kind === 'empty' ? [] : tree.kind === 'sequence' ? tree.items : null
      if (items === null) return refuse(tree, path, context, 'must be a list')
      if (items.length < least) return refuse(tree, path, context, `must have at least ${least} member`)
      return items
        .map((item, i) => member.read(item, stepInto(path, i), context))
        .filter(value => value !== undefined)
    },
  }
}

export interface MappingShape<F extends Fields> extends Shape<Values<F>> {
  readonly fields: F
}

/** Reads a mapping of known keys; any other key is a mistake. */
export function mapping<F extends Fields>(fields: F): MappingShape<F> {
  return {
    fields,
    read(tree, path, context) {
      if (tree.kind !== 'mapping' && tree.kind !== 'empty')
        return refuse(tree, path, context, `must be a mapping of ${Object.keys(fields).join(', ')}`)
      const entries: Mapping['entries'] = tree.kind === 'mapping' ? tree.entries : new Map()
      refuseUnknown(entries, fields, path, context)
      const values = Object.entries(fields).map(([key, field]) => [
        key,
        readField(tree, entries.get(key)?.value, field, stepInto(path, key), context),
      ])
      return Object.fromEntries(values) as Values<F>
    },
  }
}

/** Reads a mapping whose keys are names that the operator gives; a value with mistakes is null. */
export function dictionary<T>(name: Rule<string>, value: Shape<T>): Shape<ReadonlyMap<string, T | null>> {
  return {
    read(tree, path, context) {
      if (tree.kind === 'empty') return new Map()
      if (tree.kind !== 'mapping') return refuse(tree, path, context, 'must be a mapping of names')
      const values = new Map<string, T | null>()
      for (const [key, entry] of tree.entries) {
        const at = stepInto(path, key)
        const reading = name(key)
        if ('flaw' in reading)
          context.findings.mistake(entry.key, at, `the name ${fieldName(at)} ${reading.flaw}`)
        values.set(key, value.read(entry.value, at, context) ?? null)
      }
      return values
    },
  }
}

/** Reads a mapping, or a single value that stands for the mapping with only that key. */
export function shorthand<T>(key: string, full: Shape<T>): Shape<T> {
  return {
    read(tree, path, context) {
      if (tree.kind !== 'scalar') return full.read(tree, path, context)
      const { line, column } = tree
      return full.read(
        { kind: 'mapping', line, column, entries: new Map([[key, { key: tree, value: tree }]]) },
        path,
        context,
      )
    },
  }
}

/** Keeps with a value where it stands. */
export function placed<T>(shape: Shape<T>): Shape<Placed<T>> {
  return {
    read(tree, path, context) {
      const value = shape.read(tree, path, context)
      if (value === undefined) return undefined
      return { value, path, line: tree.line, column: tree.column, shown: describeTree(tree) }
    },
  }
}

function readField<T>(
  parent: Tree,
  tree: Tree | undefined,
  field: Field<T>,
  path: string,
  context: Context,
): T {
  if (tree !== undefined) return field.shape.read(tree, path, context) ?? field.fallback
  if (field.isRequired) context.findings.mistake(parent, path, `${fieldName(path)} is missing`)
  return field.fallback
}

function refuseUnknown(
  entries: Mapping['entries'],
  fields: Fields,
  path: string,
  { findings }: Context,
): void {
  for (const [key, entry] of entries) {
    if (Object.hasOwn(fields, key)) continue
    findings.mistake(
      entry.key,
      stepInto(path, key),
      `${quote(key)} is not a setting here${didYouMean(key, Object.keys(fields))}`,
    )
  }
}

function refuse(tree: Tree, path: string, { findings }: Context, rule: string): undefined {
  return findings.mistake(tree, path, `${fieldName(path)} ${rule}, but is ${describeTree(tree)}`)
}

function describeTree(tree: Tree): string {
  if (tree.kind === 'scalar') return describe(tree.text)
  return { empty: 'empty', sequence: 'a list', mapping: 'a mapping' }[tree.kind]
}

function fallbacks<F extends Fields>(fields: F): Values<F> {
  return Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, field.fallback])) as Values<F>
}

// A JSON Schema as lines for people: each member with its path, its type and its rules in words.

import type { Schema } from '../schema/schema.ts'

export interface SchemaRow {
  /** From the outermost object, as `policies[].effect`; `*` stands for any name. */
  readonly name: string
  readonly isRequired: boolean
  readonly type: string
  readonly description: string
  /** Sentences without a full stop; code is within backticks. */
  readonly rules: readonly string[]
  /** Its possible values, as JSON; empty if there are others. */
  readonly values: readonly string[]
}

type Schemas = Readonly<Record<string, Schema>>

/** Lists all members, each before its own; `without` omits some of the outermost object. */
export function schemaRows(
  schema: Schema,
  schemas: Schemas,
  without: readonly string[] = [],
): readonly SchemaRow[] {
  return membersOf(resolved(schema, schemas), '', schemas, []).filter(
    ({ name }) => !without.includes(/^\w*/.exec(name)![0]),
  )
}

export function schemaRow(name: string, isRequired: boolean, schema: Schema, schemas: Schemas): SchemaRow {
  const own = resolved(schema, schemas)
  const description = (schema.description ?? own.description ?? '') as string
  return {
    name,
    isRequired,
    type: typeOf(own, schemas),
    description,
    rules: rulesOf(own, schemas),
    values: valuesOf(own, schemas),
  }
}

function membersOf(
  schema: Schema,
  path: string,
  schemas: Schemas,
  around: readonly string[],
): readonly SchemaRow[] {
  if (schema.items !== undefined) {
    const items = schema.items as Schema
    return isAround(items, around)
      ? []
      : membersOf(resolved(items, schemas), `${path}[]`, schemas, within(items, around))
  }
  const required = (schema.required ?? []) as readonly string[]
  const named = Object.entries((schema.properties ?? {}) as Schemas)
  const patterns = Object.values((schema.patternProperties ?? {}) as Schemas)
  const others =
    typeof schema.additionalProperties === 'object' ? [schema.additionalProperties as Schema] : []
  const all = [...named, ...[...patterns, ...others].map(one => ['*', one] as const)]
  return all.flatMap(([name, one]) => {
    const at = path === '' ? name : `${path}.${name}`
    const row = schemaRow(at, required.includes(name), one, schemas)
    return isAround(one, around)
      ? [row]
      : [row, ...membersOf(resolved(one, schemas), at, schemas, within(one, around))]
  })
}

function within({ $ref }: Schema, around: readonly string[]): readonly string[] {
  return typeof $ref === 'string' ? [...around, $ref] : around
}

/** Whether a schema is part of itself here, and thus recursive. */
function isAround({ $ref }: Schema, around: readonly string[]): boolean {
  return typeof $ref === 'string' && around.includes($ref)
}

function resolved(schema: Schema, schemas: Schemas): Schema {
  return typeof schema.$ref === 'string' ? schemas[schema.$ref.split('/').at(-1)!]! : schema
}

function typeOf(schema: Schema, schemas: Schemas): string {
  const { type, format, items, anyOf } = schema
  if (Array.isArray(anyOf)) return anyOf.map(one => typeOf({ type, ...one }, schemas)).join(' or ')
  if (items !== undefined) {
    const list = `list of ${plural(typeOf(resolved(items as Schema, schemas), schemas))}`
    return Array.isArray(type) && type.includes('null') ? `${list}, or null` : list
  }
  const types = (Array.isArray(type) ? type : [type ?? 'any value']) as readonly string[]
  return types
    .map(one =>
      one === 'string' && format !== undefined ? (formats[format as string] ?? String(format)) : one,
    )
    .join(' or ')
}

const formats: Readonly<Record<string, string>> = {
  'date-time': 'date-time string',
  date: 'date string',
  uri: 'URI',
  ipv4: 'IPv4 address',
  ipv6: 'IPv6 address',
  'json-pointer': 'JSON pointer',
}

function plural(type: string): string {
  return type
    .split(' or ')
    .map(one => {
      if (one === 'any value') return 'any values'
      if (one.startsWith('list')) return one.replace('list', 'lists')
      return one === 'null' ? one : one.replace(/s?$/, one.endsWith('ss') ? 'es' : 's')
    })
    .join(' or ')
}

function valuesOf(schema: Schema, schemas: Schemas): readonly string[] {
  if (Array.isArray(schema.enum)) return schema.enum.map(value => JSON.stringify(value))
  if ('const' in schema) return [JSON.stringify(schema.const)]
  if (schema.items === undefined) return []
  const items = resolved(schema.items as Schema, schemas)
  return items.properties === undefined ? valuesOf(items, schemas) : []
}

const words: Readonly<Record<string, (value: never, schema: Schema) => string | null>> = {
  minimum: (value: number, { maximum }) =>
    maximum === undefined ? `at least ${value}` : `from ${value} to ${maximum}`,
  maximum: (value: number, { minimum }) => (minimum === undefined ? `at most ${value}` : null),
  exclusiveMinimum: (value: number) => `more than ${value}`,
  minLength: (value: number, { maxLength }) => range(value, maxLength, 'character'),
  maxLength: (value: number, { minLength }) =>
    minLength === undefined ? range(undefined, value, 'character') : null,
  minItems: (value: number, { maxItems }) => range(value, maxItems, 'item'),
  maxItems: (value: number, { minItems }) =>
    minItems === undefined ? range(undefined, value, 'item') : null,
  minProperties: (value: number, { maxProperties }) => range(value, maxProperties, 'member'),
  maxProperties: (value: number, { minProperties }) =>
    minProperties === undefined ? range(undefined, value, 'member') : null,
  uniqueItems: () => 'no duplicates',
  // What a format means is clearer than its pattern.
  pattern: (value: string, { format }) => (format === undefined ? `matches ${code(value)}` : null),
  patternProperties: (value: Schemas) => `names match ${Object.keys(value).map(code).join(' or ')}`,
  contains: ({ const: value, not }: Schema) =>
    `contains ${not === undefined ? '' : 'something other than '}${code(JSON.stringify(value ?? (not as Schema).const))}`,
  not: ({ required, enum: values }: Schema) =>
    required === undefined
      ? `none of ${(values as readonly unknown[]).map(one => code(JSON.stringify(one))).join(', ')}`
      : `not ${named(required).join(' together with ')}`,
  oneOf: (value: readonly Schema[]) =>
    `exactly one of ${value.flatMap(({ required }) => named(required)).join(', ')}`,
  examples: (value: readonly unknown[]) =>
    `for example ${value.map(one => code(JSON.stringify(one))).join(', ')}`,
}

const elsewhere: ReadonlySet<string> = new Set([
  ...['type', 'format', 'items', 'anyOf', 'enum', 'const', 'description'],
  ...['properties', 'required', 'additionalProperties'],
])

function rulesOf(schema: Schema, schemas: Schemas): readonly string[] {
  const rules = Object.entries(schema).flatMap(([keyword, value]) => {
    if (elsewhere.has(keyword)) return []
    const say = words[keyword]
    if (say === undefined) throw new Error(`no words for ${keyword} of JSON Schema`)
    const rule = say(value as never, schema)
    return rule === null ? [] : [rule]
  })
  if (schema.items === undefined) return rules
  const items = resolved(schema.items as Schema, schemas)
  return [...rules, ...rulesOf(items, schemas).map(rule => `each: ${rule}`)]
}

function range(min: unknown, max: unknown, what: string): string {
  const bound = Number(max ?? min)
  const unit = bound === 1 ? what : `${what}s`
  if (min === undefined) return bound === 0 ? `no ${what}s` : `at most ${max} ${unit}`
  if (max === undefined) return `at least ${min} ${unit}`
  return min === max ? `${min} ${unit}` : `${min} to ${max} ${unit}`
}

function code(text: string): string {
  return `\`${text}\``
}

function named(members: unknown): readonly string[] {
  return (members as readonly string[]).map(code)
}

// Shorthands for JSON Schemas (2020-12).

export type Schema = Readonly<Record<string, unknown>>

export type Members = Readonly<Record<string, Schema>>

/** Returns an object of a request: unknown members are refused. */
export function closed(required: Members, optional: Members = {}): Schema {
  return { ...open(required, optional), additionalProperties: false }
}

/** Returns an object of a response: later versions may add members. */
export function open(required: Members, optional: Members = {}): Schema {
  const names = Object.keys(required)
  return {
    type: 'object',
    ...(names.length > 0 && { required: names }),
    properties: { ...required, ...optional },
  }
}

export function listOf(items: Schema, min = 0, max?: number): Schema {
  return { type: 'array', items, ...(min > 0 && { minItems: min }), ...(max && { maxItems: max }) }
}

export function setOf(items: Schema, min = 0, max?: number): Schema {
  return { ...listOf(items, min, max), uniqueItems: true }
}

export function whole(min: number, max?: number): Schema {
  return { type: 'integer', minimum: min, ...(max !== undefined && { maximum: max }) }
}

export function oneOf(choices: readonly unknown[]): Schema {
  const types = [...new Set(choices.map(typeOf))]
  return { type: types.length === 1 ? types[0] : types, enum: choices }
}

export function exactly(value: unknown): Schema {
  return { type: typeOf(value), const: value }
}

export function orNull({ type, ...rules }: Schema & { readonly enum?: readonly unknown[] }): Schema {
  return { ...rules, type: [type, 'null'], ...(rules.enum && { enum: [...rules.enum, null] }) }
}

export function about(description: string, schema: Schema = {}): Schema {
  return { ...schema, description }
}

/** Returns a reference to a schema among the components of the document. */
export function named(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` }
}

export const text: Schema = { type: 'string' }
export const flag: Schema = { type: 'boolean' }
export const emailVerified: Schema = {
  ...flag,
  description:
    'Whether an OpenID provider has verified the address. If not, it may be anybody’s: do not take it for who the user is.',
}
export const number: Schema = { type: 'number' }
export const id: Schema = { type: 'string', pattern: '^[0-9a-f]{32}$' }
export const time: Schema = { type: 'string', format: 'date-time' }

/** A time as in requests (RFC 3339). */
export const writtenTime: Schema = {
  ...time,
  pattern:
    '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2})$',
}

/** Its pattern is limited to syntax that the regular expressions of all languages share. */
export function printable(maxLength: number, more = ''): Schema {
  return {
    ...text,
    description: `Not blank, without line breaks or characters that change text direction (U+202A to U+202E, U+2066 to U+2069)${more}.`,
    minLength: 1,
    maxLength: maxLength,
    pattern: '^[^\\x00-\\x1f\\x7f-\\x9f]*$',
  }
}

export function success(result: Schema): Schema {
  return open({ ...envelope(true, none), result })
}

export function page(item: Schema): Schema {
  const result_info = named('ResultInfo')
  return open({ ...envelope(true, none), result: listOf(item), result_info })
}

export function piece(item: Schema, info: Schema): Schema {
  return open({ ...envelope(true, none), result: listOf(item), result_info: info })
}

export function refusal(codes: readonly number[]): Schema {
  const error = open({ code: oneOf(codes), message: text }, { source: named('Source') })
  return open({ ...envelope(false, listOf(error, 1)), result: { type: 'null' } })
}

const none: Schema = { type: 'array', maxItems: 0 }

function envelope(isGood: boolean, errors: Schema): Members {
  return { success: exactly(isGood), errors, messages: none }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Number.isInteger(value) ? 'integer' : typeof value
}

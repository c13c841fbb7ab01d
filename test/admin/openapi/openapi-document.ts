// The document of the API as tests read it: its operations in a list, and checks of values against its schemas.

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { openapiDocument } from '../../../src/admin/openapi/openapi.ts'
import { apiRows, plainRows, userRows } from '../../../src/admin/routes.ts'
import type { Schema } from '../../../src/admin/schema/schema.ts'
import { zoneRows } from '../../../src/admin/zones/routes.ts'

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly schema: Schema
}

export interface Response {
  readonly headers: Readonly<Record<string, { readonly required: boolean; readonly schema: Schema }>>
  readonly content: Readonly<Record<string, { readonly schema: Schema }>>
}

export interface Described {
  readonly id: string
  readonly tag: string
  readonly summary: string
  readonly method: string
  readonly path: string
  readonly permission: string | null
  readonly hasToken: boolean
  readonly parameters: readonly Parameter[]
  readonly body: {
    readonly type: string
    readonly schema: Schema
    readonly examples: readonly unknown[]
  } | null
  readonly responses: Readonly<Record<string, Response>>
}

export const rows = [...apiRows, ...zoneRows, ...plainRows, ...userRows]

export const document = openapiDocument(rows)

/** Every operation, with what it refers to put in. */
export const described: readonly Described[] = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([name]) => name !== 'parameters')
    .map(([method, operation]) => read(method.toUpperCase(), path, operation, item.parameters ?? [])),
)

/** Tells what of a value a schema of the document forbids; nothing when it is valid. */
export function faultsOf(schema: Schema, value: unknown): string {
  const validate = compiled.get(schema) ?? compile(schema)
  compiled.set(schema, validate)
  return validate(value) ? '' : ajv.errorsText(validate.errors)
}

function compile(schema: Schema): ValidateFunction {
  const text = JSON.stringify(schema)
  const validate = compiledTexts.get(text) ?? ajv.compile(absolute(schema) as Schema)
  compiledTexts.set(text, validate)
  return validate
}

/** Tells in what an answer is not as its operation says; nothing when it is. */
export function flawsOf(
  { id, responses }: Described,
  { status, headers }: globalThis.Response,
  body: string,
): string {
  const place = `${id} ${status}`
  const response = responses[status]
  if (!response) return `${place} is not documented`
  const type = headers.get('content-type') ?? ''
  const content = response.content[type]
  if (!content) return `${place}: ${type} is not documented`
  const value = type.startsWith('application/json') ? JSON.parse(body) : body
  const flaws = [faultsOf(content.schema, value), ...headerFlaws(response.headers, headers)]
  return flaws
    .filter(flaw => flaw !== '')
    .map(flaw => `${place}: ${flaw} in ${body}`)
    .join('\n')
}

function headerFlaws(documented: Response['headers'], headers: Headers): readonly string[] {
  return Object.entries(documented).map(([name, { required, schema }]) => {
    const text = headers.get(name)
    if (text === null) return required ? `${name} is missing` : ''
    const flaw = faultsOf(schema, schema.type === 'integer' ? Number(text) : text)
    return flaw && `${name}: ${flaw}`
  })
}

const compiled = new Map<Schema, ValidateFunction>()
/** By their text: most operations share their responses. */
const compiledTexts = new Map<string, ValidateFunction>()
const base = 'https://document.example/'
const ajv = new Ajv2020({ strict: false, allErrors: true, verbose: true })
formats.default(ajv)
ajv.addSchema({ $id: base, components: exact(document.components) })

type Contents = [[string, { schema: Schema; examples: Record<string, { value: unknown }> }]?]

// biome-ignore lint/suspicious/noExplicitAny: it is read as the JSON that it becomes
function read(method: string, path: string, operation: any, shared: any): Described {
  const [[type, content] = []] = Object.entries(operation.requestBody?.content ?? {}) as Contents
  const responses = Object.entries(operation.responses).map(([status, response]) => [
    status,
    exact(resolved(response)),
  ])
  return {
    id: operation.operationId,
    tag: operation.tags[0],
    summary: operation.summary,
    method,
    path,
    permission: operation['x-permission'] ?? null,
    hasToken: operation.security === undefined,
    parameters: [...shared, ...(operation.parameters ?? [])].map(resolved) as Parameter[],
    body: content
      ? {
          type: type!,
          schema: content.schema,
          examples: Object.values(content.examples).map(({ value }) => value),
        }
      : null,
    responses: Object.fromEntries(responses),
  }
}

/** Puts in what is referred to, but for schemas. */
function resolved(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(resolved)
  const { $ref } = value as { $ref?: string }
  if ($ref !== undefined && !$ref.startsWith('#/components/schemas/')) return resolved(pointed($ref))
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolved(member)]))
}

/** Finds what a reference within the document names. */
export function pointed(reference: string): unknown {
  const steps = reference.replace(/^#\//, '').split('/')
  return steps.reduce<unknown>(
    (place, step) => (place as Record<string, unknown> | undefined)?.[step],
    document,
  )
}

/** Forbids in objects what their schemas don't name: what an answer shows must be documented. */
function exact(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(exact)
  const members = Object.entries(value).map(([name, member]) => [name, exact(member)])
  const isOpen = 'type' in value && 'properties' in value && !('additionalProperties' in value)
  return { ...Object.fromEntries(members), ...(isOpen && { additionalProperties: false }) }
}

function absolute(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(absolute)
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === '$ref' ? `${base}${member}` : absolute(member),
    ]),
  )
}

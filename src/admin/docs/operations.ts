// The document of the API for its pages: each operation with its references resolved.

import type { Schema } from '../schema/schema.ts'

export interface Document {
  readonly info: { readonly title: string; readonly description: string }
  readonly tags: readonly Tag[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly components: Components
}

interface Tag {
  readonly name: string
  readonly description: string
}

interface Components {
  readonly schemas: Readonly<Record<string, Schema>>
  readonly parameters: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, unknown>>
  readonly responses: Readonly<Record<string, unknown>>
}

export interface Operation {
  readonly id: string
  readonly tag: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly permission: string | null
  readonly token: 'yes' | 'no' | 'maybe'
  readonly parameters: readonly Parameter[]
  readonly body: Body | null
  readonly good: Response
  readonly refusals: readonly Response[]
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description?: string
  readonly schema: Schema
}

interface Body {
  readonly type: string
  readonly schema: Schema
  readonly examples: readonly Example[]
}

interface Example {
  readonly summary: string
  readonly value: unknown
}

export interface Response {
  readonly status: string
  readonly description: string
  readonly headers: readonly Header[]
  readonly content: readonly Content[]
}

interface Header {
  readonly name: string
  readonly description: string
}

interface Content {
  readonly type: string
  readonly schema: Schema
}

/** Lists the operations of a document, in its order. */
export function operationsOf({ paths, components }: Document): readonly Operation[] {
  return Object.entries(paths).flatMap(([path, { parameters = [], ...item }]) =>
    Object.entries(item as Readonly<Record<string, WrittenOperation>>).map(([method, operation]) =>
      read(method.toUpperCase(), path, operation, parameters as readonly Reference[], components),
    ),
  )
}

interface Reference {
  readonly $ref: string
}

interface WrittenOperation {
  readonly operationId: string
  readonly tags: readonly [string]
  readonly summary: string
  readonly description?: string
  readonly 'x-permission'?: string
  readonly security?: readonly object[]
  readonly parameters?: readonly (Parameter | Reference)[]
  readonly requestBody?: { readonly content: Readonly<Record<string, WrittenBody>> }
  readonly responses: Readonly<Record<string, WrittenResponse | Reference>>
}

interface WrittenBody {
  readonly schema: Schema
  readonly examples: Readonly<Record<string, Example>>
}

interface WrittenResponse {
  readonly description: string
  readonly headers: Readonly<Record<string, Reference>>
  readonly content: Readonly<Record<string, { readonly schema: Schema }>>
}

function read(
  method: string,
  path: string,
  operation: WrittenOperation,
  ofPath: readonly Reference[],
  components: Components,
): Operation {
  const { operationId, tags, summary, description = '', parameters = [], requestBody, responses } = operation
  const all = Object.entries(responses).map(([status, one]) => responseOf(status, one, components))
  const [body] = Object.entries(requestBody?.content ?? {})
  return {
    id: operationId,
    tag: tags[0],
    method,
    path,
    summary,
    description,
    permission: operation['x-permission'] ?? null,
    token: tokenOf(operation),
    parameters: [...ofPath, ...parameters].map(one => follow<Parameter>(one, components)),
    body:
      body === undefined
        ? null
        : { type: body[0], schema: body[1].schema, examples: Object.values(body[1].examples) },
    good: all.find(({ status }) => status === '200')!,
    refusals: all.filter(({ status }) => status !== '200'),
  }
}

function tokenOf({ security }: WrittenOperation): Operation['token'] {
  if (security === undefined) return 'yes'
  return security.length === 0 ? 'no' : 'maybe'
}

function responseOf(status: string, written: WrittenResponse | Reference, components: Components): Response {
  const { description, headers, content } = follow<WrittenResponse>(written, components)
  return {
    status,
    description,
    headers: Object.entries(headers).map(([name, one]) => ({
      name,
      description: follow<{ description: string }>(one, components).description,
    })),
    content: Object.entries(content).map(([type, { schema }]) => ({ type, schema })),
  }
}

function follow<T>(value: T | Reference, components: Components): T {
  if (typeof value !== 'object' || value === null || !('$ref' in value)) return value as T
  const [kind, name] = value.$ref.split('/').slice(-2) as [keyof Components, string]
  return components[kind][name] as T
}

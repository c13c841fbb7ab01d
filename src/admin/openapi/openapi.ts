// GET /client/v4/openapi.json, from the table of routes, which is a parameter since this is a row of it.

import { apiFaults } from '../../errors/catalogue/api-faults.ts'
import type { ApiResponse } from '../http/envelope.ts'
import { type HeaderName, headers, parameters } from '../schema/headers.ts'
import { refusalsOf, sharedRefusals } from './refusals.ts'
import { type Body, type Content, type Operation, type Refusal, tags } from '../schema/operation.ts'
import { operations } from './operations.ts'
import type { Row } from '../api/api-types.ts'
import { refusal } from '../schema/schema.ts'
import { schemas } from './named-schemas.ts'

/** Responds with the document of the rows of the API; it is made once. */
export function openapi(rows: readonly Row[]): ApiResponse {
  cached ??= JSON.stringify(openapiDocument(rows))
  return { status: 200, headers: { 'content-type': 'application/json' }, body: cached }
}

export function openapiDocument(rows: readonly Row[]) {
  return {
    openapi: '3.1.1',
    info,
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    tags,
    paths: pathsOf(rows),
    components: { schemas, responses, parameters, headers, securitySchemes },
  }
}

let cached: string | null = null

const info = {
  title: 'Management API of the gateway',
  version: 'v4',
  license: { name: 'MIT', identifier: 'MIT' },
  description: `Members, OAuth clients, AI gateways and API tokens of accounts; what users may see and end themselves; error rules, error pages, access rules and origins of zones.

Responses have an envelope: \`success\`, \`errors\`, \`messages\`, \`result\`, and \`result_info\` with a page of a list. All mistakes of a request are reported at once; those
of a body point to their place with \`source.pointer\` (RFC 6901). Unknown members and query parameters are rejected by name.

An unknown path is 404 with code ${apiFaults.no_route.code}. A method that a path does not allow is 405 with code ${apiFaults.method_not_allowed.code} and \`Allow\`, and one that the server does not know is 501 with the same code. HEAD works as GET, without the body. Bytes that
are not a valid HTTP/1.1 request are 400, a header section that is too large is 431, both with code ${apiFaults.no_request.code}.`,
} as const

const securitySchemes = {
  token: { type: 'http', scheme: 'bearer', description: 'An API token, or an access token of OAuth.' },
} as const

const responses = Object.fromEntries(
  Object.entries(sharedRefusals).map(([name, refusal]) => [name, refused(refusal)]),
)

function pathsOf(rows: readonly Row[]) {
  const guarded = new Map(rows.map(row => [`${row.method} ${row.path}`, row]))
  const paths: Record<string, Record<string, unknown>> = {}
  for (const [key, operation] of Object.entries(operations)) {
    const [method, path] = key.split(' ') as [string, string]
    const item = (paths[path] ??= pathItem(path))
    item[method.toLowerCase()] = describe(operation, guarded.get(key) ?? null, path)
  }
  return paths
}

function pathItem(path: string): Record<string, unknown> {
  const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name!)
  return names.length === 0 ? {} : { parameters: names.map(parameterRef) }
}

function describe(operation: Operation, row: Row | null, path: string) {
  const { id, tag, summary, body } = operation
  const ownParameters = [...queryOf(operation), ...(row?.headers ?? []).map(parameterRef)]
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...descriptionOf(operation, row),
    ...(row?.permission && { 'x-permission': row.permission }),
    ...(row === null && securityOf(operation)),
    ...(ownParameters.length > 0 && { parameters: ownParameters }),
    ...(body && row?.body && { requestBody: { required: true, content: { [row.body.type]: bodyOf(body) } } }),
    responses: responsesOf(operation, row, path),
  }
}

function securityOf({ hasToken = false }: Operation) {
  if (hasToken === true) return {}
  return { security: hasToken === 'maybe' ? [{}, { token: [] }] : [] }
}

function descriptionOf({ description }: Operation, row: Row | null) {
  const sentences = [description, row && requirementOf(row), row && outlastingOf(row)]
  const text = sentences.filter(sentence => sentence).join('\n\n')
  return text === '' ? {} : { description: text }
}

/** Returns what apps cannot do, whatever their scopes. */
function outlastingOf({ lastingAccess = 'nothing' }: Row): string {
  if (lastingAccess === 'nothing') return ''
  return `An app, by an access token of OAuth, cannot ${lastingAccess.cannot}: that would outlast what its user allowed.`
}

function requirementOf({ path, permission, scope }: Row): string {
  if (scope) return `Requires a token of OAuth that acts for a user, with the scope \`${scope}\`.`
  if (!/\{(account_id|zone)\}/.test(path)) return 'Open to any token.'
  const need = permission ? `the permission \`${permission}\` on` : 'any access to'
  const owner = path.includes('{zone}') ? 'the account that owns the zone' : 'the account'
  return `Requires ${need} ${owner}.`
}

function queryOf({ query = {} }: Operation) {
  return Object.entries(query).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    ...(description !== undefined && { description }),
    schema,
  }))
}

function parameterRef(name: string) {
  return { $ref: `#/components/parameters/${name}` }
}

function bodyOf({ schema, examples }: Body) {
  const values = Object.entries(examples).map(([summary, value], i) => [
    `example${i + 1}`,
    { summary, value },
  ])
  return { schema, examples: Object.fromEntries(values) }
}

function responsesOf(operation: Operation, row: Row | null, path: string) {
  const { response: good } = operation
  const replayed: HeaderName[] = row?.headers?.includes('idempotency-key') ? ['idempotency-replayed'] : []
  const done = response('Done.', good.content, [...(good.headers ?? []), ...replayed])
  const refusals = refusalsOf(operation, row, path).map(one => [one.status, refusalOrRef(one)])
  return { 200: done, ...Object.fromEntries(refusals) }
}

function refusalOrRef(refusal: Refusal) {
  const [name] = Object.entries(sharedRefusals).find(([, shared]) => shared === refusal) ?? []
  return name === undefined ? refused(refusal) : { $ref: `#/components/responses/${name}` }
}

function refused({ description, faults, content, headers }: Refusal) {
  const codes = [...new Set(faults.map(name => apiFaults[name].code))]
  return response(description, content ?? { 'application/json': refusal(codes) }, headers)
}

function response(description: string, content: Content, names: readonly HeaderName[] = []) {
  const shown = ['svc-ray', ...names].map(name => [name, { $ref: `#/components/headers/${name}` }])
  const types = Object.entries(content).map(([type, schema]) => [type, { schema }])
  return { description, headers: Object.fromEntries(shown), content: Object.fromEntries(types) }
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { openapi } from '../../../src/admin/openapi/openapi.ts'
import { routes } from '../../../src/admin/routes.ts'
import { checkOutcomes } from '../../../src/metrics/counters/counts.ts'
import { described, document, faultsOf, pointed, rows } from './openapi-document.ts'

const written = JSON.parse(openapi(rows).body)
const schemas = placesOf([written.paths, written.components])
const rowOf = (key: string) => rows.find(({ method, path }) => key === `${method} ${path}`)

test('the document is valid OpenAPI 3.1, and its schemas are valid JSON Schema', async () => {
  const validator = new Validator()
  const { valid, errors } = await validator.validate(structuredClone(written))
  assert.deepEqual([valid, errors, validator.version], [true, undefined, '3.1'])
  for (const { body, parameters, responses } of described) {
    const contents = Object.values(responses).flatMap(({ content }) => Object.values(content))
    const schemas = [...contents, ...parameters].map(({ schema }) => schema)
    for (const schema of body ? [...schemas, body.schema] : schemas) faultsOf(schema, null)
  }
})

test('it documents the rows of the table of routes but those that are for programs of this machine or for the pages, and no others', () => {
  assert.deepEqual(
    [
      ...described.map(({ method, path }) => `${method} ${path}`),
      'POST /client/v4/user/tokens',
      'POST /handover',
      'POST /reload',
      'POST /upgrade',
    ].sort(),
    routes.map(({ method, path }) => `${method} ${path}`).sort(),
  )
})

test('query parameters, body, headers and permission of an operation are those of its row', () => {
  for (const { method, path, parameters, body, permission, id } of described) {
    const row = rowOf(`${method} ${path}`)
    const named = (place: string) => parameters.filter(one => one.in === place).map(({ name }) => name)
    assert.deepEqual(
      named('path').sort(),
      [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort(),
      id,
    )
    if (row?.query !== null) assert.deepEqual(named('query').sort(), [...(row?.query ?? [])].sort(), id)
    assert.deepEqual(
      named('header').map(name => name.toLowerCase()),
      row?.headers ?? [],
      id,
    )
    assert.equal(body?.type, row?.body?.type, id)
    assert.equal(permission, row?.permission ?? null, id)
  }
})

test('every reference resolves, and everything that has a name is used', () => {
  const { components, paths } = written
  const references = [...JSON.stringify({ components, paths }).matchAll(/"\$ref":"([^"]+)"/g)].map(
    ([, reference]) => reference!,
  )
  for (const reference of references) assert.ok(pointed(reference), reference)
  for (const kind of ['schemas', 'responses', 'parameters', 'headers'])
    for (const name of Object.keys(components[kind]))
      assert.ok(references.includes(`#/components/${kind}/${name}`), `${kind}/${name}`)
})

test('patterns are such that the regular expressions of every language take them', () => {
  const patterns = schemas.flatMap(({ pattern, patternProperties = {} }) => [
    ...(typeof pattern === 'string' ? [pattern] : []),
    ...Object.keys(patternProperties),
  ])
  assert.ok(patterns.length > 10)
  // Look-around and groups of other kinds, back references, classes of Unicode, code points by more than two digits, raw characters beyond ASCII.
  for (const pattern of patterns) assert.doesNotMatch(pattern, /\(\?[^:]|\\[1-9kpPuU]|[^ -~]/, pattern)
})

test('values that stand in a schema have their type beside them', () => {
  const valued = schemas.filter(schema => 'const' in schema || 'enum' in schema)
  assert.ok(valued.length > 10)
  for (const schema of valued) assert.ok(schema.type, JSON.stringify(schema))
})

test('views of a client link to it, with and without a secret', () => {
  const shownBy = (id: string) => {
    const { schema } = described.find(one => one.id === id)!.responses[200]!.content['application/json']!
    return (schema as { properties: { result: unknown } }).properties.result
  }
  for (const id of ['createOAuthClient', 'updateOAuthClient'])
    assert.deepEqual(shownBy(id), { $ref: '#/components/schemas/OAuthClientWithSecret' })
  assert.deepEqual(shownBy('getOAuthClient'), { $ref: '#/components/schemas/OAuthClient' })
})

test('an address of a user is nowhere without whether it is verified', () => {
  let count = 0
  for (const { properties = {}, required = [] } of schemas)
    for (const name of ['email', 'user_email']) {
      // Who is invited has no id yet.
      if (properties[name] === undefined || properties.id === undefined) continue
      const verified = `${name}_verified`
      assert.ok(verified in properties, `beside ${name} of ${Object.keys(properties)}`)
      assert.equal(required.includes(verified), required.includes(name), name)
      count++
    }
  assert.ok(count >= 7, `${count}`)
})

test('the documented DNS outcomes are those that are counted', () => {
  const { properties } = written.components.schemas.ClientUriVerification
  assert.deepEqual(properties.last_answer.properties.outcome.enum, checkOutcomes)
})

test('operations have names of their own, tags that there are, and words', () => {
  assert.equal(new Set(described.map(({ id }) => id)).size, described.length)
  const tags: readonly string[] = document.tags.map(({ name }) => name)
  for (const { id, tag, summary } of described) {
    assert.match(id, /^[a-z][A-Za-z]+$/)
    assert.ok(tags.includes(tag), id)
    assert.match(summary, /^[A-Z].*[^.]$/, id)
  }
})

test('the examples of bodies are valid by their schemas', () => {
  for (const { id, body } of described)
    for (const example of body?.examples ?? []) assert.equal(faultsOf(body!.schema, example), '', id)
  assert.ok(described.every(({ body }) => body === null || body.examples.length > 0))
})

test('it is made once', () => {
  assert.equal(openapi(rows).body, openapi(rows).body)
  assert.equal(openapi(rows).headers['content-type'], 'application/json')
})

/** Every object of the document, but for examples of bodies. */
// biome-ignore lint/suspicious/noExplicitAny: it is read as the JSON that it is
function placesOf(value: unknown): readonly Record<string, any>[] {
  if (typeof value !== 'object' || value === null) return []
  const members = Object.entries(value).filter(([name]) => name !== 'examples')
  return [value, ...members.flatMap(([, member]) => placesOf(member))]
}

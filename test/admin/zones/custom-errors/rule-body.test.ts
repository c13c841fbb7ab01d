import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readErrorRule, viewErrorRule } from '../../../../src/admin/zones/custom-errors/rule-body.ts'
import { Field } from '../../../../src/admin/http/field.ts'
import { errorContentTypes } from '../../../../src/config/model/custom-errors-config.ts'
import { compileErrorRule } from '../../../../src/errors/custom/error-rule.ts'
import type { Fault } from '../../../../src/errors/catalogue/refusal.ts'
import { anyCharacter } from '../../../help/any-text.ts'

const good = { expression: 'true', content: 'x', content_type: 'text/plain' }

function read(body: unknown, hasGeo = true) {
  const faults: Fault[] = []
  const { rule } = readErrorRule(new Field(body, faults), { hasGeo: () => hasGeo })
  return { rule, faults }
}

const pointersOf = (body: unknown) => read(body).faults.map(({ pointer }) => pointer)

test('an omitted member is null, and null means omitted', () => {
  const rule = {
    expression: 'true',
    content: 'x',
    contentType: 'text/plain',
    status: null,
    description: null,
  }
  assert.deepEqual(read(good), { rule, faults: [] })
  assert.deepEqual(read({ ...good, status_code: null, description: null }), { rule, faults: [] })
})

test('responses have the same members as requests', () => {
  const id = '0'.repeat(32)
  const whole = { id, ...good, status_code: 503, description: 'While we move' }
  assert.deepEqual(viewErrorRule({ id, ...read(whole).rule }), whole)
})

test('all faults are reported at once, each with its member', () => {
  const body = {
    expression: 'x',
    content: '',
    content_type: 'text/csv',
    status_code: 399,
    description: '\n',
    more: 1,
  }
  assert.deepEqual(pointersOf(body), [
    '/more',
    '/expression',
    '/content',
    '/content_type',
    '/status_code',
    '/description',
  ])
  assert.deepEqual(pointersOf({}), ['/expression', '/content', '/content_type'])
  assert.deepEqual(pointersOf(null), [''])
})

test('the bounds of members are those of the configuration file', () => {
  for (const [member, fine, wrong] of [
    ['content', 'é'.repeat(5120), 'é'.repeat(5121)],
    ['content', 'x', '\ud800'],
    ['status_code', 400, 399],
    ['status_code', 999, 1000],
    ['status_code', 503, '503'],
    ['expression', `"${'x'.repeat(4085)}" != ""`, `"${'x'.repeat(4090)}" != ""`],
    ['expression', 'error.category == "origin"', 'error.colour == "red"'],
    ['expression', '"accept" in request.headers', 'request.headers["accept"]'],
  ] as const) {
    assert.deepEqual(pointersOf({ ...good, [member]: fine }), [], `${member} ${fine}`)
    assert.deepEqual(pointersOf({ ...good, [member]: wrong }), [`/${member}`], `${member} ${wrong}`)
  }
})

test('an invalid expression is reported with line and column', () => {
  const [fault] = read({ ...good, expression: 'true &&\n  request.colour' }).faults
  assert.match(fault!.message, /^expression must be a CEL expression; line 2, column \d+: .*colour/)
})

test('countries and networks need a database', () => {
  const body = { ...good, expression: 'request.country == "DE"' }
  assert.deepEqual(read(body).faults, [])
  assert.match(read(body, false).faults[0]!.message, /^expression needs geo\.databases in the configuration/)
})

test('any body is refused, or is a rule that compiles', () => {
  const text = fc.oneof(
    fc.constantFrom('true', 'request.path', ...errorContentTypes),
    fc.string({ unit: anyCharacter }),
  )
  const value = fc.oneof(text, fc.integer({ min: 300, max: 1100 }), fc.jsonValue())
  const bodies = fc.record(
    { expression: text, content: text, content_type: text, status_code: value, description: value },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(
      fc.oneof(
        bodies,
        bodies.map(body => ({ ...good, ...body })),
        fc.jsonValue(),
      ),
      body => {
        const { rule, faults } = read(body)
        if (faults.length === 0) assert.ok('content' in compileErrorRule(rule), JSON.stringify(body))
      },
    ),
    { numRuns: 2_000 },
  )
})

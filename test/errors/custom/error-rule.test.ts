import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileErrorRule } from '../../../src/errors/custom/error-rule.ts'
import { errorRule as rule } from '../../help/custom-errors.ts'

test('all mistakes in a rule are reported at once, by member and rule', () => {
  const flaws = compileErrorRule(
    rule({
      expression: 'error.code == ',
      content: 'x'.repeat(10_241),
      contentType: 'text/css' as 'text/html',
      status: 200,
    }),
  )
  assert.ok(Array.isArray(flaws))
  assert.deepEqual(
    flaws.map(({ member }) => member),
    ['expression', 'content', 'contentType', 'status'],
  )
  assert.match(flaws[0].message, /^must be a CEL expression; line 1, column \d+: /)
  assert.match(flaws[1].message, /10240 bytes/)
  assert.match(flaws[2].message, /text\/markdown/)
  assert.match(flaws[3].message, /400 to 999/)
})

test('a rule at its limits compiles', () => {
  for (const status of [400, 999, null]) {
    const compiled = compileErrorRule(rule({ status, content: 'x'.repeat(10_240) }))
    assert.ok('content' in compiled)
    assert.equal(compiled.content.status, status)
  }
})

test('an expression may look at the error, and no rule goes without one', () => {
  assert.ok('content' in compileErrorRule(rule({ expression: 'response.code >= 500 && error.name != "x"' })))
  assert.ok(Array.isArray(compileErrorRule(rule({ expression: ' ' }))))
  assert.ok(Array.isArray(compileErrorRule(rule({ expression: 'error.code' }))))
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Field } from '../../../src/admin/http/field.ts'
import { checks, readGuard } from '../../../src/admin/guard/body.ts'
import { viewGuard } from '../../../src/admin/guard/view.ts'
import { compiledGuard } from '../../../src/guard/compiled-guard.ts'
import type { Fault } from '../../../src/errors/catalogue/refusal.ts'

function read(body: unknown) {
  const faults: Fault[] = []
  const guard = readGuard(new Field(body, faults, '/dlp', 'dlp'))
  return { guard, faults: faults.map(({ pointer, message }) => `${pointer} ${message}`) }
}

test('an action is enough: all patterns are looked for, wherever that is possible', () => {
  const { guard, faults } = read({ policies: [{ action: 'BLOCK' }] })
  assert.deepEqual(faults, [])
  assert.deepEqual(viewGuard(guard!), {
    enabled: true,
    policies: [{ id: 'policy-1', enabled: true, action: 'BLOCK', check: checks, profiles: ['*'] }],
    webhook: null,
  })
})

test('of several policies for a pattern, the strictest counts', () => {
  const { guard } = read({
    policies: [
      { action: 'REDACT', profiles: ['card_number', 'aws_key'] },
      { action: 'FLAG', profiles: ['*'] },
      { action: 'BLOCK', profiles: ['aws_key'] },
      { action: 'BLOCK', profiles: ['private_key'], enabled: false },
    ],
  })
  const { request } = compiledGuard({ ...guard!, webhook: null })!
  assert.deepEqual(
    ['card_number', 'aws_key', 'private_key', 'openai_key'].map(name => request!.actionOf(name)),
    ['redact', 'block', 'flag', 'flag'],
  )
  assert.equal(compiledGuard({ ...guard!, webhook: null, isEnabled: false }), null)
  assert.equal(compiledGuard({ isEnabled: true, rules: [] })!.request, null)
})

test('what breaks a rule is refused by its place', () => {
  const unknown = read({
    policies: [{ action: 'DROP' }, { profiles: ['cards'] }, { action: 'FLAG', chek: [] }],
  })
  assert.deepEqual(
    unknown.faults.map(fault => fault.split(' ')[0]),
    [
      '/dlp/policies/0/action',
      '/dlp/policies/1/action',
      '/dlp/policies/1/profiles/0',
      '/dlp/policies/2/chek',
    ],
  )
  assert.deepEqual(
    read({
      policies: [
        { id: 'a', action: 'FLAG' },
        { id: 'a', action: 'FLAG' },
        { id: '?', action: 'FLAG' },
      ],
    }).faults.length,
    2,
  )
  assert.match(
    read({ policies: [{ action: 'FLAG', profiles: [] }] }).faults[0]!,
    /profiles must be a list of 1 to /,
  )
  assert.match(read([]).faults[0]!, /dlp must be an object/)
})

test('any body is read or refused, and what was read is shown as it can be sent again', () => {
  fc.assert(
    fc.property(fc.jsonValue(), body => {
      const { guard, faults } = read({ policies: [{ action: 'FLAG', profiles: body }], enabled: body })
      if (faults.length === 0) assert.deepEqual(read(viewGuard(guard!)).guard, guard)
    }),
  )
})

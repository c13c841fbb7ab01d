import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  actions,
  checks,
  choicesOf,
  fieldOf,
  isStricter,
  policiesOf,
  rows,
} from '../../../../src/dashboard/gateways/guard/choices.ts'
import type { Guard, GuardPolicy } from '../../../../src/dashboard/gateways/gateway.ts'

const policy = (id: string, rest: Partial<GuardPolicy>): GuardPolicy => ({
  ...{ id, enabled: true, action: 'REDACT', check: checks, profiles: ['*'] },
  ...rest,
})
const guardWith = (...policies: readonly GuardPolicy[]): Guard => ({ enabled: true, policies })

const anyPolicies = fc.uniqueArray(
  fc.record({
    id: fc.stringMatching(/^[a-z]{1,8}(-request)?$/),
    enabled: fc.boolean(),
    action: fc.constantFrom(...actions),
    check: fc.subarray([...checks], { minLength: 1 }),
    profiles: fc.subarray([...rows], { minLength: 1 }),
  }),
  { selector: ({ id }) => id, maxLength: 6 },
)

test('policies made of the choices of any guard do what it does', () => {
  fc.assert(
    fc.property(anyPolicies, anyPolicies, (wanted, before) => {
      const choices = choicesOf(guardWith(...wanted))
      const made = policiesOf(choices, guardWith(...before))
      assert.deepEqual(choicesOf(guardWith(...made)), choices)
      assert.equal(new Set(made.map(({ id }) => id)).size, made.length)
      const disabled = (list: readonly GuardPolicy[]) => list.filter(({ enabled }) => !enabled)
      assert.ok(disabled(before).every(policy => made.includes(policy)))
      for (const check of checks)
        for (const row of rows.slice(1)) {
          const own = choices[fieldOf(check, row)]!
          assert.ok(own === '' || isStricter(own, choices[fieldOf(check, '*')]!))
        }
    }),
  )
})

test('unchanged choices leave the policies as they are', () => {
  fc.assert(
    fc.property(anyPolicies, policies => {
      const guard = guardWith(...policies)
      assert.equal(policiesOf(choicesOf(guard), guard), guard.policies)
    }),
  )
})

test('a policy retains its id when its patterns change', () => {
  const before = guardWith(
    policy('ours', { profiles: ['aws_key'] }),
    policy('block', { enabled: false, action: 'BLOCK' }),
  )
  const choices = {
    ...choicesOf(before),
    'request.git_token': 'REDACT',
    'response.git_token': 'REDACT',
    'request.private_key': 'BLOCK',
    'response.private_key': 'BLOCK',
    'request.card_number': 'BLOCK',
  } as const
  assert.deepEqual(policiesOf(choices, before), [
    policy('block-2', { action: 'BLOCK', profiles: ['private_key'] }),
    policy('block-request', { action: 'BLOCK', check: ['REQUEST'], profiles: ['card_number'] }),
    policy('ours', { profiles: ['aws_key', 'git_token'] }),
    before.policies[1],
  ])
})

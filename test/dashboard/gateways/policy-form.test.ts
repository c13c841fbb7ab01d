import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readPolicy } from '../../../src/admin/policies/body.ts'
import { viewPolicy } from '../../../src/admin/policies/view.ts'
import { type Policy, policyInWords } from '../../../src/dashboard/gateways/policies/policy.ts'
import {
  newPolicy,
  policyFields,
  policyOf,
  valuesOfPolicy,
} from '../../../src/dashboard/gateways/policies/policy-form.ts'
import { Draft } from '../../../src/dashboard/parts/draft.ts'
import { anyCharacter } from '../../help/any-text.ts'

const id = 'a'.repeat(32)
const policy: Policy = {
  ...{ id, name: 'One', actor: '*', resource: '*', condition: null, action: { type: 'no-limit' } },
}
const limit = { type: 'limit', amount: 5, period: 'daily', time_zone: 'UTC' } as const

/** Returns a policy as the API shows it after it was sent; null if it refuses it. */
function shownOf(sent: object): Policy | null {
  const read = readPolicy(sent, null)
  return 'name' in read ? viewPolicy({ id, ...read }) : null
}

const pattern = fc.stringMatching(/^[a-z][a-z0-9*/-]{0,12}$/)
const patterns = fc.oneof(pattern, fc.uniqueArray(pattern, { minLength: 1, maxLength: 3 }))
const word = fc.stringMatching(/^[a-z0-9@._{}-]{1,12}$/)
const anyPolicy = fc.record({
  name: fc.stringMatching(/^[A-Za-z][A-Za-z0-9 ]{0,20}[a-z]$/),
  actor: fc.oneof(
    fc.constantFrom(
      '*',
      'user:{svc.user.id}',
      'app:{svc.app.id}',
      'team:{metadata.team}',
      'user:{metadata.x}',
    ),
    fc.tuple(fc.constantFrom('user', 'app', 'token', 'team'), word).map(parts => parts.join(':')),
  ),
  resource: fc.oneof(
    fc.constant('*'),
    patterns.map(model => ({ model })),
    patterns.map(provider => ({ provider })),
  ),
  condition: fc.constantFrom(null, 'metadata.plan == "pro"'),
  action: fc.oneof(
    fc.constantFrom({ type: 'no-limit' }, { type: 'block' }, { type: 'block', except: true }),
    fc.record({
      type: fc.constant('limit'),
      amount: fc.integer({ min: 1, max: 1e15 }).map(nano => nano / 1e9),
      period: fc.constantFrom('daily', 'weekly', 'monthly'),
      time_zone: fc.constantFrom('UTC', 'Europe/Berlin'),
    }),
    fc.record({
      type: fc.constant('limit'),
      amount: fc.integer({ min: 1, max: 100 }),
      period: fc.constant('hourly'),
    }),
  ),
})

test('a policy that is edited and saved unchanged stays as it is', () => {
  let valid = 0
  fc.assert(
    fc.property(anyPolicy, sent => {
      const shown = shownOf(sent)
      if (shown === null) return
      valid++
      const draft = new Draft(valuesOfPolicy(shown))
      assert.deepEqual(shownOf(policyOf(draft, shown)), shown)
      policyFields(draft)
      assert.notEqual(policyInWords(shown), '')
    }),
  )
  assert.ok(valid > 20, `${valid} policies were valid`)
})

test('whatever is typed makes a body', () => {
  const text = fc.oneof(fc.string({ unit: anyCharacter }), fc.constantFrom('__proto__', 'each_user', 'model'))
  const names = ['name', 'who', 'whose', 'action', 'amount', 'period', 'resource', 'patterns', 'condition']
  fc.assert(
    fc.property(fc.record(Object.fromEntries(names.map(name => [name, text]))), values => {
      const draft = new Draft({ ...newPolicy, ...values })
      readPolicy(JSON.parse(JSON.stringify(policyOf(draft, null))), null)
      policyFields(draft)
    }),
  )
})

test('a policy says what it does', () => {
  for (const [changes, words] of [
    [{}, 'Everybody may call all models'],
    [{ action: limit }, 'Everybody may spend $5.00 a day on all models'],
    [
      { actor: 'user:{svc.user.id}', action: { ...limit, period: 'monthly', time_zone: 'Europe/Berlin' } },
      'Each user may spend $5.00 a month (Europe/Berlin) on all models',
    ],
    [
      { actor: 'user:ada@example.com', resource: { model: 'gpt-4o*' }, action: { type: 'block' } },
      'User ada@example.com may not call the model gpt-4o*',
    ],
    [
      {
        actor: 'team:{metadata.team}',
        resource: { provider: ['a', 'b'] },
        action: { type: 'block', except: true },
      },
      'Each team may call nothing but the providers a and b',
    ],
    [
      { actor: 'user:{metadata.x}', condition: 'model == "y"' },
      'Each value of metadata.x may call all models, where model == "y"',
    ],
  ] as const)
    assert.equal(policyInWords({ ...policy, ...changes }), words)
})

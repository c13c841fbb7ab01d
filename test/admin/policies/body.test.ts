import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readPolicy, readRollback, readSimulation } from '../../../src/admin/policies/body.ts'
import { viewPolicy } from '../../../src/admin/policies/view.ts'
import { compilePolicies, flawsOfPolicy, workOf } from '../../../src/budgets/policies/compile.ts'
import { decidePolicies } from '../../../src/budgets/policies/decide.ts'
import type { Policy } from '../../../src/store/records/policy.ts'
import { anyCharacter } from '../../help/any-text.ts'
import { cpuTime } from '../../help/stall.ts'
import { ada, gpt, owner } from '../../budgets/policies/specimens.ts'

const id = '0'.repeat(32)
const text = fc.string({ unit: anyCharacter, maxLength: 12 })
/** Texts in which a piece may be broken off, doubled or foreign. */
const pieces = (...known: string[]) =>
  fc
    .array(fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...known) }, text), { maxLength: 6 })
    .map(parts => parts.join(''))
const actor = fc.oneof(
  fc.constantFrom('*', 'user:u1', 'user:{svc.user.id}', 'team:{metadata.team}', 'team:x'),
  pieces('user:', 'app:', 'team:', '{', '}', 'svc.', 'user.id', 'metadata.', 'team', '*'),
)
const condition = fc.oneof(
  fc.constantFrom(null, undefined, 'true', 'metadata.team == "x"', 'user.email.endsWith("@a")'),
  pieces(
    'metadata',
    '.team',
    'user.id',
    ' == ',
    '"x"',
    '(',
    ')',
    ' && ',
    '!',
    'has',
    'model.matches("',
    '.*"',
    '[',
    ']',
    '1',
  ),
)
const pattern = fc.oneof(fc.constantFrom('*', 'gpt-*', 'openai/*'), text)
const odd = fc.jsonValue({ maxDepth: 2 })
const resource = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('*', { model: ['gpt-*', 'o3'] }, { provider: 'openai' }) },
  fc.record({ model: fc.oneof(pattern, fc.array(pattern, { maxLength: 3 }), odd) }),
  fc.record({ provider: pattern }),
  odd,
)
const good = fc.constantFrom(
  { type: 'no-limit' },
  { type: 'block', except: true },
  { type: 'limit', amount: 0.5, period: 'hourly' },
  { type: 'limit', amount: 2, period: 'daily' },
  { type: 'limit', amount: 3, period: 'weekly', technique: 'named-interval', time_zone: 'Europe/Berlin' },
)
const action = fc.oneof(
  { weight: 6, arbitrary: good },
  fc.record(
    {
      type: fc.constantFrom('limit', 'block', 'no-limit', 'Block', null),
      amount: fc.oneof(fc.constantFrom(0, 1, 1e-9, 1e-10, -1, 1e300), fc.double()),
      period: fc.constantFrom('hourly', 'daily', 'weekly', 'monthly', 'yearly'),
      technique: fc.constantFrom('named-interval', 'sliding'),
      time_zone: fc.constantFrom(null, 'UTC', 'Europe/Berlin', 'Mars/Crater'),
      except: fc.constantFrom(null, true, false, 1),
    },
    { requiredKeys: ['type'] },
  ),
  odd,
)
const bodies = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record(
      {
        name: fc.oneof({ weight: 5, arbitrary: fc.constantFrom('a', 'Ü b') }, text, odd),
        actor,
        resource,
        condition,
        action,
      },
      { requiredKeys: [] },
    ),
  },
  odd,
)

test('any body is a policy, which reads the same as it is shown, or has faults that name a member', () => {
  let policies = 0
  fc.assert(
    fc.property(bodies, body => {
      const read = readPolicy(body, null)
      if (!('name' in read)) {
        ok(read.length > 0)
        for (const { message } of read) ok(message.length > 0)
        return
      }
      policies++
      const policy: Policy = { id, ...read }
      deepEqual(readPolicy(JSON.parse(JSON.stringify(viewPolicy(policy))), id), read)
      deepEqual(flawsOfPolicy(policy), [])
      ok(workOf([policy]) >= 0)
      const decision = decidePolicies(compilePolicies([policy], owner), gpt, ada)
      ok(policy.action.type === 'block' ? decision.type !== 'allow' : decision.type !== 'block')
    }),
    { numRuns: 2_000 },
  )
  ok(policies > 20, `${policies} of 2000 are policies`)
})

test('any text is an actor and a condition, or has a flaw, in no time', () => {
  const took = cpuTime(() =>
    fc.assert(
      fc.property(actor, fc.oneof(condition, text), (actor, condition) => {
        const policy = { actor, ...(typeof condition === 'string' && { condition }) }
        for (const { member, rule } of flawsOfPolicy(policy))
          ok(['actor', 'condition'].includes(member) && rule)
      }),
      { numRuns: 1_000 },
    ),
  )
  ok(took < 10_000, `${took} ms`)
})

test('any other body is understood, or has faults', () => {
  const call = fc.record(
    {
      identity: fc.oneof(fc.record({ user: text, email: text }, { requiredKeys: [] }), odd),
      provider: fc.oneof(fc.constant('openai'), odd),
      model: fc.oneof(fc.constant('openai/gpt-4o'), text, odd),
      metadata: fc.oneof(fc.dictionary(text, fc.oneof(text, fc.integer(), odd)), odd),
      state: fc.constantFrom('draft', 'committed', 'other', null),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(fc.oneof(call, odd), body => {
      const read = readSimulation(body)
      if ('identity' in read) ok(read.provider !== '')
      else ok(read.length > 0)
    }),
  )
  fc.assert(fc.property(odd, body => Array.isArray(readRollback(body))))
})

test('a member that another type of action has is refused', () => {
  const of = (action: object) => readPolicy({ name: 'a', actor: '*', resource: '*', action }, null)
  const messagesOf = (action: object) => {
    const read = of(action)
    return 'name' in read ? [] : read.map(({ message }) => message)
  }
  deepEqual(messagesOf({ type: 'block', except: true }), [])
  deepEqual(messagesOf({ type: 'no-limit', except: true }), [
    'action.except must be left out, since type is no-limit',
  ])
  deepEqual(messagesOf({ type: 'block', amount: 1 }), ['action.amount must be left out, since type is block'])
  equal(messagesOf({ type: 'limit' }).length, 2)
  equal(messagesOf({ type: 'limit', amount: 1, period: 'hourly', time_zone: 'UTC' }).length, 1)
})

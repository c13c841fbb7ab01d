import { equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type CallFacts, compileCallCondition, describeFlaw } from '../../src/expression/expression.ts'
import { anyCharacter } from '../help/any-text.ts'

const facts: CallFacts = {
  user: 'u1',
  email: 'ada@corp.example',
  app: null,
  token: 't1',
  gateway: 'default',
  provider: 'openai',
  model: 'gpt-4o',
  metadata: { plan: 'pro', seats: 5, trial: false, note: null },
}

function evaluated(text: string, more: Partial<CallFacts> = {}): boolean | null {
  const condition = compileCallCondition(text)
  ok('evaluate' in condition, `${text}: ${JSON.stringify(condition)}`)
  return condition.evaluate({ ...facts, ...more })
}

function flawOf(text: string): string {
  const flaw = compileCallCondition(text)
  ok(!('evaluate' in flaw), text)
  return describeFlaw(flaw)
}

test('a condition reads who calls, what is called, and the metadata with its types', () => {
  for (const text of [
    'user.id == "u1" && user.email.endsWith("@corp.example") && token.id == "t1"',
    'gateway == "default" && provider == "openai" && model.startsWith("gpt-")',
    'metadata.plan in ["pro", "team"] && metadata.seats > 3 && !(metadata.trial == true)',
    'model.matches("^gpt-[0-9]") && metadata.note == null',
    '!has(app.id) && app.?id.orValue("none") == "none" && !("team" in metadata)',
  ])
    equal(evaluated(text), true, text)
  equal(evaluated('model == "gpt-5"'), false)
})

test('a condition about what a call does not have fails, unless it asks for that', () => {
  equal(evaluated('app.id == "a1"'), null)
  equal(evaluated('metadata.team == "search"'), null)
  equal(evaluated('metadata.plan > 3'), null)
  equal(evaluated('metadata.plan == "pro"', { metadata: null }), null)
  equal(evaluated('model != "gpt-5"', { model: null }), null)
  equal(evaluated('model != "gpt-5" || provider == "openai"', { model: null }), true)
})

test('facts of other languages, and what is no condition, are refused', () => {
  match(flawOf('request.path == "/"'), /unknown variable: request/)
  match(flawOf('user.id == 5'), /no such overload/)
  match(flawOf('model'), /returns string but must return bool/)
  match(flawOf('metadata.plan'), /returns dyn but must return bool/)
  match(flawOf('nothing(model)'), /nothing/)
})

test('what others see as the same text is another condition here', () => {
  equal(evaluated('true'), true)
  match(flawOf('zone == "main"'), /unknown variable: zone/)
})

test('any text is either a condition or a flaw, and no metadata makes one throw', () => {
  const words = ['user', 'model', 'metadata', '.id', '.plan', '==', '"a"', '(', ')', '&&', '!', '1', ' ']
  const text = fc.array(fc.oneof(fc.constantFrom(...words), anyCharacter), { maxLength: 12 })
  const value = fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constant(null))
  fc.assert(
    fc.property(text, fc.dictionary(fc.string(), value), (parts, metadata) => {
      const condition = compileCallCondition(parts.join(''))
      if ('evaluate' in condition)
        ok([true, false, null].includes(condition.evaluate({ ...facts, metadata })))
      else match(describeFlaw(condition), /^must be a CEL expression; line \d+, column \d+: ./)
    }),
  )
})

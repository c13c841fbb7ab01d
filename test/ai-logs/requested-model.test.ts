import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { requestedModel } from '../../src/ai-logs/requested-model.ts'
import { anyCharacter } from '../help/any-text.ts'

function read(body: string | Buffer): string | null {
  return requestedModel('/v1/chat/completions', Buffer.from(body))
}

/** Reads the model as a provider does. */
function parsed(body: string): string | null {
  const { model } = JSON.parse(body)
  return typeof model === 'string' && model !== '' && model.length <= 256 ? model : null
}

test('the model is read wherever it stands, again and again', () => {
  for (const model of ['gpt-4o', 'gpt-4o', 'gpt-4o-mini', 'claude', 'Claude', 'claude']) {
    assert.equal(read(JSON.stringify({ model, messages: [] })), model)
    assert.equal(read(JSON.stringify({ messages: ['"model":"x"', { content: 'é' }], model }, null, 2)), model)
    assert.equal(read(`\ufeff ${JSON.stringify({ model })}`), model)
  }
  assert.equal(
    requestedModel('/v1beta/models/gemini-2.5-flash:x', Buffer.from('{"model":"a"}')),
    'gemini-2.5-flash',
  )
  for (const path of [
    'deployments/%67pt-5',
    'deployments//gpt-5',
    'Deployments/gpt%2D5',
    '%64eployments/gpt-5',
  ])
    assert.equal(requestedModel(`/openai/${path}/chat/completions`, Buffer.from('{"model":"a"}')), 'gpt-5')
  const models = Buffer.from('{"model":"gpt-5"}')
  assert.equal(requestedModel('/models/chat/completions?api-version=1', models), 'gpt-5')
  assert.equal(requestedModel('/models/chat:generateContent', models), 'chat')
  assert.equal(requestedModel('/v1/chat/completions', null), null)
})

test('members of the name below the top, in texts and in other names are no model', () => {
  const car = { type: 'tool_use', name: 'car', input: { make: 'Ford', model: 'Focus' } }
  const messages = [{ role: 'assistant', content: [car] }]
  assert.equal(read(JSON.stringify({ messages, model: 'claude' })), 'claude')
  const tools = [{ parameters: { properties: { model: { type: 'string' } } } }]
  assert.equal(read(JSON.stringify({ tools, model: 'gpt-4o' })), 'gpt-4o')
  assert.equal(read(JSON.stringify({ tools, metadata: { model: 'gpt-4o-mini' } })), null)
  assert.equal(read('{"user":"\\"model","\\"model":"a","model":"gpt-4o"}'), 'gpt-4o')
  assert.equal(read('{"Model":"a","model ":"b","models":"c","mode":"d"}'), null)
  assert.equal(read('[{"model":"a"}]'), null)
})

test('the last of several model members counts, with or without escapes', () => {
  assert.equal(read('{"model":"gpt-4o-mini","model":"gpt-4o"}'), 'gpt-4o')
  assert.equal(read('{"model":"gpt-4o-mini","mod\\u0065l":"gpt\\u002d4o"}'), 'gpt-4o')
  assert.equal(read('{"\\u006dodel":"gpt-4o","metadata":{"model":"gpt-4o-mini"}}'), 'gpt-4o')
  assert.equal(read('{"model":"gpt-4o-mini","model":null}'), null)
})

test('what names no model, or too long a one, is null', () => {
  const longest = 'a'.repeat(256)
  assert.equal(read(`{"model":"${longest}"}`), longest)
  assert.equal(read(`{"model":"${'\\u00e9'.repeat(256)}"}`), 'é'.repeat(256))
  for (const value of [
    '""',
    '{"a":1}',
    'null',
    '1',
    `"${longest}a"`,
    `"${longest}é"`,
    '"cut',
    '"cut\\',
    '"a\nb"',
    '"',
    '',
  ])
    assert.equal(read(`{"model":${value}`), null, value)
  for (const body of [
    '',
    '{',
    '{"',
    '{"model"',
    '{"model":',
    '{"models":"a"}',
    '"model":"a"',
    '{,"model":"a"}',
  ])
    assert.equal(read(body), null, body)
})

test('a body that is cut anywhere names the model that was kept, or none', () => {
  const body = JSON.stringify(
    { messages: [{ content: 'a "b" \\ é', model: 'x' }], model: 'gpt-4o', n: 1 },
    null,
    1,
  )
  const end = body.indexOf('gpt-4o"') + 'gpt-4o"'.length
  for (let length = 0; length <= body.length; length++)
    assert.equal(read(body.slice(0, length)), length < end ? null : 'gpt-4o')
})

test('the model is that which a parser finds, among any members', () => {
  const name = fc.oneof(
    fc.constantFrom(
      '"model"',
      '"mod\\u0065l"',
      '"\\u006Dodel"',
      '"Model"',
      '"mode"',
      '"models"',
      '"\\"model"',
      '"model\\\\"',
    ),
    fc.string({ unit: anyCharacter, maxLength: 8 }).map(text => JSON.stringify(text)),
  )
  const space = fc.constantFrom('', '', ' ', '\n\t', '\r\n')
  const leaf = fc.oneof(
    fc.constantFrom(
      '"gpt-4o"',
      '"gpt-4o-mini"',
      '"a\\u002fb"',
      '"é"',
      '"\\ud800"',
      '""',
      '1e400',
      '-0.1',
      'null',
      'true',
    ),
    fc.string({ unit: anyCharacter, maxLength: 300 }).map(text => JSON.stringify(text)),
  )
  const { object } = fc.letrec<{ value: string; object: string }>(tie => ({
    value: fc.oneof(
      { depthSize: 'small' },
      leaf,
      tie('object'),
      fc.array(tie('value'), { maxLength: 3 }).map(some => `[${some}]`),
    ),
    object: fc
      .array(fc.tuple(space, name, space, space, tie('value'), space), { maxLength: 5 })
      .map(members => `{${members.map(([a, name, b, c, value, d]) => `${a}${name}${b}:${c}${value}${d}`)}}`),
  }))
  fc.assert(
    fc.property(object, body => assert.equal(read(body), parsed(body))),
    { numRuns: 2000 },
  )
})

test('any bytes are read without an error', () => {
  const piece = fc.constantFrom(
    '"model"',
    '"mod',
    ':',
    ' ',
    '\n',
    '"',
    'gpt-4o',
    'é',
    '\\',
    '{',
    '}',
    '[',
    ']',
    ',',
    '\u00a0',
    '\ufeff',
  )
  const text = fc.array(piece, { maxLength: 30 }).map(pieces => `{${pieces.join('')}`)
  fc.assert(
    fc.property(text, text => {
      const model = read(text)
      if (isJson(text)) assert.equal(model, parsed(text))
    }),
    { numRuns: 1000 },
  )
  fc.assert(fc.property(fc.uint8Array(), bytes => void read(Buffer.from(bytes))))
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

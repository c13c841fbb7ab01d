import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { SessionWorstCase } from '../../../src/ai/worst-case/session.ts'

const take = (session: SessionWorstCase, event: object) => session.take(JSON.stringify(event))

test('only response.create asks for a response', () => {
  const session = new SessionWorstCase()
  assert.equal(take(session, { type: 'session.update', session: { instructions: 'response.create' } }), false)
  assert.equal(take(session, { type: 'input_audio_buffer.append', audio: 'AAAA' }), false)
  assert.equal(take(session, { type: 'response.create' }), true)
  assert.equal(session.take('no JSON'), false)
})

test('text counts at two bytes a token, in steps of 2,048', () => {
  const session = new SessionWorstCase()
  assert.equal(session.ahead.tokensIn, 0)
  take(session, { type: 'session.update', session: { instructions: 'x'.repeat(5_000) } })
  assert.deepEqual([session.ahead.tokensIn, session.ahead.audioIn], [4_096, 0])
})

test('sound counts by its time, faster for telephones, and what was said is heard again', () => {
  const session = new SessionWorstCase()
  const audio = 'A'.repeat(4_096 * 2_048)
  take(session, { type: 'input_audio_buffer.append', audio })
  assert.equal(session.ahead.audioIn, 2_048)
  session.responded(1)
  assert.equal(session.ahead.audioIn, 4_096)
  take(session, { type: 'session.update', session: { input_audio_format: 'g711_ulaw' } })
  assert.equal(session.ahead.audioIn, 10_240)
})

test('sound and images count as such only where the API takes them, and as text anywhere else', () => {
  const long = 'x'.repeat(100_000)
  const image = `data:image/png;base64,${long}`
  const tokensOf = (event: object) => {
    const session = new SessionWorstCase()
    take(session, event)
    return session.ahead.tokensIn
  }
  const item = (part: object) => ({ type: 'message', role: 'user', content: [part] })
  const create = (part: object) => ({ type: 'conversation.item.create', item: item(part) })
  const respond = (part: object) => ({ type: 'response.create', response: { input: [item(part)] } })
  for (const media of [
    { type: 'input_audio_buffer.append', audio: long },
    ...[create, respond].map(event => event({ type: 'input_audio', audio: long })),
    ...[create, respond].map(event => event({ type: 'input_image', image_url: image })),
  ])
    assert.ok(tokensOf(media) <= 8_192, JSON.stringify(media).slice(0, 100))
  const parameters = { type: 'object', properties: {}, audio: long }
  for (const text of [
    { type: 'session.update', session: { tools: [{ type: 'function', name: 'a', parameters }] } },
    { type: 'session.update', session: { instructions: image } },
    { type: 'conversation.item.create', audio: long },
    create({ type: 'input_text', text: image }),
    create({ type: 'input_text', text: '', audio: long }),
    create({ type: 'input_audio', audio: '', text: long }),
    respond({ type: 'input_text', text: image }),
  ])
    assert.ok(tokensOf(text) >= 50_000, JSON.stringify(text).slice(0, 100))
})

test('an image that is not in the event counts, too', () => {
  const session = new SessionWorstCase()
  const content = [{ type: 'input_image', image_url: 'https://example.com/a.png' }]
  take(session, { type: 'conversation.item.create', item: { type: 'message', role: 'user', content } })
  assert.ok(session.ahead.tokensIn >= 5_000)
})

test('a format of telephones may be written with escapes', () => {
  const session = new SessionWorstCase()
  session.take('{"type":"session.update","session":{"input_audio_format":"g\\u003711_ulaw"}}')
  take(session, { type: 'input_audio_buffer.append', audio: 'A'.repeat(1_024 * 2_048) })
  assert.equal(session.ahead.audioIn, 2_048)
})

test('what the provider says of its session counts, though its client never said so', () => {
  const session = new SessionWorstCase()
  const instructions = 'x'.repeat(10_000)
  session.takeSettings({
    ...{ instructions, max_response_output_tokens: 20_000 },
    audio: { input: { format: { type: 'audio/pcmu' } } },
  })
  take(session, { type: 'input_audio_buffer.append', audio: 'A'.repeat(1_024 * 2_048) })
  session.takeBack()
  take(session, { type: 'input_audio_buffer.append', audio: 'A'.repeat(1_024 * 2_048) })
  const { tokensIn, audioIn, tokensOut } = session.ahead
  assert.deepEqual([audioIn, tokensOut], [2_048, 20_000])
  assert.equal(tokensIn, 2_048 + 6_144)
  session.takeSettings({})
  assert.deepEqual([session.ahead.audioIn, session.ahead.tokensOut], [2_048, 4_096])
})

test('the output is 4,096 tokens, or what the client allows beyond', () => {
  const session = new SessionWorstCase()
  take(session, { type: 'session.update', session: { max_output_tokens: 100 } })
  assert.deepEqual([session.ahead.tokensOut, session.ahead.audioOut], [4_096, 4_096])
  take(session, { type: 'response.create', response: { max_output_tokens: 'inf' } })
  assert.equal(session.ahead.tokensOut, 4_096)
  take(session, { type: 'response.create', response: { max_output_tokens: 10_000 } })
  assert.equal(session.ahead.tokensOut, 10_000)
})

test('a maximum without bounds counts as the context, and a fraction as the whole above', () => {
  for (const [maximum, tokens] of [
    ['1e999', 131_072],
    ['9e15', 131_072],
    ['5000.5', 5_001],
    ['-1e999', 4_096],
  ] as const) {
    const session = new SessionWorstCase()
    session.take(`{"type":"session.update","session":{"max_output_tokens":${maximum}}}`)
    assert.deepEqual([session.ahead.tokensOut, session.ahead.audioOut], [tokens, tokens])
  }
})

test('whatever a client says, the worst case grows, and is a sum of whole tokens', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.json(), fc.string())), texts => {
      const session = new SessionWorstCase()
      let before = session.ahead
      for (const text of texts) {
        session.take(text)
        const { ahead } = session
        for (const tokens of [ahead.tokensIn, ahead.tokensOut, ahead.audioIn, ahead.audioOut])
          assert.ok(Number.isSafeInteger(tokens) && tokens >= 0)
        assert.ok(ahead.tokensIn >= before.tokensIn && ahead.tokensOut >= before.tokensOut)
        before = ahead
      }
    }),
  )
})

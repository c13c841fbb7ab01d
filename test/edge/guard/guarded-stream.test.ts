import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { CompiledGuard } from '../../../src/guard/compiled-guard.ts'
import { GuardedEvents } from '../../../src/guard/guarded-events.ts'
import { GuardReport } from '../../../src/guard/report.ts'
import { GuardedStream } from '../../../src/edge/guard/guarded-stream.ts'
import type { GuardAction } from '../../../src/store/records/records.ts'
import { pem, secrets } from '../../guard/secrets.ts'
import { thorough } from '../../help/thorough.ts'

const card = '4111 1111 1111 1111'

function start(action: GuardAction) {
  const rules = [{ id: 'a', isEnabled: true, action, checks: ['response'] as const, patterns: ['*'] }]
  const report = new GuardReport()
  const { response } = new CompiledGuard({ isEnabled: true, rules })
  const stream = new GuardedStream(new GuardedEvents(response!, report))
  return { stream, report }
}

/** How the dialects write deltas of a text, and what follows the last one. */
const dialects = {
  chat: {
    delta: (text: string, index = 0) =>
      event({
        choices: [{ index, delta: { content: text }, logprobs: { content: [{ token: `<${text}>` }] } }],
      }),
    end: 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
    read: (e: Json) => e.choices?.[0]?.delta?.content,
  },
  tool: {
    delta: (text: string, index = 0) =>
      event({ choices: [{ index: 0, delta: { tool_calls: [{ index, function: { arguments: text } }] } }] }),
    end: 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n',
    read: (e: Json) => e.choices?.[0]?.delta?.tool_calls?.[0].function.arguments,
  },
  messages: {
    delta: (text: string, index = 0) =>
      event({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } }),
    end: 'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n',
    read: (e: Json) => e.delta?.text,
  },
  input: {
    delta: (text: string, index = 0) =>
      event({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: text } }),
    end: 'data: {"type":"content_block_stop","index":0}\n\n',
    read: (e: Json) => e.delta?.partial_json,
  },
  responses: {
    delta: (delta: string, index = 0) =>
      event({
        type: 'response.output_text.delta',
        item_id: 'msg_1',
        output_index: index,
        content_index: 0,
        delta,
      }),
    end: 'data: {"type":"response.completed","response":{"output":[]}}\n\n',
    read: (e: Json) => e.delta,
  },
  gemini: {
    delta: (text: string, index = 0) =>
      event({ candidates: [{ index, content: { role: 'model', parts: [{ text }] } }] }),
    end: 'data: {"candidates":[{"index":0,"content":{"parts":[{"text":""}]},"finishReason":"STOP"}]}\n\n',
    read: (e: Json) => e.candidates?.[0].content.parts[0].text,
  },
} as const

function event(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

type Json = ReturnType<typeof JSON.parse>

function eventsOf(text: string): Json[] {
  return text
    .split('\n')
    .filter(line => line.startsWith('data: {'))
    .map(line => JSON.parse(line.slice(6)))
}

function run(stream: GuardedStream, pieces: readonly (string | Buffer)[]): string {
  let sent = ''
  for (const piece of pieces) sent += stream.push(Buffer.from(piece as string)) ?? ''
  return sent + (stream.end() ?? '')
}

for (const [name, { delta, end, read }] of Object.entries(dialects))
  describe(`a stream of ${name}`, () => {
    const textIn = (sent: string) =>
      eventsOf(sent)
        .map(e => read(e) ?? '')
        .join('')

    test('is the same byte for byte if nothing is found', () => {
      const text = `${['Hello', ' wor', 'ld, A', ' 4', ' sk', '-', ' 4111', ' and', ' -----'].map(t => delta(t)).join('')}: ping\n\n${end}`
      for (const action of ['flag', 'redact', 'block'] as const) {
        const { stream, report } = start(action)
        assert.equal(run(stream, [text]), text)
        assert.deepEqual(report.findings, [])
      }
    })

    test('has nothing of a match before it is known, wherever it is split', () => {
      for (const secret of [card, secrets.aws_key![0]!, pem('EC PRIVATE KEY')])
        for (const size of [1, 2, 3, 7, 1000]) {
          const parts = `It is ${secret}, I think.`.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g'))!
          const blocked = start('block')
          const sent = run(blocked.stream, [...parts.map(part => delta(part)), end])
          assert.ok('blocked' in blocked.stream.stop!)
          assert.ok('It is '.startsWith(textIn(sent)), textIn(sent))
          const redacted = start('redact')
          const text = run(redacted.stream, [...parts.map(part => delta(part)), end])
          const mark = `[redacted:${redacted.report.findings[0]!.name}]`
          assert.equal(textIn(text), `It is ${mark}, I think.`)
          assert.equal(redacted.report.findings[0]!.count, 1)
          assert.ok(text.endsWith(end))
          assert.ok(!text.includes('1111') && !text.includes('Q3XZ'))
          const flagged = start('flag')
          const all = parts.map(part => delta(part)).join('') + end
          assert.equal(run(flagged.stream, [all]), all)
          assert.deepEqual(
            flagged.report.findings.map(({ count }) => count),
            [1],
          )
        }
    })

    test('is found at its end, and with other texts between', () => {
      const { stream } = start('redact')
      const parts = ['4111', ' 1111', ' 1111', ' 1111']
      const sent = run(stream, [...parts.flatMap(part => [delta(part), delta('no', 1)]), end])
      assert.equal(
        textIn(
          eventsOf(sent)
            .filter(e => !JSON.stringify(e).includes('"no"'))
            .map(e => event(e))
            .join(''),
        ),
        '[redacted:card_number]',
      )
      assert.equal(sent.match(/"no"/g)!.length, 4)
    })
  })

test('what is fine goes on at once, and a text that is over holds nothing back', () => {
  const { stream } = start('block')
  assert.notEqual(stream.push(Buffer.from(dialects.messages.delta('Hello'))), null)
  assert.equal(stream.push(Buffer.from(dialects.messages.delta(' A'))), null)
  assert.equal(stream.push(Buffer.from(dialects.messages.delta('no', 1))), null)
  const rest = stream.push(Buffer.from('data: {"type":"content_block_stop","index":0}\n\n'))!
  assert.equal(eventsOf(rest.toString()).length, 3)
})

test('a byte order mark before the first event hides nothing of it', () => {
  const { delta, end, read } = dialects.chat
  const mark = '\ufeff'
  const plain = mark + delta('Hello') + end
  assert.equal(run(start('redact').stream, [plain]), plain)
  const { stream, report } = start('redact')
  const sent = run(stream, [mark, delta('It is 4111 1111 '), delta('1111 1111'), end])
  assert.equal(eventsOf(sent).map(read).join(''), 'It is [redacted:card_number]')
  assert.equal(report.findings[0]!.count, 1)
})

test('a match that goes on behind an end is blocked even if it is only to be redacted', () => {
  const { delta, end } = dialects.messages
  const { stream } = start('redact')
  assert.match(String(stream.push(Buffer.from(delta('4111 1111') + end))), /4111 1111/)
  assert.equal(stream.push(Buffer.from(delta(' 1111 1111 ') + delta('.'))), null)
  assert.deepEqual(stream.stop, { blocked: ['card_number'] })
})

test('texts that come whole are looked at too: at the end of a response, in arguments, names and numbers', () => {
  const done = event({
    type: 'response.output_text.done',
    item_id: 'msg_1',
    text: `It is ${card}`,
    logprobs: [1],
  })
  const { stream } = start('redact')
  assert.deepEqual(eventsOf(run(stream, [done]))[0], {
    type: 'response.output_text.done',
    item_id: 'msg_1',
    text: 'It is [redacted:card_number]',
    logprobs: [],
  })
  const call = { functionCall: { name: 'pay', args: { number: 4111111111111111, list: [card] } } }
  const gemini = start('redact')
  const [sent] = eventsOf(run(gemini.stream, [event({ candidates: [{ content: { parts: [call] } }] })]))
  assert.deepEqual(sent.candidates[0].content.parts[0].functionCall.args, {
    number: '[redacted:card_number]',
    list: ['[redacted:card_number]'],
  })
  for (const hidden of [
    event({ a: { [card]: 1 } }),
    `event: ${card}\ndata: {}\n\n`,
    `: ${card}\n\ndata: {}\n\n`,
  ]) {
    const { stream } = start('redact')
    const sent = run(stream, [hidden])
    assert.ok(stream.stop !== null || !sent.includes(card), hidden)
  }
})

test('events that are no JSON, or nest too deep, hide nothing', () => {
  const plain = start('redact')
  assert.equal(
    run(plain.stream, ['data: 4111 1111\n\n', 'data:  1111 1111\n\n']).replaceAll(/data: |\n/g, ''),
    '[redacted:card_number]',
  )
  const deep = start('redact')
  run(deep.stream, [`data: ${'['.repeat(5_000)}"${card}"${']'.repeat(5_000)}\n\n`])
  assert.ok('unreadable' in deep.stream.stop!)
  const flagged = start('flag')
  const text = `data: ${'['.repeat(5_000)}"${card}"${']'.repeat(5_000)}\n\n`
  assert.equal(run(flagged.stream, [text]), text)
})

test('what stays undecided is held up to a bound', () => {
  const { stream } = start('redact')
  stream.push(Buffer.from(dialects.messages.delta('4111')))
  for (let i = 0; i < 1_100 && stream.stop === null; i++)
    stream.push(Buffer.from(dialects.messages.delta('x'.repeat(1_000), 1)))
  assert.ok('unreadable' in stream.stop!)
})

for (const end of ['\n\n', '\n\r', '\n\r\n', '\r\r', '\r\r\n', '\r\n\n', '\r\n\r', '\r\n\r\n'])
  test(`events that end with ${JSON.stringify(end)} are read one by one, wherever the bytes are cut`, () => {
    const deltas = ['4111 1111', ' 1111 1111'].map(text => dialects.chat.delta(text).trim())
    const text = deltas.map(delta => `${delta}${end}`).join('')
    for (let cut = 0; cut <= text.length; cut++) {
      const { stream } = start('redact')
      const pieces = [text.slice(0, cut), text.slice(cut)].map(piece => stream.push(Buffer.from(piece)) ?? '')
      const out = pieces.join('') + (stream.end() ?? '')
      assert.doesNotMatch(out, /1111/, `cut at ${cut}`)
      assert.equal(eventsOf(out).map(dialects.chat.read).join(''), '[redacted:card_number]')
    }
  })

test('blank lines between events are no event that is too large, wherever the bytes are cut', () => {
  for (const end of ['\n', '\r', '\r\n']) {
    const text = `data: {}${end.repeat(5)}data: {}${end.repeat(2)}`
    for (let i = 0; i <= text.length; i++) {
      const { stream, report } = start('block')
      assert.equal(run(stream, [text.slice(0, i), text.slice(i)]), text, JSON.stringify([end, i]))
      assert.deepEqual(report.findings, [])
    }
  }
})

test('blank lines before an event stay where it is redacted, wherever the bytes are cut', () => {
  const text = `data: {}\n\n\n\n${dialects.chat.delta(card)}${dialects.chat.end}`
  const whole = run(start('redact').stream, [text])
  assert.match(whole, /^data: \{\}\n\n\n\ndata: .*redacted:card_number/)
  for (let i = 0; i < 20; i++)
    assert.equal(run(start('redact').stream, [text.slice(0, i), text.slice(i)]), whole, String(i))
})

test('any stream is read, and any pieces of it give the same', () => {
  const names = Object.keys(dialects) as (keyof typeof dialects)[]
  const text = fc.oneof(
    fc.constantFrom(
      ...Object.values(secrets).flat(),
      '4111 11',
      '11 1111 1111',
      'AKIA',
      ' ',
      '\\u00',
      '31',
      '.',
    ),
    fc.string({ maxLength: 5 }),
  )
  const one = fc
    .tuple(fc.constantFrom(...names), text, fc.nat(1))
    .map(([name, text, i]) => dialects[name].delta(text, i))
  const other = fc.oneof(
    fc.jsonValue().map(value => event(value as object)),
    fc.constantFrom(
      'data: [DONE]\n\n',
      ': ping\n\n',
      '\n\n',
      'data: {"type":"content_block_stop","index":0}\n\n',
      'data: {',
    ),
  )
  const stream = fc
    .array(fc.oneof({ weight: 4, arbitrary: one }, other), { maxLength: 10 })
    .map(all => all.join(''))
  fc.assert(
    fc.property(
      stream,
      fc.array(fc.nat(60), { maxLength: 60 }),
      fc.constantFrom('flag', 'redact'),
      (text, sizes, action) => {
        const whole = start(action as GuardAction)
        const sent = run(whole.stream, [text])
        const pieces: Buffer[] = []
        const bytes = Buffer.from(text)
        let at = 0
        for (const size of sizes) pieces.push(bytes.subarray(at, (at += size)))
        const split = start(action as GuardAction)
        const again = run(split.stream, [...pieces, bytes.subarray(at)])
        assert.equal(again, sent)
        assert.deepEqual(split.report.findings, whole.report.findings)
        assert.deepEqual(split.stream.stop, whole.stream.stop)
        if (action === 'flag') assert.equal(sent, text)
      },
    ),
    { numRuns: thorough(1_000, 200) },
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AskedStream } from '../../../src/edge/guard/asked-stream.ts'
import { readVerdict } from '../../../src/guard/webhook/verdict.ts'

const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`
const chat = (content: string, index = 0) => event({ choices: [{ index, delta: { content } }] })
const end = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'

/** The text of a choice in what was sent. */
function textOf(sent: string, index = 0): string {
  let text = ''
  for (const line of sent.split('\n')) {
    if (!line.startsWith('data: {')) continue
    for (const choice of JSON.parse(line.slice(6)).choices ?? [])
      if (choice.index === index) text += choice.delta?.content ?? ''
  }
  return text
}

type Decide = (texts: readonly string[], before: readonly number[]) => object

interface Run {
  readonly sent: string
  readonly stream: AskedStream
  readonly questions: readonly (readonly string[])[]
  readonly isBlocked: boolean
}

/** Each step pushes so many bytes, or, if it is 0, asks. */
function run(all: string, steps: readonly number[], decide: Decide, check?: (sent: string) => void): Run {
  const stream = new AskedStream()
  const bytes = Buffer.from(all)
  const questions: (readonly string[])[] = []
  let [sent, at, isBlocked] = ['', 0, false]
  const ask = () => {
    const question = stream.question()
    if (question === null) return false
    questions.push(question.texts)
    assert.equal(new Set(question.texts).size, question.texts.length)
    for (const [i, text] of question.texts.entries()) assert.ok(question.before![i]! <= text.length)
    const verdict = readVerdict(JSON.stringify(decide(question.texts, question.before!)), question.texts)!
    isBlocked = verdict.kind === 'block'
    if (!isBlocked) sent += stream.obey(verdict) ?? ''
    check?.(sent)
    return true
  }
  for (const step of steps) {
    if (step === 0) ask()
    else sent += stream.push(bytes.subarray(at, (at += step))) ?? ''
    if (isBlocked || stream.stop !== null) return { sent, stream, questions, isBlocked }
    check?.(sent)
  }
  sent += stream.push(bytes.subarray(at)) ?? ''
  sent += stream.end() ?? ''
  while (!isBlocked && stream.stop === null && ask());
  return { sent, stream, questions, isBlocked }
}

const allow: Decide = () => ({ verdict: 'allow' })

function split(text: string, sizes: readonly number[]): string[] {
  const pieces: string[] = []
  let at = 0
  for (const size of sizes) pieces.push(text.slice(at, (at += size)))
  return [...pieces, text.slice(at)]
}

const steps = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 300 })), { maxLength: 60 })
const sizes = fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 30 })
const words = fc.string({ unit: fc.constantFrom('a', ' ', 'é', '日', '😀', '"', '\n', '-'), maxLength: 120 })

test('what is allowed comes byte for byte, and nothing before it was asked about', () => {
  fc.assert(
    fc.property(words, words, sizes, sizes, steps, (one, two, sizesOfOne, sizesOfTwo, steps) => {
      const firsts = split(one, sizesOfOne)
      const seconds = split(two, sizesOfTwo)
      let all = ': hello\n\n'
      for (let i = 0; i < Math.max(firsts.length, seconds.length); i++) {
        if (i < firsts.length) all += chat(firsts[i]!)
        if (i < seconds.length) all += chat(seconds[i]!, 1)
      }
      all += end
      const asked = ['', '']
      const decide: Decide = (texts, before) => {
        // Each text goes on where the one before it ended.
        for (const [i, text] of texts.entries())
          for (const [index, whole] of [one, two].entries())
            if (whole.startsWith(asked[index]!.slice(0, before[i])) && whole.startsWith(text))
              if (text.length > asked[index]!.length) asked[index] = text
        return { verdict: 'allow' }
      }
      const { sent } = run(all, steps, decide, sent => {
        for (const index of [0, 1]) assert.ok(asked[index]!.startsWith(textOf(sent, index)))
      })
      assert.equal(sent, all)
    }),
    { numRuns: 150 },
  )
})

const secret = 'ada@example.com'

test('nothing of a word that is blocked is sent, wherever it is split and whenever it is asked', () => {
  fc.assert(
    fc.property(words, words, sizes, steps, (before, after, sizes, steps) => {
      const text = `${before} ${secret} ${after}`
      const all = split(text, sizes)
        .map(piece => chat(piece))
        .join('')
      const decide: Decide = texts => ({
        verdict: texts.some(text => text.includes(secret)) ? 'block' : 'allow',
      })
      const { sent, isBlocked } = run(all + end, steps, decide)
      assert.ok(isBlocked)
      assert.ok(`${before} `.startsWith(textOf(sent)), textOf(sent))
    }),
    { numRuns: 150 },
  )
})

test('a sentence that is split over windows and texts is seen whole', () => {
  const sentence = 'the code name of it all is blue heron'
  fc.assert(
    fc.property(words, sizes, steps, (before, sizes, steps) => {
      const all = split(`${before}${sentence}`, sizes)
        .map(piece => chat(piece) + chat('x y ', 1))
        .join('')
      const decide: Decide = texts => ({
        verdict: texts.some(text => text.includes(sentence)) ? 'block' : 'allow',
      })
      assert.ok(run(all + end, steps, decide).isBlocked)
    }),
    { numRuns: 100 },
  )
})

const rename: Decide = texts => ({
  verdict: 'replace',
  texts: texts.map(text => text.replaceAll('Ada', 'Somebody')),
})

test('a word is replaced wherever it is split and whenever it is asked', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('Ada', 'is', 'so', 'well,')),
      sizes,
      steps,
      (words, sizes, steps) => {
        const text = words.join(' ')
        const all = split(text, sizes)
          .map(piece => chat(piece))
          .join('')
        const { sent, stream } = run(all + end, steps, rename)
        assert.equal(stream.stop, null)
        assert.equal(textOf(sent), text.replaceAll('Ada', 'Somebody'))
        assert.equal(stream.hasReplaced, words.includes('Ada'))
        assert.ok(sent.endsWith(end))
      },
    ),
    { numRuns: 150 },
  )
})

test('what was sent cannot be replaced any more: the stream stops', () => {
  const all = chat('I am ') + chat('Ada, ') + chat('and well.')
  const whole: Decide = texts => ({
    verdict: 'replace',
    texts: texts.map(text => (text.includes('well') ? text.replace('I am', 'We are') : text)),
  })
  const { stream, sent } = run(all, [chat('I am ').length, 0, chat('Ada, ').length, 0], whole)
  assert.deepEqual(stream.stop, { unreadable: 'a text that cannot be replaced as its webhook wants' })
  assert.equal(textOf(sent), 'I am Ada, ')
  const role = event({ choices: [{ index: 0, delta: { role: 'Ada', content: 'x' } }] })
  assert.ok('unreadable' in run(role, [], rename).stream.stop!)
  assert.ok('unreadable' in run(': Ada\n\n', [], rename).stream.stop!)
})

test('arguments of tools, reasoning, opaque data and texts that repeat are asked about in their turn', () => {
  const tool = (text: string) =>
    event({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: text } }] } }] })
  const all =
    tool('{"to":"A') +
    tool('da"}') +
    event({ type: 'response.reasoning_summary_text.delta', item_id: 'r', delta: 'Ada thinks' }) +
    'data: no JSON\n\n' +
    event({ type: 'response.completed', response: { output_text: 'Ada, again' } })
  const { questions, sent } = run(all, [], rename)
  assert.deepEqual(
    ['{"to":"Ada"}', 'Ada thinks', 'no JSON', 'Ada, again'].filter(text => !questions.flat().includes(text)),
    [],
  )
  assert.doesNotMatch(sent, /Ada/)
  // The ids of events are asked about once.
  const same = run(chat('a ') + chat('b ') + end, [chat('a ').length, 0, chat('b ').length, 0], allow)
  assert.equal(same.questions.flat().filter(text => text === 'stop').length, 1)
})

test('a text does not wait for a word of the reasoning before it', () => {
  const stream = new AskedStream()
  const reasoning = event({ choices: [{ index: 0, delta: { reasoning: 'unfinish' } }] })
  assert.equal(stream.push(Buffer.from(reasoning)), null)
  stream.question()
  assert.equal(stream.obey({ kind: 'allow' }), null)
  const other = chat('other ')
  assert.equal(`${stream.push(Buffer.from(other))}`, reasoning)
  stream.question()
  assert.equal(`${stream.obey({ kind: 'allow' })}`, other)
})

test('a word of one choice waits for its end, whatever comes of another choice', () => {
  const stream = new AskedStream()
  const [one, other, rest] = [chat('ada@'), chat('other ', 1), chat('example.com ')]
  assert.equal(stream.push(Buffer.from(one + other)), null)
  stream.question()
  assert.equal(stream.obey({ kind: 'allow' }), null)
  assert.equal(stream.push(Buffer.from(rest)), null)
  assert.ok(stream.question()!.texts.includes('ada@example.com '))
  assert.equal(`${stream.obey({ kind: 'allow' })}`, one + other + rest)
})

test('an event that is too large or nests too deep stops the stream', () => {
  const deep = `data: ${'{"a":'.repeat(200)}"Ada"${'}'.repeat(200)}\n\n`
  assert.ok('unreadable' in run(deep, [], allow).stream.stop!)
  const large = `data: {"choices":[{"delta":{"content":"${'x'.repeat(17 * 1024 * 1024)}`
  assert.ok('unreadable' in run(large, [large.length], allow).stream.stop!)
})

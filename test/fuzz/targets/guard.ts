// Texts and event streams that a guard redacts: nothing secret is left in what goes on, however it is cut.

import assert from 'node:assert/strict'
import { isUtf8 } from 'node:buffer'
import { SseReader } from '../../../src/ai/parsing/sse.ts'
import { GuardedStream } from '../../../src/edge/guard/guarded-stream.ts'
import { CompiledGuard } from '../../../src/guard/compiled-guard.ts'
import { GuardedEvents } from '../../../src/guard/guarded-events.ts'
import { redactJson, redactText } from '../../../src/guard/redact.ts'
import { GuardReport } from '../../../src/guard/report.ts'
import { matchesIn } from '../../../src/guard/text-scanner.ts'
import type { GuardAction } from '../../../src/store/records/records.ts'
import { secrets } from '../../guard/secrets.ts'
import { mutateEvents } from '../engine/mutate-json.ts'
import { sameInPieces, type Target } from '../target.ts'

function checkOf(action: GuardAction) {
  const rules = [{ id: 'a', isEnabled: true, action, checks: ['response'] as const, patterns: ['*'] }]
  return new CompiledGuard({ isEnabled: true, rules }).response!
}

const checks = { flag: checkOf('flag'), redact: checkOf('redact') }
const { patterns } = checks.redact

function guarded(pieces: readonly Buffer[], action: keyof typeof checks): unknown {
  const stream = new GuardedStream(new GuardedEvents(checks[action], new GuardReport()))
  const out = pieces.map(piece => stream.push(piece)?.toString() ?? '')
  const text = out.join('') + (stream.end()?.toString() ?? '')
  if (action === 'redact') assertClean(text)
  // Blank lines behind the last event of a stream that is stopped may come or not.
  const sent = stream.stop === null ? text : text.replace(/[\r\n]+$/, '')
  return [sent, stream.stop, stream.hasRedacted]
}

/** The text of each choice, joined, has nothing that is to be redacted. */
function assertClean(stream: string): void {
  const texts = new Map<unknown, string>()
  const reader = new SseReader()
  const take = (_: string, data: string) => {
    for (const [position, { index, delta }] of choicesIn(data).entries()) {
      const place = typeof index === 'number' ? index : position
      if (typeof delta?.content === 'string') texts.set(place, (texts.get(place) ?? '') + delta.content)
    }
  }
  reader.push(Buffer.from(stream), take)
  reader.end(take)
  for (const text of texts.values()) assert.deepEqual(leftIn(text), [], text)
}

/**
 * Finds what is left of secrets. Within a word there is none, and a mark has no letter at either end; a mark is
 * shorter than what it stands for, so that a key of several lines may seem to go on behind it.
 */
function leftIn(redacted: string): readonly object[] {
  return matchesIn(redacted, patterns).filter(
    ({ start, end }) =>
      redacted[start - 1] !== ']' &&
      redacted[end] !== '[' &&
      !redacted.slice(start, end).includes('[redacted:'),
  )
}

interface Choice {
  readonly index?: unknown
  readonly delta?: { readonly content?: unknown } | null
}

function choicesIn(data: string): readonly Choice[] {
  try {
    const choices: unknown = JSON.parse(data)?.choices
    return Array.isArray(choices) ? choices.map(choice => choice ?? {}) : []
  } catch {
    return []
  }
}

function attempt(input: Buffer): void {
  for (const action of ['flag', 'redact'] as const) sameInPieces(input, pieces => guarded(pieces, action))
  if (!isUtf8(input)) return
  const text = input.toString()
  const matches = matchesIn(text, patterns)
  const redacted = redactText(text, matches)
  assert.deepEqual(leftIn(redacted), [])
  if (matches.length === 0) assert.equal(redacted, text)
  const json = JSON.stringify({ a: [text], [text]: 1 })
  const inJson = matchesIn(json, patterns)
  JSON.parse(redactJson(json, inJson))
}

const chat = (content: string, index = 0) =>
  `data: ${JSON.stringify({ choices: [{ index, delta: { content } }] })}\n\n`
const samples = Object.values(secrets)
  .flat()
  .map(String)
  .filter(text => text.length < 200)

export const target: Target = {
  seeds: [
    ...samples.slice(0, 3).map(secret => chat(`a ${secret.slice(0, 9)}`) + chat(`${secret.slice(9)} b`)),
    `${chat('4111 1111')}${chat(' 1111 1111 x')}data: [DONE]\n\n`,
    `\xef\xbb\xbf${chat('4111 1111')}${chat(' 1111 1111 x')}`,
    `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n${chat('x', 1)}`,
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"sk-ant-"}}\n\n',
  ],
  tokens: [
    ...samples,
    ...samples.map(text => text.slice(0, 8)),
    ...samples.map(text => text.slice(8)),
    chat('a'),
    chat('4111'),
    'data: ',
    '\xef\xbb\xbf',
    '\n\n',
    '\r',
    '4111111111111111',
    '\\u0034',
    '-',
    ' ',
    '-----BEGIN PRIVATE KEY-----\\n',
    '-----END PRIVATE KEY-----',
  ],
  maxLength: 2048,
  hidesCorpus: true,
  covers: ['src/guard/', 'src/edge/guard/guarded-stream.ts', 'src/edge/ai-call/complete-events.ts'],
  combine: mutateEvents,
  attempt,
}

// Event streams, byte by byte.

import assert from 'node:assert/strict'
import { SseReader } from '../../../src/ai/parsing/sse.ts'
import { CompleteEvents, eventsIn } from '../../../src/edge/ai-call/complete-events.ts'
import { sameInPieces, type Target } from '../target.ts'

function read(pieces: readonly Buffer[]): unknown {
  const reader = new SseReader()
  const events: [string, string][] = []
  const note = (event: string, data: string) => void events.push([event, data])
  for (const piece of pieces) reader.push(piece, note)
  const count = events.length
  reader.end(note)
  return { events, count }
}

/** Rewritten by nothing, a stream is passed on as it is. */
function passed(pieces: readonly Buffer[], maxEvent: number): string {
  const events = new CompleteEvents(maxEvent, bytes => Buffer.concat(eventsIn(bytes)))
  const out = pieces.map(piece => events.push(Buffer.from(piece)))
  return Buffer.concat([...out, events.end()].flatMap(bytes => bytes ?? [])).toString('latin1')
}

export const target: Target = {
  seeds: [
    'event: a\ndata: b\n\n',
    ': c\r\ndata: a\rdata\r\n\r\ndata:  x',
    '\xef\xbb\xbfdata: \xc3\xa9\n\nid: 1\nretry: 5\n\n',
  ],
  tokens: [
    'data',
    'data: ',
    'event: ',
    'id: ',
    'retry: ',
    ':',
    ' ',
    '\n',
    '\r',
    '\r\n',
    '\n\n',
    '\r\r',
    '\n\r\n',
    '\xef\xbb\xbf',
    '\xf0\x9f\x99\x82',
    '\xc3',
    '[DONE]',
    '{"a":1}',
  ],
  maxLength: 1024,
  covers: ['src/ai/parsing/', 'src/edge/ai-call/complete-events.ts'],
  attempt(input) {
    sameInPieces(input, read)
    sameInPieces(input, pieces => {
      const all = input.toString('latin1')
      assert.equal(passed(pieces, 1_000), all)
      assert.equal(passed(pieces, 8), all)
    })
  },
}

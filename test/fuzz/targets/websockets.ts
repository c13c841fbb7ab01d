// Frames of WebSocket, in either direction.

import assert from 'node:assert/strict'
import { ClientMessages } from '../../../src/http1/websocket/client-messages.ts'
import { FrameBorders } from '../../../src/http1/websocket/frame-borders.ts'
import { FrameMessages } from '../../../src/http1/websocket/frame-messages.ts'
import { sameInPieces, type Target } from '../target.ts'

function attempt(input: Buffer): void {
  for (const sender of ['client', 'server'] as const)
    sameInPieces(input, pieces => {
      const borders = new FrameBorders(sender)
      for (const piece of pieces) borders.follow(piece)
      return [borders.isAtBorder, borders.isClosing, borders.isLost]
    })
  sameInPieces(input, pieces => {
    const texts: string[] = []
    const messages = new FrameMessages(
      text => texts.push(text),
      () => true,
    )
    for (const piece of pieces) messages.push(piece)
    return texts
  })
  sameInPieces(input, pieces => {
    const seen: [string, string | null][] = []
    const messages = new ClientMessages(({ bytes, text }) => seen.push([bytes.toString('latin1'), text]))
    let sent = 0
    for (const piece of pieces) {
      if (messages.isLost) break
      messages.push(piece)
      sent += piece.length
    }
    const all = seen.map(([bytes]) => bytes).join('')
    const rest = messages.takeRest().toString('latin1')
    if (!messages.isLost) assert.equal((all + rest).length, sent, 'no byte is lost')
    return [seen, messages.isLost]
  })
}

export const target: Target = {
  seeds: [
    '\x81\x05hello',
    '\x01\x01a\x80\x01b\x89\0\x88\x02\x03\xe8',
    '\x81\x85abcd\x09\x07\x0f\x08\x0e',
    '\x82\x7e\0\x80',
    '\x01\x81aaaa\0\x89\x80bbbb\x80\x81ccccb',
  ],
  tokens: [
    '\x81',
    '\x01',
    '\x80',
    '\x82',
    '\x88\x02\x03\xe8',
    '\x89\0',
    '\x8a',
    '\x7e\0\x01',
    '\x7f\0\0\0\0\0\0\0\x01',
    '\xfe\0\x02',
    '\xff\0\0\0\0\x01\0\0\0',
    '\x85abcdhello',
    '\x80aaaa',
    '\xc1',
    '\x7f\xff\xff\xff\xff\xff\xff\xff\xff',
  ],
  maxLength: 512,
  covers: ['src/http1/websocket/'],
  attempt,
}

// Replies of DNS about TXT records.

import assert from 'node:assert/strict'
import { readTxtReply, writeTxtQuestion } from '../../../src/domains/txt-message.ts'
import type { Target } from '../target.ts'

const host = 'a.example'
const id = 7
const question = writeTxtQuestion(id, host, false)

/** Gives a message the head of a reply to the question, but for the counts of its records. */
function repair(input: Buffer): Buffer {
  if (input.length < 12) return input
  const result = Buffer.from(input)
  result.set([0, id, 0x81, result[3]! & 0x0f, 0, 1])
  return result
}

const reply = repair(Buffer.from(question))
reply.writeUInt16BE(2, 6)
const alias = Buffer.from('\xc0\x0c\0\x05\0\x01\0\0\0\0\0\x04\x01b\xc0\x0e', 'latin1')
const text = Buffer.from('\xc0\x0c\0\x10\0\x01\0\0\0\0\0\x05\x01a\x02bc', 'latin1')

export const target: Target = {
  seeds: [Buffer.concat([reply, alias, text]), Buffer.concat([reply, text, text]), reply],
  tokens: [
    alias.toString('latin1'),
    text.toString('latin1'),
    '\xc0\x0c',
    '\xc0',
    '\x01b',
    '\x07example\0',
    '\0\x10\0\x01',
    '\0\x05\0\x01',
    '\0\0\0\0\0\x02',
    '\x3f',
    '\x40',
    '\xff',
  ],
  maxLength: 600,
  covers: ['src/domains/txt-message.ts'],
  repair,
  attempt(input) {
    const read = readTxtReply(input, id, host)
    if (read?.kind === 'records') for (const text of read.texts) assert.ok(text.length <= input.length)
  },
}

import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { deletionLine, editLine } from '../../src/log-export/lines.ts'
import { encodeCalls, encodeLine, linesIn } from '../../src/log-export/spool-file.ts'
import { batchOf } from '../../src/store/log-batch/batch.ts'
import { anyCharacter } from '../help/any-text.ts'
import { account, entry } from './exported.ts'

const occasion = { ray: '00000000000000aa', account, now: Date.UTC(2026, 0, 2) }

test('a spool file becomes lines in the order of its sections', () => {
  const calls = batchOf([entry({ id: '1' }), entry({ id: '2', request: null })])
  const file = Buffer.concat([
    ...encodeCalls(account, 'default', calls, false),
    ...encodeLine(deletionLine(occasion, 'größer')),
    ...encodeCalls(account, 'other', batchOf([entry({ id: '3' })]), false),
  ])
  const lines = [...linesIn(file)].map(line => JSON.parse(line))
  deepEqual(
    lines.map(({ event, id, gateway_id }) => [event, id, gateway_id]),
    [
      ['ai_call', '1', 'default'],
      ['ai_call', '2', 'default'],
      ['gateway_deleted', '00000000000000aa', 'größer'],
      ['ai_call', '3', 'other'],
    ],
  )
  equal('request' in lines[0], false)
})

test('a line has every member of a call, also those without a value', () => {
  const [line] = linesIn(Buffer.concat(encodeCalls(account, 'default', batchOf([entry()]), true)))
  deepEqual(JSON.parse(line!), {
    schema: 1,
    event: 'ai_call',
    id: '0000000000000001',
    created_at: '2026-01-01T00:00:00.000Z',
    account_id: account,
    gateway_id: 'default',
    provider: 'openai',
    model: 'gpt-4o',
    path: '/v1/chat/completions',
    status_code: 200,
    success: true,
    error: null,
    duration: 12.3,
    time_to_first_byte: 10,
    tokens_in: 43,
    tokens_out: 57,
    usage_estimated: false,
    cost: 0.0001,
    custom_cost: false,
    attempts: [],
    step: 0,
    event_id: null,
    cached: false,
    saved_tokens_in: null,
    saved_tokens_out: null,
    saved_cost: null,
    authentication: true,
    token_id: 'fedcba9876543210fedcba9876543210',
    token_name: 'mine',
    user_id: null,
    user_email: null,
    user_email_verified: false,
    client_id: null,
    client_name: null,
    streamed: false,
    dropped: [],
    metadata: {},
    findings: [],
    request_content_type: 'application/json',
    response_content_type: 'application/json',
    request: 'question: größer?',
    request_complete: true,
    request_base64: false,
  })
})

test('an edit is exported as what people have said by then', () => {
  const line = editLine(occasion, entry({ feedback: -1, metadata: { team: 'a' } }))
  deepEqual(JSON.parse(line), {
    schema: 1,
    event: 'ai_call_edited',
    id: '00000000000000aa',
    created_at: '2026-01-02T00:00:00.000Z',
    account_id: account,
    gateway_id: 'default',
    call_id: '0000000000000001',
    feedback: -1,
    score: null,
    metadata: { team: 'a' },
  })
})

test('bodies of any bytes arrive, and no line has a line break in it', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ text: fc.string({ unit: anyCharacter }), isCut: fc.boolean() }), { minLength: 1 }),
      bodies => {
        const entries = bodies.map(({ text, isCut }) => entry({ response: { text, isCut } }))
        const file = Buffer.concat(encodeCalls(account, 'default', batchOf(entries), true))
        const lines = [...linesIn(file)]
        deepEqual(
          lines.map(line => JSON.parse(line).response),
          bodies.map(({ text }) => text),
        )
        equal(lines.join('').includes('\n'), false)
      },
    ),
  )
})

test('a file that ends too early, or is something else, is damaged', () => {
  const file = Buffer.concat(encodeCalls(account, 'default', batchOf([entry(), entry()]), true))
  for (let size = 1; size < file.length; size++) throws(() => [...linesIn(file.subarray(0, size))])
  throws(() => [...linesIn(Buffer.alloc(4096))])
})

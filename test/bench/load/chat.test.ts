// The chats of the bench, and the calls that carry them.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { asText, chatAt, PROVIDER_DOOR } from '../../../bench/load/call.ts'
import { chatBody, LAST_EVENTS } from '../../../bench/load/chat.ts'
import { createOrigin } from '../../../bench/load/origin.ts'
import { EventStream } from '../../../bench/load/streams.ts'

const DOOR = { ...PROVIDER_DOOR, token: ['svc-aig-authorization', 'Bearer svct_x'] } as const

test('a chat has 300 bytes, and as many more as a longer model name needs', () => {
  assert.equal(chatBody('gpt-4o-mini', null).length, 300)
  assert.equal(chatBody('openai/gpt-4o-mini', null).length, 307)
  assert.equal(JSON.parse(chatBody('m', null)).model, 'm')
})

test('a chat returns 700 bytes of JSON with the usage', async t => {
  const { path, fields, body, method } = chatAt(PROVIDER_DOOR)
  const answer = await fetch(`http://127.0.0.1:${await listen(t)}${path}`, { method, headers: fields, body })
  const text = await answer.text()
  assert.deepEqual([answer.status, text.length], [200, 700])
  assert.equal(JSON.parse(text).usage.total_tokens, 100)
})

test('a streamed chat gets as many tokens as it asks for, and is whole', async t => {
  const stream = new EventStream(await listen(t), chatAt(PROVIDER_DOOR, 'own', 3))
  await stream.ended
  assert.deepEqual([stream.events, stream.isWhole], [3 + LAST_EVENTS, true])
})

test('a connection that was streamed on takes another chat', async t => {
  const { path, fields, body, method } = chatAt(PROVIDER_DOOR, 'own', 1)
  const url = `http://127.0.0.1:${await listen(t)}${path}`
  for (const _ of [1, 2]) {
    const answer = await fetch(url, { method, headers: fields, body })
    assert.match(await answer.text(), /^data: \{"id":.*\n\ndata: \{"id":.*\n\ndata: \[DONE\]\n\n$/)
  }
})

test('a chat shows its own token, one that mix.lua fills in, or none', () => {
  const shown = (mode: 'own' | 'unknown' | 'none') => chatAt(DOOR, mode).fields['svc-aig-authorization']
  assert.deepEqual(
    [shown('own'), shown('unknown'), shown('none')],
    ['Bearer svct_x', 'Bearer TOKEN', undefined],
  )
})

test('unknown tokens are of the kind that the door lets in', () => {
  const access = { ...DOOR, token: ['svc-aig-authorization', 'Bearer svco_x'] } as const
  assert.deepEqual(
    [chatAt(DOOR, 'unknown').unknown, chatAt(access, 'unknown').unknown, chatAt(access).unknown],
    ['svct_', 'svco_', undefined],
  )
})

test('a call is written as the bytes of one request', () => {
  const call = { method: 'POST', path: '/a', fields: { accept: '*/*' }, body: '{}' } as const
  assert.match(
    asText(call),
    /^POST \/a HTTP\/1.1\r\nhost: 127.0.0.1\r\n.*accept: \*\/\*\r\ncontent-length: 2\r\n\r\n\{\}$/s,
  )
})

async function listen(t: TestContext): Promise<number> {
  const origin = createOrigin().listen(0, '127.0.0.1')
  t.after(() => origin.close())
  await once(origin, 'listening')
  return (origin.address() as AddressInfo).port
}

// What an edge knows of its providers from the calls that it made.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call, completion, json, startAi } from '../../help/ai.ts'
import { ManualClock, patient } from '../../help/clock.ts'
import { deadOrigin, startResponder } from '../../help/origin.ts'

const body = '{"model":"openai/gpt-4o-mini","messages":[]}'

test('calls tell how a provider is doing: by its keys, and until a key rests', async t => {
  let status = 200
  let retryAfter = ''
  const provider = await startResponder(t, () =>
    status === 200 ? json(completion) : `HTTP/1.1 ${status} No\r\n${retryAfter}Content-Length: 2\r\n\r\n{}`,
  )
  const clock = new ManualClock()
  const ai = await startAi(t, { openai: { url: provider.url, keys: ['a', 'b'] } }, { ...patient, clock })
  const auth = `Authorization: Bearer ${ai.token}`
  const chat = () => ai.edge.ask(call(`${ai.rest}/v1/chat/completions`, body, auth))
  const own = (...fields: string[]) =>
    ai.edge.ask(
      call(
        `${ai.native('openai')}/chat/completions`,
        '{}',
        `svc-aig-authorization: Bearer ${ai.token}`,
        ...fields,
      ),
    )
  const known = () => ai.edge.plane.providers.find(({ name }) => name === 'openai')!
  assert.equal(known().lastAt, 0)
  await chat()
  assert.deepEqual([known().goodAt, known().lastAt, known().badAt], [clock.now(), clock.now(), 0])
  clock.advance(1_000)
  status = 503
  await chat()
  await chat()
  const failed = known()
  assert.deepEqual([failed.badAt, failed.badStatus, failed.failures], [clock.now(), 503, 2])
  assert.equal(failed.goodAt, clock.now() - 1_000)
  status = 200
  await chat()
  assert.equal(known().failures, 0)
  // A caller with a key that is no good says nothing of the keys here.
  status = 401
  await own('Authorization: Bearer sk-theirs')
  assert.deepEqual([known().failures, known().badStatus], [0, 503])
  await own()
  assert.deepEqual([known().failures > 0, known().badStatus], [true, 401])
  ;[status, retryAfter] = [429, 'Retry-After: 30\r\n']
  clock.advance(60_000)
  await chat()
  for (const key of known().keys) assert.deepEqual(key, { restsUntil: clock.now() + 30_000, status: 429 })
  clock.advance(30_000)
  assert.deepEqual(
    known().keys.map(({ restsUntil }) => restsUntil),
    [0, 0],
  )
})

test('a provider that is not reached is known by the error, and a reload keeps what is known', async t => {
  const { url } = deadOrigin()
  const ai = await startAi(t, { openai: { url, keys: ['a'] } })
  const auth = `Authorization: Bearer ${ai.token}`
  await ai.edge.ask(call(`${ai.rest}/v1/chat/completions`, body, auth))
  const known = () => ai.edge.plane.providers
  const [{ badError, badCode, badStatus, failures }] = known() as [(typeof failed)[number]]
  const failed = known()
  assert.deepEqual([badError, badCode, badStatus, failures], ['origin_down', 'ECONNREFUSED', 0, 1])
  ai.edge.plane.refresh()
  assert.deepEqual(known(), failed)
})

test('providers that are not configured are left out until they are called', async t => {
  const ai = await startAi(t, { ollama: 'http://127.0.0.1:1' })
  assert.deepEqual(
    ai.edge.plane.providers.map(({ name }) => name),
    ['ollama'],
  )
})

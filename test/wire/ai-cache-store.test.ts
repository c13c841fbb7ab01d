// Responses that other processes take out of the store: as they are, and not at all if anybody has changed them there.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openStore } from '../../src/store/open.ts'
import type { AnswerPlace } from '../../src/store/answers/answer.ts'
import { type AiEdge, call, completion, json, startAi } from '../help/ai.ts'
import { startResponder } from '../help/origin.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { startRedis } from '../help/redis.ts'
import { until } from '../help/until.ts'

const stores = {
  sqlite: async (t: TestContext) => `sqlite:${quickFolder(t, 'store')}/gatehouse.db`,
  Redis: async (t: TestContext) => (await startRedis(t)).url,
}

const promptOf = (content: string, stream = false) =>
  JSON.stringify({ model: 'openai/gpt-4o', messages: [{ role: 'user', content }], stream })

const events = ['{"choices":[{"index":0,"delta":{"content":"Hi"}}]}', '[DONE]'].map(
  data => `data: ${data}\n\n`,
)
const stream = `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: ${events.join('').length}\r\n\r\n${events.join('')}`

for (const [name, place] of Object.entries(stores))
  test(`${name}: another process gives the stored response, and none that was swapped, cut or changed`, async t => {
    const storeUrl = await place(t)
    let calls = 0
    const provider = await startResponder(t, ({ text }) => {
      calls++
      return JSON.parse(text).stream === true ? stream : json({ ...completion, id: `c-${calls}` })
    })
    const providers = { openai: { url: provider.url, keys: ['sk'] } }
    const ai = await startAi(t, providers, { storeUrl, commandTimeout: 5_000, gateway: { cacheTtl: 3600 } })
    const places = new Map<string, AnswerPlace>()
    let content = ''
    const { write } = ai.store.answers
    t.mock.method(ai.store.answers, 'write', (...args: Parameters<typeof write>) => {
      const [{ account, gateway, key }] = args
      places.set(content, { account, gateway, key })
      return write.apply(ai.store.answers, args)
    })
    const ask = (at: AiEdge, text: string) =>
      at.edge.ask(call(`${ai.rest}/v1/chat/completions`, text, `Authorization: Bearer ${ai.token}`))
    const another = async () => {
      const store = await openStore(storeUrl, { commandTimeout: 5_000 })
      const at = await startAi(t, providers, { given: { store, account: ai.account } })
      t.after(() => store.close())
      return at
    }
    const statusOf = async (at: AiEdge, text: string) => (await ask(at, text)).field('svc-aig-cache-status')
    const first = new Map<string, string>()
    for (content of ['one', 'two', 'stream']) {
      first.set(content, (await ask(ai, promptOf(content, content === 'stream'))).text)
      await until(async () => (await ai.store.answers.total()).entries === first.size)
    }
    assert.equal(calls, 3)

    const second = await another()
    for (const [content, text] of first) {
      const hit = await ask(second, promptOf(content, content === 'stream'))
      assert.deepEqual([hit.field('svc-aig-cache-status'), hit.text], ['HIT', text])
      assert.match(hit.field('age')!, /^\d+$/)
      const isStream = content === 'stream'
      assert.equal(hit.field('content-type'), isStream ? 'text/event-stream' : 'application/json')
    }
    assert.equal(calls, 3)

    const { answers } = ai.store
    const [one, two] = [places.get('one')!, places.get('two')!]
    const sealed = Buffer.from((await answers.read(one))!)
    const foreign = Buffer.from((await answers.read(two))!)
    const flipped = Buffer.from(sealed)
    flipped[flipped.length - 1]! ^= 1
    const room = { bytes: 1e9, entries: 1_000 }
    const bounds = { answer: 1e6, gateway: room, account: room, all: room }
    const put = (bytes: Buffer) => write.call(answers, one, bytes, Date.now() + 60_000, bounds)
    for (const bytes of [foreign, sealed.subarray(0, -1), sealed.subarray(0, 40), Buffer.alloc(0), flipped]) {
      const before: number = calls
      await put(bytes)
      const third = await another()
      assert.equal(await statusOf(third, promptOf('one')), 'MISS')
      assert.equal(calls, before + 1)
      assert.equal(third.edge.metrics.answers.unreadable.value, 1)
      // The new response takes its place.
      await until(async () => Buffer.compare((await answers.read(one)) ?? bytes, bytes) !== 0)
    }
    await put(sealed)
    assert.equal((await ask(await another(), promptOf('one'))).text, first.get('one'))
  })

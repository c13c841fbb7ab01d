// A scan with tokens that nobody has: it must cost the gateway neither rows nor memory.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { mintToken } from '../../src/tokens/token.ts'
import { type AiEdge, call, completion, json, startAi } from '../help/ai.ts'
import { startResponder } from '../help/origin.ts'
import type { Wire } from '../help/raw.ts'
import { thorough } from '../help/thorough.ts'

const BATCH = 500

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/** Sends so many calls on one connection, each with another unknown token, malformed for every tenth, and none for every eleventh. */
async function scan(ai: AiEdge, client: Wire, count: number): Promise<void> {
  const path = `${ai.native('openai')}/chat/completions`
  for (let sent = 0; sent < count; sent += BATCH) {
    let text = ''
    for (let i = 0; i < BATCH; i++) text += call(path, '{"x":1}', ...credentials(sent + i))
    await client.send(text)
    for (let i = 0; i < BATCH; i++) assert.equal((await client.response()).status, 401)
  }
}

function credentials(nth: number): string[] {
  if (nth % 11 === 0) return []
  const { value } = mintToken()
  return [`svc-aig-authorization: Bearer ${nth % 10 === 0 ? value.slice(1) : value}`]
}

function memory(): { readonly heap: number; readonly rss: number } {
  collectGarbage()
  collectGarbage()
  const { heapUsed, external, rss } = process.memoryUsage()
  return { heap: heapUsed + external, rss }
}

/** What is remembered of misses is bounded, and is full by then; V8's young heap has grown to its size. */
const filling = thorough(40_000, 12_000)
const calls = thorough(50_000, 6_000)

test(`a scan of ${calls} calls with invalid tokens writes no row, calls no provider and leaves memory flat`, async t => {
  const provider = await startResponder(t, json(completion))
  const ai = await startAi(t, { openai: provider.url }, { limits: { requestsPerConnection: 1e9 } })
  const client = await ai.edge.connect()
  await scan(ai, client, filling)
  const before = memory()
  await scan(ai, client, calls)
  const after = memory()
  const { refused } = ai.edge.metrics.ai
  assert.equal(refused.unknown.value + refused.malformed.value + refused.missing.value, filling + calls)
  assert.ok(after.heap - before.heap < 4 * 2 ** 20, `the heap grew from ${before.heap} to ${after.heap}`)
  // V8 keeps tens of MiB of young generation, or gives them back, as it likes: this finds a KiB that each call would leave.
  assert.ok(after.rss - before.rss < 64 * 2 ** 20, `RSS grew from ${before.rss} to ${after.rss}`)
  await ai.logs.close()
  assert.equal(await ai.store.logs.count(ai.account, 'default'), 0)
  assert.deepEqual([provider.bytesReceived, ai.edge.accesses.length, ai.edge.events.length], [0, 0, 0])
})

// Large AI calls in little memory: those for which there is none are refused, and the rest are served.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startAi } from '../help/ai.ts'
import { startAiCrowd } from '../help/ai-crowd.ts'

const mib = 1024 ** 2

test('60 calls of 16 MB at once stay within a container of 1 GiB: some get 503 with Retry-After, the others their responses', async t => {
  t.mock.method(process, 'constrainedMemory', () => 1024 * mib)
  const crowd = await startAiCrowd(t)
  // A busy machine needs its time to send all heads.
  const client = { headerTimeout: 120_000 }
  const ai = await startAi(t, { openai: { url: crowd.provider } }, { client })
  const { metrics } = ai.edge
  let highest = 0
  const timer = setInterval(() => (highest = Math.max(highest, process.memoryUsage.rss())), 5)
  t.after(() => clearInterval(timer))
  const calls = { port: ai.edge.port, path: `${ai.rest}/v1/chat/completions`, token: ai.token }
  const responses = await crowd.call({ ...calls, count: 60, size: 16e6 })
  const refused = responses.filter(text => text.startsWith('HTTP/1.1 503 '))
  const served = responses.filter(text => text.startsWith('HTTP/1.1 200 '))
  const others = responses.filter(text => !/^HTTP\/1\.1 (?:503|200) /.test(text))
  assert.deepEqual(others, [])
  assert.equal(refused.length + served.length, 60)
  assert.ok(served.length > 0 && refused.length > 0, `${served.length} served`)
  for (const text of refused) assert.match(text, /\r\nRetry-After: \d+\r\n/)
  for (const text of served) assert.match(text, /"content":"16000065 bytes"/)
  // A busy machine gives back what is free later: 793 MiB have been seen.
  assert.ok(highest < 0.9 * 1024 * mib, `${highest / mib} MiB`)
  assert.equal(metrics.ai.callsWithoutRoom.value, refused.length)
  assert.equal(metrics.ai.bodyBytes.value, 0)
  const causes = new Set(ai.edge.accesses.filter(({ status }) => status === 503).map(({ cause }) => cause))
  assert.deepEqual([...causes], ['GH_BODY_MEMORY'])
  // There is room again.
  const [again] = await crowd.call({ ...calls, count: 1, size: 16e6 })
  assert.match(again!, /^HTTP\/1\.1 200 /)
})

// A call with an Idempotency-Key whose process is killed: it is told as lost after a while, and not made again.
import assert from 'node:assert/strict'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { completion } from '../help/ai.ts'
import { main, type RunningGateway, spawnGateway, startGateway } from '../help/gateway.ts'
import { say, startProvider } from '../help/provider.ts'
import { startRedis } from '../help/redis.ts'
import { until } from '../help/until.ts'

const stores = {
  sqlite: async (_: TestContext) => ({}),
  Redis: async (t: TestContext) => ({ STORE: (await startRedis(t, { aof: 'always' })).url }),
}

for (const [name, place] of Object.entries(stores))
  test(`${name}: after kill -9, a call that was under way is lost, and one that was over has its response`, async t => {
    const env = await place(t)
    const prompts: string[] = []
    const provider = await startProvider(t, ({ body }, response) => {
      const { content } = (body.messages as { content: string }[])[0]!
      prompts.push(content)
      if (content !== 'Slow') say(response, completion)
    })
    const yaml = `
workers: 0
store: { url: '\${STORE:-}', command_timeout: 5s }
ai: { hosts: [127.0.0.1], providers: { openai: { url: '${provider.url}', keys: [sk] } } }
zones: []
`
    const first = await startGateway(t, yaml, { env })
    const { account, token } = await first.firstStart
    const ask = async (gateway: RunningGateway, key: string, content: string) => {
      const response = await fetch(`${gateway.edge}/client/v4/accounts/${account}/ai/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify({ model: 'openai/gpt-4o', messages: [{ role: 'user', content }] }),
      })
      return { status: response.status, headers: response.headers, text: await response.text() }
    }
    const changed = await fetch(`${first.admin}/client/v4/accounts/${account}/ai-gateway/gateways/default`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ idempotency_keys: true }),
    })
    assert.equal(changed.status, 200)
    await until(async () => (await ask(first, 'over', 'Quick')).headers.has('svc-aig-idempotency-replayed'))
    const quick = prompts.length
    const slow = Promise.allSettled(Array.from({ length: 64 }, () => ask(first, 'slow', 'Slow')))
    await until(() => prompts.length > quick)
    first.signal('SIGKILL')
    await first.exited
    await slow
    const data = { GATEHOUSE_DATA: join(dirname(first.file), 'data') }
    const args = [main, 'start', '--config', first.file]
    const second = await spawnGateway(t, args, { env: { ...process.env, ...data, ...env } })
    const over = await ask(second, 'over', 'Quick')
    assert.deepEqual([over.status, over.headers.get('svc-aig-idempotency-replayed')], [200, 'true'])
    const lost = await Promise.all(Array.from({ length: 16 }, () => ask(second, 'slow', 'Slow')))
    for (const { status, text } of lost) {
      assert.equal(status, 422)
      assert.match(text, /It is unknown whether the call [0-9a-f]+ with this Idempotency-Key was made/)
    }
    assert.deepEqual(prompts.slice(quick), ['Slow'])
    assert.equal((await ask(second, 'slow-2', 'Quick')).status, 200)
  })

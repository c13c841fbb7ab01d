// Two workers write the log of one gateway: what its limit keeps goes by the times of the calls, not by which worker writes first.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { completion } from '../help/ai.ts'
import { type RunningGateway, startGateway } from '../help/gateway.ts'
import { readMetrics } from '../help/prometheus.ts'
import { say, startProvider } from '../help/provider.ts'
import { startRedis } from '../help/redis.ts'
import { busySecond, until } from '../help/until.ts'
import { lineToEach, type WorkerLine } from '../help/workers.ts'

const most = 6
const calls = 24

for (const name of ['SQLite', 'Redis'])
  test(`${name}: calls that two workers take in turn are kept by their times`, async t => {
    let slow = Promise.withResolvers<void>()
    const provider = await startProvider(t, async ({ body }, response) => {
      // So that no two calls begin in the same millisecond.
      await (body.user === 'slow' ? slow.promise : wait(4))
      say(response, completion)
    })
    const gateway = await startGateway(
      t,
      `
workers: 2
store: { url: '\${STORE:-}', command_timeout: 5s }
ai: { hosts: [127.0.0.1], providers: { openai: { url: '${provider.url}' } } }
zones: []
`,
      { env: name === 'Redis' ? { STORE: (await startRedis(t)).url } : {} },
    )
    const { account, token } = await gateway.firstStart
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const [a, b, c] = [...(await lineToEach(t, gateway)), ...(await lineToEach(t, gateway))]

    for (const [id, log_management_strategy] of Object.entries({
      newest: 'DELETE_OLDEST',
      oldest: 'STOP_INSERTING',
    }))
      await t.test(`with ${log_management_strategy}`, async () => {
        const path = `/client/v4/accounts/${account}/ai-gateway/gateways`
        const made = await fetch(gateway.admin + path, {
          method: 'POST',
          headers,
          body: JSON.stringify({ id, collect_logs: true, log_management: most, log_management_strategy }),
        })
        assert.equal(made.status, 200)
        const call = async (line: WorkerLine, user: string) => {
          const body = JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [], user })
          const { status } = await line.send(`/client/v4/accounts/${account}/ai/v1/chat/completions`, {
            method: 'POST',
            headers: {
              ...headers,
              'svc-aig-metadata': JSON.stringify({ user }),
              'svc-aig-gateway-id': id,
            },
            body,
          })
          assert.equal(status, 200)
        }
        const kept = async () => {
          const answer = await fetch(
            `${gateway.admin}${path}/${id}/logs?order_by=created_at&order_by_direction=asc`,
            { headers },
          )
          const { result } = (await answer.json()) as { result: { metadata: string }[] }
          return result.map(({ metadata }) => JSON.parse(metadata).user)
        }
        const [toldBefore, askedBefore] = [await told(gateway), provider.asked.length]
        slow = Promise.withResolvers<void>()
        const first = call(c!, 'slow')
        await until(() => provider.asked.length === askedBefore + 1)
        const users = Array.from({ length: calls }, (_, i) => String(i))
        for (const [i, user] of users.entries()) await call(i % 2 === 0 ? a! : b!, user)
        const inOrder = ['slow', ...users]
        const expected = (all: string[]) => (id === 'newest' ? all.slice(-most) : all.slice(0, most))
        await until(async () => (await told(gateway)) === toldBefore + calls, busySecond)
        assert.deepEqual(await kept(), expected(users))
        slow.resolve()
        await first
        await until(async () => (await told(gateway)) === toldBefore + calls + 1, busySecond)
        assert.deepEqual(await kept(), expected(inOrder), 'what ends late counts by its beginning')
      })
  })

/** Counts the entries of which it is decided whether they are kept. */
async function told(gateway: RunningGateway): Promise<number> {
  const { samples } = readMetrics(await gateway.metrics())
  const of = (result: string) => samples.get(`gatehouse_ai_log_entries_total{result="${result}"}`) ?? 0
  return of('written') + of('over_limit')
}

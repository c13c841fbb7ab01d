// The way of a new user with models: start, take the printed token, stream a chat, look the call up; on either store, in one process and in several.

import assert from 'node:assert/strict'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import OpenAI from 'openai'
import { startGateway, spawnGateway, main, type RunningGateway, writeConfig } from '../help/gateway.ts'
import { aclLine, deniedOn } from '../help/acl.ts'
import { completion } from '../help/ai.ts'
import { gatehouse, quickGatehouse } from '../help/command.ts'
import { say, startProvider, stream } from '../help/provider.ts'
import { replicates, startRedis } from '../help/redis.ts'
import { thorough } from '../help/thorough.ts'
import { busySecond, until } from '../help/until.ts'

const ask = {
  model: 'openai/gpt-4o-mini',
  messages: [{ role: 'user', content: 'Say hello.' }],
} satisfies OpenAI.Chat.ChatCompletionCreateParams

/** Writes a configuration with one provider, on loopback. */
async function configuration(t: TestContext, workers: number): Promise<string> {
  const provider = await startProvider(t, ({ body }, response) => {
    if (body.stream !== true) return say(response, completion)
    const send = stream(response)
    for (const content of ['Hel', 'lo.']) send({ choices: [{ index: 0, delta: { content } }] })
    send('[DONE]')
    response.end()
  })
  return `
workers: ${workers}
store: { url: '\${STORE:-}', command_timeout: 5s }
ai: { hosts: [127.0.0.1], providers: { openai: { url: '${provider.url}' } } }
zones: []
`
}

/** A record of the API, as far as a test looks into it. */
type Kept = Readonly<Record<string, unknown>> & { readonly id: string; readonly name: string }

interface Envelope {
  readonly status: number
  readonly result: Kept & { readonly value: string }
  readonly results: readonly Kept[]
  readonly errors: readonly { readonly code: number }[]
}

interface Api {
  readonly account: string
  readonly token: string
  readonly client: OpenAI
  manage(method: string, path: string, body?: unknown): Promise<Envelope>
}

function apiOf(gateway: RunningGateway, { account, token }: { account: string; token: string }): Api {
  const root = `${gateway.admin}/client/v4/accounts/${account}`
  return {
    account,
    token,
    client: new OpenAI({
      baseURL: `${gateway.edge}/client/v4/accounts/${account}/ai/v1`,
      apiKey: token,
      maxRetries: 0,
    }),
    async manage(method, path, body) {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const answer = await fetch(`${root}${path}`, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const envelope = (await answer.json()) as Envelope
      return { ...envelope, status: answer.status, results: envelope.result as unknown as Kept[] }
    },
  }
}

async function sayHello(client: OpenAI): Promise<string> {
  let said = ''
  for await (const { choices } of await client.chat.completions.create({ ...ask, stream: true }))
    said += choices[0]?.delta.content ?? ''
  return said
}

async function logsOf(api: Api, count: number): Promise<readonly Kept[]> {
  let results: readonly Kept[] = []
  await until(async () => {
    results = (await api.manage('GET', '/ai-gateway/gateways/default/logs')).results
    return results.length >= count
  })
  return results
}

/** Asks again and again until something holds: within a second, where the machine has nothing else to do. */
async function soon(holds: () => Promise<boolean>): Promise<void> {
  await until(holds, busySecond)
}

async function statusOf(client: OpenAI): Promise<number> {
  return client.chat.completions.create(ask).then(
    () => 200,
    (error: { status: number }) => error.status,
  )
}

const stores = {
  SQLite: async () => ({ env: {}, denied: async () => [] }),
  /** As a user of the first steps, with no right beyond. */
  Redis: async (t: TestContext) => {
    const redis = await startRedis(t, { aof: 'always' })
    await redis.ask('ACL', 'SETUSER', ...aclLine('gatehouse', 'secret'))
    const env = { STORE: `redis://gatehouse:secret@127.0.0.1:${redis.port}` }
    return { env, denied: () => deniedOn(redis) }
  },
} as const

for (const [store, open] of Object.entries(stores).filter(([store]) => thorough(true, store === 'Redis'))) {
  test(`the way of a new user, with two workers (${store})`, async t => {
    const { env, denied } = await open(t)
    const gateway = await startGateway(t, await configuration(t, 2), { env })
    const api = apiOf(gateway, await gateway.firstStart)

    await t.test('a chat is streamed, and found in the log', async () => {
      assert.equal(await sayHello(api.client), 'Hello.')
      assert.equal(await statusOf(api.client.withOptions({ apiKey: 'none' })), 401)
      const [entry, ...others] = await logsOf(api, 1)
      assert.deepEqual(
        [others.length, entry!.provider, entry!.model, entry!.success],
        [0, 'openai', 'gpt-4o-mini', true],
      )
      const { result } = await api.manage('GET', `/ai-gateway/gateways/default/logs/${entry!.id}`)
      assert.equal(result.id, entry!.id)
      const metrics = await gateway.metrics()
      assert.match(metrics, /gatehouse_ai_decisions_total\{result="refused",reason="malformed"\} 1/)
      assert.match(metrics, /gatehouse_store_up 1/)
      assert.match(metrics, /^gatehouse_oauth_grants 0$/m)
      assert.deepEqual(await denied(), [])
    })

    await t.test('a setting and a revocation take effect on every worker within a second', async () => {
      const { results: groups } = await api.manage('GET', '/tokens/permission_groups')
      const run = groups.find(({ name }) => name === 'AI Gateway Run')!
      const policies = [
        {
          effect: 'allow',
          permission_groups: [{ id: run.id }],
          resources: { [`svc.api.account.${api.account}`]: '*' },
        },
      ]
      const { result: made } = await api.manage('POST', '/tokens', { name: 'ci', policies })
      const caller = api.client.withOptions({ apiKey: made.value })
      // Each ask is a connection of its own, so that over many every worker has answered.
      const all = async (status: number, client: OpenAI) => {
        for (let i = 0; i < 12; i++) if ((await statusOf(client)) !== status) return false
        return true
      }
      await soon(() => all(200, caller))
      assert.equal((await api.manage('DELETE', `/tokens/${made.id}`)).status, 200)
      await soon(() => all(401, caller))
      const { result: settings } = await api.manage('GET', '/ai-gateway/gateways/default')
      const { id, created_at, modified_at, ...changed } = settings
      assert.equal(
        (await api.manage('PUT', '/ai-gateway/gateways/default', { ...changed, authentication: false }))
          .status,
        200,
      )
      await soon(() => all(200, caller))
      assert.deepEqual(await denied(), [])
    })
  })
}

test('a gateway whose Redis user lacks rights does not start and names them, and starts once they are granted', async t => {
  const redis = await startRedis(t)
  await redis.ask('ACL', 'SETUSER', ...aclLine('gatehouse', 'secret'), '-xadd', '-get')
  const env = { STORE: `redis://gatehouse:secret@127.0.0.1:${redis.port}` }
  const yaml = await configuration(t, 0)
  const file = writeConfig(t, `${yaml}listen: ['127.0.0.1:0']\nadmin: 127.0.0.1:0\n`)
  const { code, stdout, stderr } = await gatehouse(['start', '--config', file], { ...process.env, ...env })
  assert.equal(code, 1)
  assert.ok(
    (stdout + stderr).includes(
      'the Redis server cannot be the store: it denies user gatehouse GET and XADD on the keys {gatehouse*. Grant ~{gatehouse*, +get and +xadd with ACL SETUSER.',
    ),
    stdout + stderr,
  )
  await redis.ask('ACL', 'SETUSER', 'gatehouse', '+get', '+xadd')
  const gateway = await startGateway(t, yaml, { env })
  const api = apiOf(gateway, await gateway.firstStart)
  await soon(async () => (await statusOf(api.client)) === 200)
})

test('kill -9 loses nothing that was acknowledged, and no later start makes a second token; then everything moves from the file to Redis, and works there', async t => {
  const gateway = await startGateway(t, await configuration(t, 0))
  const first = await gateway.firstStart
  const api = apiOf(gateway, first)
  const gatewayMade = { ...bare, id: 'kept' }
  assert.equal((await api.manage('POST', '/ai-gateway/gateways', gatewayMade)).status, 200)
  gateway.signal('SIGKILL')
  await gateway.exited
  const data = { GATEHOUSE_DATA: join(dirname(gateway.file), 'data') }
  const startAgain = (more: NodeJS.ProcessEnv = {}) => {
    const env = { ...process.env, ...data, ...more }
    return spawnGateway(t, [main, 'start', '--config', gateway.file], { env }, gateway.file)
  }
  const again = await startAgain()
  const { result } = await apiOf(again, first).manage('GET', '/ai-gateway/gateways/kept')
  assert.equal(result.id, 'kept')

  await t.test('a token made at the command line works at once', async () => {
    const api = apiOf(again, first)
    const args = ['token', 'create', '--name', 'laptop', '--config', gateway.file]
    const { code, stdout } = await quickGatehouse(args, data)
    assert.equal(code, 0)
    assert.equal(await statusOf(api.client.withOptions({ apiKey: stdout.trim() })), 200)
    const { results } = await api.manage('GET', '/tokens')
    assert.deepEqual(results.map(({ name }) => name).sort(), ['bootstrap', 'laptop'])
  })

  await logsOf(apiOf(again, first), 1)
  again.signal('SIGTERM')
  assert.doesNotMatch(await again.stderr, /svct_/)
  await again.exited
  const redis = await startRedis(t, { aof: 'always' })
  const file = `sqlite:${join(dirname(gateway.file), 'data', 'gatehouse.db')}`
  const STORE = `redis://127.0.0.1:${redis.port}`
  const copied = await quickGatehouse(['store', 'copy', '--from', file, '--to', STORE])
  assert.deepEqual([copied.code, copied.stdout], [0, ''])
  const twice = await quickGatehouse(['store', 'copy', '--from', file, '--to', STORE])
  assert.equal(twice.code, 1)
  // With the key of client secrets that is in the folder.
  const moved = apiOf(await startAgain({ STORE }), first)
  assert.equal(await sayHello(moved.client), 'Hello.')
  assert.equal((await logsOf(moved, 2)).length, 2)
})

test('an unreachable store degrades the gateway, which recovers by itself', async t => {
  const redis = await startRedis(t, { aof: 'always' })
  const gateway = await startGateway(t, await configuration(t, 0), {
    env: { STORE: `redis://127.0.0.1:${redis.port}` },
  })
  const api = apiOf(gateway, await gateway.firstStart)
  const ready = async () =>
    ((await (await fetch(`${gateway.admin}/readyz`)).json()) as { status: string }).status
  assert.equal(await ready(), 'ready')
  // A lookup that a change overtakes, as that of the first start may, is not remembered.
  const isRemembered = async () => /source="remembered"\} [1-9]/.test(await gateway.metrics())
  await soon(async () => (await statusOf(api.client)) === 200 && (await isRemembered()))
  await redis.kill()
  await soon(async () => (await ready()) === 'degraded')
  assert.match(`${(await gateway.logged('store unreachable')).reason}`, /^E[A-Z]+$/)
  assert.equal(await statusOf(api.client), 200)
  const started = performance.now()
  const write = await api.manage('POST', '/ai-gateway/gateways', { ...bare, id: 'late' })
  assert.deepEqual([write.status, write.errors[0]!.code], [503, 10503])
  assert.ok(performance.now() - started < 20_000)
  await redis.restart()
  await gateway.logged('store reachable again')
  assert.equal(await ready(), 'ready')
  assert.equal((await api.manage('POST', '/ai-gateway/gateways', { ...bare, id: 'late' })).status, 200)
})

test('a first start that the store does not confirm shows its token once it does', async t => {
  const primary = await startRedis(t)
  const replica = await startRedis(t, { args: ['--replicaof', `127.0.0.1 ${primary.port}`] })
  await replicates(primary)
  replica.stop()
  const gateway = await startGateway(t, await configuration(t, 0), { env: { STORE: primary.url } })
  const line = await gateway.logged(
    'first start not confirmed by the store yet; its token is shown once it is',
  )
  assert.match(String(line.next), /gatehouse token create/)
  replica.cont()
  const api = apiOf(gateway, await gateway.firstStart)
  await soon(async () => (await statusOf(api.client)) === 200)
})

test('without any API token the log says how to create one', async t => {
  const redis = await startRedis(t)
  const account = { id: 'a'.repeat(32), name: 'default', createdAt: 0 }
  await redis.ask('HSET', '{gatehouse}:accounts', account.id, JSON.stringify(account))
  const gateway = await startGateway(t, await configuration(t, 0), { env: { STORE: redis.url } })
  assert.match(String((await gateway.logged('no account has an API token')).next), /gatehouse token create/)
})

test('a gateway that starts without its store serves all the same, and fills it when it is reachable', async t => {
  const redis = await startRedis(t, { aof: 'always' })
  await redis.kill()
  const gateway = await startGateway(t, await configuration(t, 0), {
    env: { STORE: `redis://127.0.0.1:${redis.port}` },
  })
  await redis.restart()
  assert.equal(await sayHello(apiOf(gateway, await gateway.firstStart).client), 'Hello.')
})

/** What the published client always sends of a gateway. */
const bare = {
  cache_invalidate_on_update: false,
  cache_ttl: 0,
  collect_logs: true,
  rate_limiting_interval: 0,
  rate_limiting_limit: 0,
}

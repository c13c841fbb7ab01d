// Two workers and a store that goes away: a token that one of them has seen is good on both, and one that was revoked is on neither.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { permissionGroups } from '../../src/permissions/permission-groups.ts'
import { completion } from '../help/ai.ts'
import { HaltingClock } from '../help/clock.ts'
import { type RunningGateway, startGateway } from '../help/gateway.ts'
import { readMetrics } from '../help/prometheus.ts'
import { say, startProvider } from '../help/provider.ts'
import { type RedisServer, startRedis } from '../help/redis.ts'
import { thorough } from '../help/thorough.ts'
import { busySecond, until } from '../help/until.ts'
import { lineToEach, WorkerLine } from '../help/workers.ts'

const run = permissionGroups.find(({ name }) => name === 'AI Gateway Run')!

interface Minted {
  readonly id: string
  readonly value: string
}

interface Envelope<T> {
  readonly success: boolean
  readonly result: T
  readonly errors: unknown
}

async function start(t: TestContext, workers = 2) {
  const provider = await startProvider(t, (_, response) => say(response, completion))
  const redis = await startRedis(t)
  const gateway = await startGateway(
    t,
    `
workers: ${workers}
log: { level: debug }
store: { url: '\${STORE}', command_timeout: 5s }
ai: { hosts: [127.0.0.1], providers: { openai: { url: '${provider.url}' } } }
zones: []
`,
    { env: { STORE: redis.url } },
  )
  return new Journey(gateway, redis, await gateway.firstStart)
}

class Journey {
  readonly gateway: RunningGateway
  readonly redis: RedisServer
  readonly first: string
  readonly #account: string

  constructor(
    gateway: RunningGateway,
    redis: RedisServer,
    { account, token }: { account: string; token: string },
  ) {
    this.gateway = gateway
    this.redis = redis
    this.first = token
    this.#account = account
  }

  async call(line: WorkerLine, token: string): Promise<number> {
    const { status } = await line.send(`/client/v4/accounts/${this.#account}/ai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [] }),
    })
    return status
  }

  mint(): Promise<Minted> {
    const resources = { [`svc.api.account.${this.#account}`]: '*' }
    const policies = [{ effect: 'allow', permission_groups: [{ id: run.id }], resources }]
    return this.#ask('POST', 'tokens', { name: 'one', policies })
  }

  /** Tells how many tokens workers have asked for since another one had found them; one that was killed is counted as far as it was seen. */
  async told(): Promise<number> {
    const { samples } = readMetrics(await this.gateway.metrics())
    return samples.get('gatehouse_token_lookups_total{source="told"}')!
  }

  async revoke({ id }: Minted): Promise<void> {
    await this.#ask('DELETE', `tokens/${id}`)
  }

  async #ask<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(`${this.gateway.admin}/client/v4/accounts/${this.#account}/${path}`, {
      method,
      headers: { authorization: `Bearer ${this.first}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    const { success, result, errors } = (await response.json()) as Envelope<T>
    assert.ok(success, JSON.stringify(errors))
    return result
  }
}

test('a token that one worker has seen is valid on all while the store is unreachable, and an unknown one on none', async t => {
  const journey = await start(t)
  const { gateway, redis } = journey
  const [seen, later, unseen] = [await journey.mint(), await journey.mint(), await journey.mint()]
  const [a, b] = (await lineToEach(t, gateway)) as [WorkerLine, WorkerLine]
  assert.equal(await journey.call(a, seen.value), 200)
  // The other worker, and the process that outlives both.
  await until(async () => (await journey.told()) === 2, busySecond)
  // One that starts later knows what the others have seen.
  process.kill(b.pid, 'SIGKILL')
  await until(async () => (await journey.told()) === 3)
  const lines = (await lineToEach(t, gateway)) as [WorkerLine, WorkerLine]
  assert.equal(await journey.call(a, later.value), 200)
  await until(async () => (await journey.told()) === 5, busySecond)
  await redis.kill()
  for (const line of [...lines, ...lines])
    for (const { value } of [seen, later]) assert.equal(await journey.call(line, value), 200)
  for (const line of lines) assert.equal(await journey.call(line, unseen.value), 503)

  // One that starts now borrows what they know, and no more.
  const { pid } = lines.find(line => line.pid !== a.pid)!
  const ended = gateway.lines.length
  process.kill(pid, 'SIGKILL')
  await gateway.logged('worker ended, starting another', line => gateway.lines.indexOf(line) >= ended)
  const [c, d] = (await lineToEach(t, gateway)) as [WorkerLine, WorkerLine]
  assert.ok([c.pid, d.pid].includes(a.pid) && !(c.pid === pid || d.pid === pid))
  for (const line of [c, d]) {
    assert.equal(await journey.call(line, seen.value), 200)
    assert.equal(await journey.call(line, unseen.value), 503)
  }
  await redis.start()
  await gateway.logged('store reachable again')
  await until(async () => (await journey.call(c, unseen.value)) === 200)
  await journey.revoke(seen)
  for (const line of [c, d])
    await until(async () => (await journey.call(line, seen.value)) === 401, busySecond)
  const digests = gateway.lines.filter(line => /\b[0-9a-f]{64}\b|svct_/.test(JSON.stringify(line)))
  assert.deepEqual(digests, [])
})

test('a token that is revoked just as workers announce it to each other is refused by both within a second, and stays so', async t => {
  const journey = await start(t)
  const { gateway, redis } = journey
  const lines = (await lineToEach(t, gateway)) as [WorkerLine, WorkerLine]
  const tokens = await Promise.all(Array.from({ length: 12 }, () => journey.mint()))
  const clock = new HaltingClock(t)
  for (const [i, token] of tokens.entries()) {
    const revoked = wait(i % 4).then(() => journey.revoke(token))
    const call = journey.call(lines[i % 2]!, token.value)
    await Promise.all([revoked, call])
    const since = clock.monotonic()
    for (const line of lines)
      await until(async () => (await journey.call(line, token.value)) === 401, busySecond)
    assert.ok(clock.monotonic() - since < 1_000)
  }
  const refused = async () => {
    for (const token of tokens)
      for (const line of lines) assert.equal(await journey.call(line, token.value), 401)
  }
  await refused()
  await redis.kill()
  for (const token of tokens)
    for (const line of lines) assert.notEqual(await journey.call(line, token.value), 200)
})

for (const workers of thorough([0, 1], [1]))
  test(`while the store is unreachable, neither upgrades nor the end of the only worker forget a token (workers: ${workers})`, async t => {
    const journey = await start(t, workers)
    const { gateway, redis } = journey
    const [seen, revoked, unseen] = [await journey.mint(), await journey.mint(), await journey.mint()]
    const call = ({ value }: Minted) => journey.call(new WorkerLine(t, gateway.edge), value)
    assert.deepEqual([await call(seen), await call(revoked)], [200, 200])
    if (workers > 0) await until(async () => (await journey.told()) === 2, busySecond)
    await journey.revoke(revoked)
    await until(async () => (await call(revoked)) === 401, busySecond)
    await redis.kill()
    assert.deepEqual([await call(seen), await call(unseen)], [200, 503])
    if (workers > 0) {
      const [line] = (await lineToEach(t, gateway, 1)) as [WorkerLine]
      process.kill(line.pid, 'SIGKILL')
      await gateway.logged('worker ended, starting another')
      const [another] = (await lineToEach(t, gateway, 1)) as [WorkerLine]
      assert.notEqual(another.pid, line.pid)
      assert.deepEqual([await call(seen), await call(unseen)], [200, 503])
    }
    let { pid } = gateway
    for (let i = 1; i <= 2; i++) {
      process.kill(pid, 'SIGUSR2')
      const { next } = await gateway.logged('upgraded: the new gateway serves', line => line.pid === pid)
      pid = Number(next)
      t.after(() => process.kill(pid, 'SIGKILL'))
      await gateway.logged('stopped', line => line.pid !== pid)
      assert.equal(await call(seen), 200)
      assert.deepEqual([await call(unseen), await call(revoked)], [503, 503])
    }
    const secrets = gateway.lines.filter(line => /\b[0-9a-f]{64}\b|svct_/.test(JSON.stringify(line)))
    assert.deepEqual(secrets, [])
    await redis.start()
    await gateway.logged('store reachable again', line => line.pid === pid)
    await until(async () => (await call(unseen)) === 200, busySecond)
    await journey.revoke(seen)
    await until(async () => (await call(seen)) === 401, busySecond)
  })

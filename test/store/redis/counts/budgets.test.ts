// Budgets in Redis outlive the server and its pauses: a step whose outcome is unknown is made good by the next one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Store, StoreUnreachable } from '../../../../src/store/contract/store.ts'
import { type RedisServer, startRedis } from '../../../help/redis.ts'
import { until } from '../../../help/until.ts'
import { bucket } from '../../budget-spending.ts'
import { keys } from '../../../../src/store/redis/server/keys.ts'
import { ContractClock } from '../../contract-clock.ts'
import { hex } from '../../contract-specimens.ts'
import { openRedis } from '../open.ts'

const lease = 600_000
const nothing = { confirmed: 0, keep: 0, ifLost: 0, need: 0, want: 0 }

/** A process that spends one more with each step, and says its total again while it does not know what became of it. */
class Spender {
  readonly #store: Store
  readonly #account: string
  readonly #share = hex(9)
  #sequence = 0
  total = 0
  confirmed = 0

  constructor(store: Store, account: string) {
    this.#store = store
    this.#account = account
  }

  /** Spends until the store is gone. */
  async spend(): Promise<void> {
    for (;;) {
      this.total++
      await this.report()
    }
  }

  async report(): Promise<void> {
    const { total } = this
    const line = { ...bucket, ...nothing, limit: 1_000_000, share: this.#share, total }
    const step = { account: this.#account, lease, sequence: ++this.#sequence, lines: [line] }
    await this.#store.budgets.step(step)
    this.confirmed = total
  }
}

const spentIn = async ({ budgets }: Store, account: string) =>
  (await budgets.read(account, [bucket]))[0]!.spent
const sum = (all: readonly number[]) => all.reduce((sum, one) => sum + one, 0)

const outages: Readonly<Record<string, (server: RedisServer) => unknown>> = {
  'is killed': async server => {
    await server.kill()
    await server.restart()
  },
  hangs: async server => {
    server.stop()
  },
}

for (const [outage, begin] of Object.entries(outages)) {
  test(`when the server ${outage} in the middle of steps, what was confirmed stays, and the rest is counted once`, async t => {
    const server = await startRedis(t, { aof: 'always' })
    const account = hex(16)
    const stores = await Promise.all(Array.from({ length: 4 }, () => openRedis(t, server.url, 10_000)))
    const spenders = stores.flatMap(store => [new Spender(store, account), new Spender(store, account)])
    const ends = Promise.allSettled(spenders.map(spender => spender.spend()))
    await until(() => sum(spenders.map(({ confirmed }) => confirmed)) > 100)
    await begin(server)
    for (const outcome of await ends)
      assert.ok(outcome.status === 'rejected' && outcome.reason instanceof StoreUnreachable, String(outcome))
    server.cont()
    await until(() => stores.every(({ isUnreachable }) => !isUnreachable))
    const [confirmed, all] = [
      sum(spenders.map(({ confirmed }) => confirmed)),
      sum(spenders.map(({ total }) => total)),
    ]
    const spent = await spentIn(stores[0]!, account)
    assert.ok(confirmed <= spent && spent <= all, `${spent} is from ${confirmed} to ${all}`)
    await Promise.all(spenders.map(spender => spender.report()))
    assert.equal(await spentIn(stores[0]!, account), all)
  })
}

test('keys of buckets that are over go, and the index of their account with the last of them', async t => {
  const server = await startRedis(t, { aof: false })
  const clock = new ContractClock()
  const { budgets } = await openRedis(t, server.url, undefined, clock)
  const account = hex(16)
  const step = (name: string, left: number) => {
    const line = { ...bucket, ...nothing, bucket: name, limit: 9, share: 's', total: 1 }
    const window = { kind: 'fixed', until: clock.now() + left } as const
    return budgets.step({ account, sequence: 1, lease: 1, lines: [{ ...line, window }] })
  }
  const left = async () => ((await server.ask('KEYS', '*budget*')) as string[]).toSorted()
  await step('short', 1)
  const short = keys.budget(account, 'short')
  assert.deepEqual(await left(), [short, keys.budgets(account)].toSorted())
  const ttl = async (key: string) => Number(await server.ask('PTTL', key))
  assert.ok((await ttl(short)) > 590_000)
  assert.ok(Math.abs((await ttl(short)) - (await ttl(keys.budgets(account)))) < 5_000)
  clock.advance(700_000)
  await step('long', 5_000_000)
  assert.deepEqual(await server.ask('ZRANGE', keys.budgets(account), '0', '-1'), ['long'])
  assert.ok(Math.abs((await ttl(keys.budgets(account))) - 5_000_000) < 5_000)
  assert.ok(Math.abs((await ttl(keys.budget(account, 'long'))) - 5_000_000) < 5_000)
})

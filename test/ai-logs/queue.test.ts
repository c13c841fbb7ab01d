import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { AiMetrics } from '../../src/metrics/counters/ai-metrics.ts'
import { createLogger } from '../../src/log/log.ts'
import type { Meter } from '../../src/ai-logs/entry.ts'
import { LogQueue, type LogQueueOptions } from '../../src/ai-logs/queue.ts'
import { noTokens } from '../../src/ai/usage/usage.ts'
import type { LogEntry } from '../../src/store/records/records.ts'
import { openStore } from '../../src/store/open.ts'
import { type Logs, type Store, StoreUnreachable } from '../../src/store/contract/store.ts'
import { captured, gateway, observed } from './observed.ts'

const meter: Meter = {
  usageOf: () => ({ ...noTokens, model: null, tokensIn: 1, tokensOut: 2 }),
  costOf: () => null,
}

/** A store in memory with its gateway, whose logs can be taken away. */
class Ground {
  readonly store: Store
  readonly metrics = new AiMetrics()
  readonly lines: string[] = []
  /** What the next appends are rejected with. */
  failure: Error | null = null
  /** Whether entries are kept and nobody learns it. */
  isAnswerLost = false
  /** What appends wait for. */
  gate: Promise<void> = Promise.resolve()
  readonly #appended: (() => void)[] = []

  constructor(store: Store) {
    this.store = store
  }

  static async open(t: TestContext): Promise<Ground> {
    const store = await openStore('sqlite::memory:', { commandTimeout: 1000 })
    t.after(() => store.close())
    await store.accounts.insert({ id: gateway.account, name: 'a', createdAt: 0 })
    await store.gateways.insert(gateway)
    return new Ground(store)
  }

  queue(options: Partial<LogQueueOptions> = {}): LogQueue {
    const log = createLogger('info', { write: line => this.lines.push(line) })
    const store = { logs: { append: this.#append } } as unknown as Store
    return new LogQueue({ store, meter, metrics: this.metrics, log, ...options })
  }

  /** Waits for an attempt to append. */
  attempt(): Promise<void> {
    return new Promise(resolve => this.#appended.push(resolve))
  }

  async ids(id = gateway.id): Promise<string[]> {
    const query = { filters: [], orderBy: 'id', descending: false, offset: 0, limit: 20_000 } as const
    const { items } = await this.store.logs.list(gateway.account, id, query)
    return items.map(({ id }) => id)
  }

  get counts(): [written: number, dropped: number, overLimit: number] {
    const { written, dropped, over_limit } = this.metrics.logEntries
    return [written.value, dropped.value, over_limit.value]
  }

  #append: Logs['append'] = async (account, id, batch, limit) => {
    try {
      await this.gate
      if (this.failure) throw this.failure
      const kept = await this.store.logs.append(account, id, batch, limit)
      if (this.isAnswerLost) throw new StoreUnreachable()
      return kept
    } finally {
      for (const resolve of this.#appended.splice(0)) setImmediate(resolve)
    }
  }
}

describe('LogQueue', () => {
  test('writes what was added a little later', async t => {
    const ground = await Ground.open(t)
    const queue = ground.queue()
    const written = ground.attempt()
    const { ray } = observed()
    queue.add(observed({ ray }))
    deepEqual(ground.counts, [0, 0, 0])
    await written
    const entry = (await ground.store.logs.get(gateway.account, gateway.id, ray)) as LogEntry
    equal(entry.model, 'gpt-4o')
    equal(entry.tokensOut, 2)
    deepEqual(ground.counts, [1, 0, 0])
    await queue.close()
  })

  test('writes a full batch at once, and the rest in the end', async t => {
    const ground = await Ground.open(t)
    const queue = ground.queue()
    const written = ground.attempt()
    const rays = Array.from({ length: 600 }, () => add(queue))
    await written
    ok(ground.counts[0] >= 256)
    await queue.close()
    deepEqual(await ground.ids(), rays)
    deepEqual(ground.counts, [600, 0, 0])
  })

  test('appends to each gateway with its own limit', async t => {
    const ground = await Ground.open(t)
    const queue = ground.queue()
    const small = {
      ...gateway,
      id: 'small',
      logManagement: 2,
      logManagementStrategy: 'STOP_INSERTING',
    } as const
    await ground.store.gateways.insert(small)
    for (let i = 0; i < 5; i++) {
      add(queue)
      add(queue, { gateway: small })
    }
    await queue.close()
    equal((await ground.ids()).length, 5)
    equal((await ground.ids('small')).length, 2)
    deepEqual(ground.counts, [7, 0, 3])
  })

  test('writes nothing of a gateway that is gone to another one of its name', async t => {
    const ground = await Ground.open(t)
    const queue = ground.queue()
    const another = { ...gateway, createdAt: 1, collectLogs: false }
    add(queue)
    await ground.store.gateways.remove(gateway.account, gateway.id)
    await ground.store.gateways.insert(another)
    const ray = add(queue, { gateway: another })
    await queue.close()
    deepEqual(await ground.ids(), [ray])
    deepEqual(ground.counts, [1, 0, 1])
  })

  test('keeps entries while the store is unreachable and writes them when it is back, with one warning', async t => {
    const ground = await Ground.open(t)
    const queue = ground.queue()
    ground.failure = new StoreUnreachable()
    const rays = [add(queue)]
    await ground.attempt()
    rays.push(add(queue))
    await ground.attempt()
    ground.failure = null
    await ground.attempt()
    await ground.attempt()
    deepEqual(await ground.ids(), rays)
    deepEqual(ground.counts, [2, 0, 0])
    const told = ground.lines.map(line => JSON.parse(line).msg)
    deepEqual(told, ['writing AI log entries failed', 'AI log entries written again'])
    await queue.close()
  })

  test('tells once, when the rest is written, how many entries were lost, and from when to when', async t => {
    const ground = await Ground.open(t)
    const bounds = { maxEntries: 2, maxBytes: 1e9 }
    const queue = ground.queue({ bounds, batchSize: 1 })
    ground.failure = new StoreUnreachable()
    add(queue, { startedAt: 1000 })
    await ground.attempt()
    for (const startedAt of [2000, 3000, 4000, 5000]) add(queue, { startedAt })
    await ground.attempt()
    const told = () => ground.lines.map(line => JSON.parse(line)).filter(({ lost }) => lost !== undefined)
    deepEqual(told(), [])
    ground.failure = null
    await ground.attempt()
    await ground.attempt()
    await queue.close()
    deepEqual(ground.counts, [2, 3, 0])
    const lines = told().map(({ msg, lost, from, to }) => [msg, lost, Date.parse(from), Date.parse(to)])
    deepEqual(lines, [['AI log entries lost: more came than could be written', 3, 1000, 3000]])
  })

  test('marks a batch that the store may have already', async t => {
    const ground = await Ground.open(t)
    const queue = ground.queue()
    ground.isAnswerLost = true
    const ray = add(queue)
    await ground.attempt()
    ground.isAnswerLost = false
    await ground.attempt()
    deepEqual(await ground.ids(), [ray])
    deepEqual(ground.counts, [1, 0, 0])
    await queue.close()
  })

  test('writes the responses that have to be decoded, too', async t => {
    const ground = await Ground.open(t)
    const queue = ground.queue()
    const answer = { responseEncoding: 'gzip', response: captured(gzipSync('{"a":1}'), true) }
    const rays = [add(queue, answer), add(queue), add(queue, answer)]
    await queue.close()
    deepEqual(await ground.ids(), rays)
    const entry = await ground.store.logs.get(gateway.account, gateway.id, rays[2]!)
    deepEqual(entry!.response, { text: '{"a":1}', isCut: false })
    deepEqual(ground.counts, [3, 0, 0])
  })

  test('writes each batch as it was, whatever is added meanwhile', async t => {
    const ground = await Ground.open(t)
    const queue = ground.queue({ batchSize: 4 })
    const texts = Array.from({ length: 50 }, (_, i) => `${i}`.repeat(1 + i))
    const rays: string[] = []
    for (const [i, text] of texts.entries()) {
      rays.push(add(queue, { request: captured(text) }))
      if (i % 6 === 0) await ground.attempt()
    }
    await queue.close()
    for (const [i, ray] of rays.entries()) {
      const entry = await ground.store.logs.get(gateway.account, gateway.id, ray)
      equal(entry!.request!.text, texts[i])
    }
  })

  test('drops a call that cannot become an entry, and logs it', async t => {
    const ground = await Ground.open(t)
    const queue = ground.queue({
      meter: {
        ...meter,
        costOf: () => {
          throw new TypeError('no price')
        },
      },
    })
    add(queue)
    await queue.close()
    deepEqual(ground.counts, [0, 1, 0])
    equal(JSON.parse(ground.lines[0]!).msg, 'building an AI log entry failed: internal error')
  })

  test('drops the oldest beyond the bound of entries, and counts them', async t => {
    const ground = await Ground.open(t)
    const queue = ground.queue({ bounds: { maxEntries: 3, maxBytes: 1e9 }, batchSize: 1 })
    const rays = Array.from({ length: 5 }, () => add(queue))
    await queue.close()
    deepEqual(await ground.ids(), rays.slice(2))
    deepEqual(ground.counts, [3, 2, 0])
  })

  test('drops the oldest beyond the bound of bytes, and counts them', async t => {
    const ground = await Ground.open(t)
    const queue = ground.queue({ bounds: { maxEntries: 1000, maxBytes: 150_000 }, batchSize: 1 })
    const rays = Array.from({ length: 5 }, () => add(queue, { response: captured(Buffer.alloc(64 * 1024)) }))
    await queue.close()
    deepEqual(await ground.ids(), rays.slice(3))
    deepEqual(ground.counts, [2, 3, 0])
  })

  test('drops the oldest of what came back from an unreachable store', async t => {
    const ground = await Ground.open(t)
    const queue = ground.queue({ bounds: { maxEntries: 3, maxBytes: 1e9 }, batchSize: 1 })
    ground.failure = new StoreUnreachable()
    const rays = Array.from({ length: 3 }, () => add(queue))
    await ground.attempt()
    rays.push(add(queue), add(queue))
    ground.failure = null
    await ground.attempt()
    await queue.close()
    deepEqual(await ground.ids(), rays.slice(2))
    deepEqual(ground.counts, [3, 2, 0])
  })

  test('drops what the store can never take, and goes on', async t => {
    const ground = await Ground.open(t)
    const queue = ground.queue()
    ground.failure = new TypeError('no such column')
    add(queue)
    await ground.attempt()
    ground.failure = null
    const ray = add(queue)
    await queue.close()
    deepEqual(await ground.ids(), [ray])
    deepEqual(ground.counts, [1, 1, 0])
  })

  test('gives up in the end when the store stays unreachable, within its time', async t => {
    const ground = await Ground.open(t)
    const queue = ground.queue({ lastWait: 300 })
    ground.failure = new StoreUnreachable()
    add(queue)
    const startedAt = performance.now()
    await queue.close()
    ok(performance.now() - startedAt < 20_000)
    deepEqual(ground.counts, [0, 1, 0])
    add(queue)
    await queue.close()
    deepEqual(ground.counts, [0, 2, 0])
  })

  test('counts what a write that outlives it brings back', async t => {
    const ground = await Ground.open(t)
    const queue = ground.queue({ lastWait: 50 })
    const { promise, resolve } = Promise.withResolvers<void>()
    ground.gate = promise
    ground.failure = new StoreUnreachable()
    add(queue)
    await queue.close()
    deepEqual(ground.counts, [0, 0, 0])
    const ended = ground.attempt()
    resolve()
    await ended
    deepEqual(ground.counts, [0, 1, 0])
  })

  test('keeps no process alive that has nothing else to do', async t => {
    const ground = await Ground.open(t)
    const queue = ground.queue()
    const before = process.getActiveResourcesInfo()
    add(queue)
    deepEqual(process.getActiveResourcesInfo(), before)
    await queue.close()
  })
})

function add(queue: LogQueue, changes: Parameters<typeof observed>[0] = {}): string {
  const observation = observed(changes)
  queue.add(observation)
  return observation.ray
}

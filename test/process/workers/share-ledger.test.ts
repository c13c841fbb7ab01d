// Limits over all workers: the ledger of the supervisor, with workers that reply in any order, late, or never.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { Share, type ShareClaim } from '../../../src/edge/accept/connection-share.ts'
import { ShareLedger, type ShareHolder } from '../../../src/process/workers/share-ledger.ts'

const patience = 20

/** A worker whose messages arrive, in their order, when the test says so. */
class Worker implements ShareHolder {
  readonly slot: number
  readonly share: Share
  isAlive = true
  /** Served connections, and how many of them are idle. */
  used = 0
  idle = 0
  refused = 0
  #isUp = false
  readonly #ledger: ShareLedger
  readonly #limit: number
  readonly #toWorker: (() => void)[] = []
  readonly #toLedger: (() => void)[] = []

  constructor(slot: number, workers: number, limit: number, ledger: ShareLedger) {
    this.slot = slot
    this.#limit = limit
    const send = (request: Parameters<ShareLedger['request']>[1]) =>
      this.#toLedger.push(() => void ledger.request(this, request))
    this.share = new Share({ slot, workers, send })
    this.#ledger = ledger
  }

  /** Has the supervisor hear that it is up. */
  rise(): void {
    if (!this.isAlive || this.#isUp) return
    this.#isUp = true
    const moved = this.#ledger.join(this)
    this.#toWorker.push(() => this.share.begin(moved))
  }

  /** As the edge does it. */
  connect(): void {
    const take = () => this.used < this.share.partOf('*', this.#limit) && ++this.used > 0
    const again = () => this.connect()
    if (take() || this.share.request('*', this.#limit, false, again)) return
    if ((this.#closeIdle() && take()) || this.share.request('*', this.#limit, true, again)) return
    this.refused++
  }

  rest(): void {
    if (this.idle < this.used) this.idle++
  }

  disconnect(): void {
    if (this.used > 0) this.used--
    this.idle = Math.min(this.idle, this.used)
  }

  claim(claim: ShareClaim): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    this.#toWorker.push(() => {
      if (!this.isAlive) return reject(new Error('it ended'))
      const left = this.#leave(claim)
      this.#toLedger.push(() => resolve(left))
    })
    return promise
  }

  grant(key: string, count: number): void {
    this.#toWorker.push(() => this.isAlive && this.share.grant(key, count))
  }

  /** Delivers the next message in each direction; false where there is none. */
  deliver(): boolean {
    const [there, back] = [this.#toWorker.shift(), this.isAlive ? this.#toLedger.shift() : undefined]
    there?.()
    back?.()
    return there !== undefined || back !== undefined
  }

  #leave({ key, what, count }: ShareClaim): number {
    const free = Math.max(0, this.share.partOf(key, this.#limit) - this.used)
    let left = { half: Math.ceil(free / 2), surplus: Math.min(free, this.share.surplus(key)), idle: free }[
      what
    ]
    if (what === 'idle') left = Math.min(left, count)
    if (what === 'idle') while (left < count && this.#closeIdle()) left++
    this.share.leave(key, left)
    return left
  }

  #closeIdle(): boolean {
    if (this.idle === 0) return false
    this.idle--
    this.used--
    return true
  }
}

class Machine {
  readonly ledger: ShareLedger
  readonly workers: Worker[]
  readonly #limit: number

  constructor(count: number, limit: number) {
    this.#limit = limit
    this.ledger = new ShareLedger(count, patience)
    this.workers = Array.from({ length: count }, (_, slot) => new Worker(slot, count, limit, this.ledger))
    for (const worker of this.workers) {
      worker.rise()
      worker.deliver()
    }
  }

  get used(): number {
    return this.workers.reduce((sum, { used }) => sum + used, 0)
  }

  get refused(): number {
    return this.workers.reduce((sum, { refused }) => sum + refused, 0)
  }

  kill(slot: number): void {
    const worker = this.workers[slot]!
    if (!worker.isAlive) return
    worker.isAlive = false
    worker.used = worker.idle = 0
    this.ledger.leave(worker)
  }

  replace(slot: number): void {
    if (this.workers[slot]!.isAlive) return
    this.workers[slot] = new Worker(slot, this.workers.length, this.#limit, this.ledger)
  }

  /** Delivers all that there is, until there is nothing more. */
  async quiet(): Promise<void> {
    for (let still = 0; still < 3; ) {
      await turn()
      const moved = this.workers.map(worker => worker.deliver()).some(Boolean)
      still = moved ? 0 : still + 1
    }
  }
}

const slots = fc.nat({ max: 9 })
const deed = fc.oneof(
  { weight: 8, arbitrary: fc.record({ what: fc.constant('connect' as const), slot: slots }) },
  {
    weight: 6,
    arbitrary: fc.record({ what: fc.constantFrom('deliver', 'disconnect', 'rest', 'sweep'), slot: slots }),
  },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('quiet' as const), slot: slots }) },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constantFrom('kill', 'replace', 'rise', 'settle', 'late'), slot: slots }),
  },
)

test('however messages travel and workers die, there are never more connections than the limit, and what is free is shared evenly again', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const machines = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 12 }))
  await fc.assert(
    fc.asyncProperty(machines, fc.array(deed, { maxLength: 80 }), async ([count, limit], deeds) => {
      const machine = new Machine(count, limit)
      for (const { what, slot } of deeds) {
        const worker = machine.workers[slot % count]!
        if (what === 'connect') worker.isAlive && worker.connect()
        else if (what === 'deliver') worker.deliver()
        else if (what === 'disconnect') worker.disconnect()
        else if (what === 'rest') worker.rest()
        else if (what === 'sweep') worker.share.sweep()
        else if (what === 'kill') machine.kill(worker.slot)
        else if (what === 'replace') machine.replace(worker.slot)
        else if (what === 'quiet') await machine.quiet()
        else if (what === 'rise') worker.rise()
        else if (what === 'settle') void machine.ledger.settle()
        else t.mock.timers.tick(patience)
        await turn()
        assert.ok(machine.used <= limit, `${machine.used} of ${limit} behind ${what}`)
      }
      for (const { slot } of machine.workers) machine.replace(slot)
      for (const worker of machine.workers) worker.rise()
      await machine.quiet()
      t.mock.timers.tick(patience)
      await machine.quiet()
      for (const worker of machine.workers) worker.used = worker.idle = 0
      void machine.ledger.settle()
      await machine.quiet()
      const most = machine.workers.map(({ share }) => share.partOf('*', limit))
      assert.deepEqual(
        most,
        machine.workers.map(({ slot }) => Math.floor(limit / count) + (slot < limit % count ? 1 : 0)),
      )
    }),
    { numRuns: 300 },
  )
})

test('connections can use the whole limit on any worker, and no more', async () => {
  const cases = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 9 }))
  await fc.assert(
    fc.asyncProperty(
      cases,
      fc.array(slots, { minLength: 9, maxLength: 15 }),
      async ([count, limit], order) => {
        const machine = new Machine(count, limit)
        for (const [nth, slot] of order.entries()) {
          machine.workers[slot % count]!.connect()
          await machine.quiet()
          assert.equal(machine.used, Math.min(nth + 1, limit))
          assert.equal(machine.refused, Math.max(0, nth + 1 - limit))
          for (const { share } of machine.workers) share.sweep()
        }
      },
    ),
    { numRuns: 50 },
  )
})

test('if only another worker has an idle connection, that one is closed, and no other', async () => {
  const machine = new Machine(2, 4)
  const [a, b] = machine.workers as [Worker, Worker]
  for (const worker of [a, a, b, b]) worker.connect()
  b.rest()
  b.rest()
  a.connect()
  await machine.quiet()
  assert.deepEqual([a.used, b.used, b.idle, machine.refused], [3, 1, 1, 0])
})

test('the share of a slot without a worker goes to the others, and its next worker is told', async () => {
  const machine = new Machine(2, 8)
  const [a] = machine.workers as [Worker]
  machine.kill(1)
  for (let i = 0; i < 7; i++) a.connect()
  await machine.quiet()
  assert.deepEqual([a.used, a.refused], [7, 0])
  machine.replace(1)
  const b = machine.workers[1]!
  for (let i = 0; i < 3; i++) b.connect()
  await machine.quiet()
  assert.deepEqual([machine.used, machine.refused], [7, 0])
  b.rise()
  await machine.quiet()
  assert.deepEqual([machine.used, machine.refused], [8, 2])
})

test('a request to a worker that hangs is denied after a while, and what it leaves later is granted then', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const machine = new Machine(2, 4)
  const [a, b] = machine.workers as [Worker, Worker]
  for (let i = 0; i < 3; i++) a.connect()
  await turn()
  a.deliver()
  await turn()
  t.mock.timers.tick(patience)
  await turn()
  // Denied what is free, it asks for what is idle.
  a.deliver()
  await turn()
  a.deliver()
  await turn()
  t.mock.timers.tick(patience)
  await turn()
  a.deliver()
  assert.deepEqual([a.used, a.refused], [2, 1])
  b.deliver()
  b.deliver()
  a.share.sweep()
  await machine.quiet()
  a.connect()
  await machine.quiet()
  assert.deepEqual([a.used, a.refused], [3, 1])
})

import { deepEqual, equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createLogger } from '../../src/log/log.ts'
import type { TokenUse } from '../../src/store/records/records.ts'
import { StoreUnreachable } from '../../src/store/contract/store.ts'
import { TokenUses } from '../../src/tokens/token-uses.ts'
import { ManualClock } from '../help/clock.ts'
import { tokenWith } from './token-with.ts'

const minute = 60_000
const hour = 60 * minute
const start = Date.UTC(2026, 0, 1, 12)

/** Takes uses as a store does, unless it is given a failure. */
class Ground {
  readonly clock = new ManualClock(start + 20 * minute)
  readonly lines: string[] = []
  readonly writes: (readonly TokenUse[])[] = []
  failure: Error | null = null
  #waiter: (() => void) | null = null
  readonly uses: TokenUses

  constructor() {
    const log = createLogger('info', { write: line => this.lines.push(line) })
    const noteUses = async (uses: readonly TokenUse[]) => {
      this.writes.push(uses)
      setImmediate(() => this.#waiter?.())
      if (this.failure) throw this.failure
    }
    this.uses = new TokenUses({ store: { tokens: { noteUses } }, log, clock: this.clock })
  }

  written(): Promise<void> {
    return new Promise(resolve => {
      this.#waiter = resolve
    })
  }

  get told(): readonly string[] {
    return this.lines.map(line => JSON.parse(line)).map(({ msg, of }) => `${msg}: ${of}`)
  }
}

const { token: one } = tokenWith()
const { token: other } = tokenWith({ id: 'f'.repeat(32) })
const useOf = ({ account, id }: typeof one, at = start) => ({ account, id, at })

describe('TokenUses', () => {
  test('writes a little later by itself, all that were used meanwhile at once, to the hour', async () => {
    const { uses, writes, written } = bound(new Ground())
    const isWritten = written()
    equal(uses.note(one), start + hour)
    uses.note(other)
    deepEqual(writes, [])
    await isWritten
    deepEqual(writes, [[useOf(one), useOf(other)]])
    await uses.close()
  })

  test('writes a token once an hour, however often it is noted', async () => {
    const { uses, writes, written, clock } = bound(new Ground())
    const isWritten = written()
    for (let i = 0; i < 100; i++) uses.note(one)
    await isWritten
    for (let i = 0; i < 100; i++) uses.note(one)
    clock.advance(40 * minute)
    equal(uses.note(one), start + 2 * hour)
    await uses.close()
    deepEqual(writes, [[useOf(one)], [useOf(one, start + hour)]])
  })

  test('keeps what the store did not take for the next attempt, and tells of an outage once', async () => {
    const ground = new Ground()
    const { uses, writes, written } = bound(ground)
    ground.failure = new StoreUnreachable()
    for (let i = 0; i < 2; i++) {
      const isWritten = written()
      uses.note(one)
      await isWritten
    }
    ground.failure = null
    const isWritten = written()
    uses.note(other)
    await isWritten
    await uses.close()
    deepEqual(writes, [[useOf(one)], [useOf(one)], [useOf(one), useOf(other)]])
    deepEqual(ground.told, [
      'writing last-used times failed: API tokens',
      'last-used times written again: API tokens',
    ])
  })

  test('drops what makes the store fail otherwise', async () => {
    const ground = new Ground()
    const { uses, writes, written } = bound(ground)
    ground.failure = new Error('broken')
    const isWritten = written()
    uses.note(one)
    await isWritten
    await uses.close()
    deepEqual([writes.length, ground.told], [1, ['writing last-used times failed: API tokens']])
  })

  test('says how many are lost where the store is still unreachable at the end, and then takes none', async () => {
    const ground = new Ground()
    ground.failure = new StoreUnreachable()
    ground.uses.note(one)
    ground.uses.note(other)
    await ground.uses.close()
    equal(JSON.parse(ground.lines.at(-1)!).lost, 2)
    equal(ground.uses.note(one), start + hour)
    equal(ground.writes.length, 1)
  })

  test('has no more than 10,000 waiting', async () => {
    const ground = new Ground()
    for (let i = 0; i < 10_050; i++) ground.uses.note({ ...one, id: String(i) })
    await ground.uses.close()
    deepEqual(
      ground.writes.map(({ length }) => length),
      [10_000],
    )
  })
})

function bound(ground: Ground) {
  const { uses, writes, clock } = ground
  return { uses, writes, clock, written: () => ground.written() }
}

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { SecretKeys } from '../../src/base/secrets/secret-keys.ts'
import { TicketKeeper } from '../../src/certificates/ticket-keeper.ts'
import type { Logger } from '../../src/log/log.ts'
import { openStore } from '../../src/store/open.ts'
import { type Store, StoreUnreachable } from '../../src/store/contract/store.ts'
import { ticketOwner } from '../../src/store/records/ticket-key.ts'
import type { TicketKeySet } from '../../src/tls/ticket-keys.ts'
import { ManualClock } from '../help/clock.ts'
import { startRedis } from '../help/redis.ts'
import { ticketKey } from '../store/contract-specimens.ts'

const hour = 3_600_000
const all = { offset: 0, limit: 100 }
const secretKey = randomBytes(32)

interface Machine {
  readonly keeper: TicketKeeper
  /** The keys that it has now. */
  keys: TicketKeySet
  /** How often they changed. */
  changes: number
  readonly lines: string[]
}

const places = {
  SQLite: async () => 'sqlite::memory:',
  Redis: async (t: TestContext) => (await startRedis(t)).url,
}

async function place(t: TestContext, url = 'sqlite::memory:') {
  const store = await openStore(url, { commandTimeout: 5_000 })
  t.after(() => store.close())
  const clock = new ManualClock()
  const machine = async (of: Partial<{ clock: ManualClock; secrets: SecretKeys; store: Store }> = {}) => {
    const lines: string[] = []
    const note = (_facts: object | string, message?: string) => lines.push(message ?? String(_facts))
    const made: Machine = { keeper: null!, keys: null!, changes: 0, lines }
    const changed = (keys: TicketKeySet) => {
      made.keys = keys
      made.changes++
    }
    const log = { warn: note, info: note } as unknown as Logger
    const keeper = new TicketKeeper({
      ...{ store, clock, secrets: new SecretKeys(secretKey), ...of },
      ...{ log, changed },
    })
    t.after(() => keeper.close())
    await keeper.start()
    return Object.assign(made, { keeper })
  }
  return { store, clock, machine }
}

/** Whether a machine opens what another key than that of now has sealed. */
function accepts({ keys }: Machine, key: Uint8Array): boolean {
  return keys.others.some(other => Buffer.from(other).equals(key))
}

/** Looks again, as its timer does. */
async function look(...machines: readonly Machine[]): Promise<void> {
  for (const { keeper } of machines) await keeper.start()
}

for (const [name, url] of Object.entries(places))
  test(`${name}: machines that start at once have the same keys, and those that come later`, async t => {
    const { machine, store } = await place(t, await url(t))
    const machines = await Promise.all(Array.from({ length: 5 }, () => machine()))
    machines.push(await machine())
    await look(...machines)
    const [first, ...others] = machines
    assert.equal(first!.keys.current.length, 48)
    for (const { keys } of others) assert.deepEqual(keys, first!.keys)
    // That of now and the next one.
    assert.equal((await store.ticketKeys.list(ticketOwner, all)).total, 2)
    assert.equal(first!.keeper.isShared, true)
  })

test('a key seals for twelve hours, is known twelve before, and forgotten two hours after', async t => {
  const { machine, clock, store } = await place(t)
  const one = await machine()
  const first = one.keys.current
  const [next] = one.keys.others
  clock.advance(12 * hour - 1)
  await look(one)
  assert.deepEqual([one.keys.current, one.keys.others], [first, [next]])
  assert.equal(one.changes, 1)
  const turned = clock.now() + 1
  clock.advance(1)
  await look(one)
  assert.deepEqual(one.keys.current, next)
  assert.equal(accepts(one, first), true)
  assert.equal(one.keeper.since, turned)
  clock.advance(2 * hour)
  await look(one)
  assert.deepEqual([one.keys.current, one.keys.others.length], [next, 1])
  assert.equal(accepts(one, first), false)
  clock.advance(hour)
  await look(one)
  const { items } = await store.ticketKeys.list(ticketOwner, all)
  assert.deepEqual(
    items.map(({ startsAt }) => startsAt),
    [turned, turned + 12 * hour],
  )
})

test('a machine whose clock is ahead seals with a key that the others accept', async t => {
  const { machine, clock } = await place(t)
  const one = await machine()
  const ahead = new ManualClock(clock.now() + 12 * hour)
  const other = await machine({ clock: ahead })
  assert.notDeepEqual(other.keys.current, one.keys.current)
  assert.equal(accepts(one, other.keys.current), true)
  assert.equal(accepts(other, one.keys.current), true)
})

test('machines with other secret keys have keys of their own, and no warning', async t => {
  const { machine } = await place(t)
  const [one, other] = [await machine(), await machine({ secrets: new SecretKeys(randomBytes(32)) })]
  assert.notDeepEqual(one.keys.current, other.keys.current)
  assert.equal(other.keeper.isShared, true)
  // One that has both opens what either seals.
  const both = await machine({ secrets: new SecretKeys(randomBytes(32), [secretKey]) })
  assert.equal(
    both.keys.others.some(key => Buffer.from(key).equals(one.keys.current)),
    true,
  )
})

test('while the store is unreachable, known keys go on, and without any a machine has its own until it is back', async t => {
  const { machine, store, clock } = await place(t)
  let isAway = true
  const away = async () => {
    throw new StoreUnreachable()
  }
  const ticketKeys = new Proxy(store.ticketKeys, {
    get: (target, name) => (isAway ? away : Reflect.get(target, name).bind(target)),
  })
  const one = await machine({ store: { ticketKeys } as unknown as Store })
  const own = one.keys.current
  assert.deepEqual([one.keeper.isShared, one.keys.others], [false, []])
  await look(one)
  assert.deepEqual([one.keys.current, one.lines.length], [own, 1])
  isAway = false
  await look(one)
  assert.equal(one.keeper.isShared, true)
  assert.deepEqual(one.keys.current, (await machine()).keys.current)
  // Sessions that it has sealed are good for their time.
  assert.equal(accepts(one, own), true)
  isAway = true
  const [next] = one.keys.others.filter(key => key !== own)
  clock.advance(12 * hour)
  await look(one)
  assert.deepEqual([one.keys.current, one.keeper.isShared], [next, true])
  clock.advance(12 * hour)
  await look(one)
  assert.equal(one.keeper.isShared, false)
  assert.equal(one.lines.length, 3)
})

test('records in the store are encrypted, and those that cannot be decrypted are not used', async t => {
  const { machine, store, clock } = await place(t)
  const one = await machine()
  const { items } = await store.ticketKeys.list(ticketOwner, all)
  const text = JSON.stringify(items)
  for (const key of [one.keys.current, ...one.keys.others])
    for (const form of ['base64url', 'base64', 'hex'] as const)
      assert.equal(text.includes(Buffer.from(key).toString(form)), false)
  // Put in another's place, it is refused: a sealed key opens under its own id only.
  clock.advance(100 * hour)
  const spare = await machine()
  assert.equal(spare.changes, 1)
  const startsAt = clock.now() - (clock.now() % (12 * hour)) + 24 * hour
  const id = items[0]!.id.replace(/^.*Z/, new Date(startsAt).toISOString())
  await store.ticketKeys.insert(ticketKey({ id, startsAt, sealed: items[0]!.sealed }))
  clock.advance(24 * hour)
  await look(spare)
  assert.equal(spare.keeper.isShared, false)
})

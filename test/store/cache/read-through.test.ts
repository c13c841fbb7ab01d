import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { ReadThrough, type ReadThroughOptions } from '../../../src/store/cache/read-through.ts'
import { StoreUnreachable } from '../../../src/store/contract/store.ts'
import { ManualClock } from '../../help/clock.ts'
import { SteeredStore } from '../../tokens/steered-store.ts'

interface Thing {
  readonly id: string
  readonly shade: string
}

const account = 'a'

/** Sets up what is remembered of things in a store that can be steered. */
function setUp(options: Partial<ReadThroughOptions<Thing>> = {}) {
  const clock = new ManualClock(1_000_000)
  const steered = new SteeredStore(clock)
  const things = new Map<string, Thing>([['1', { id: '1', shade: 'red' }]])
  const memory = new ReadThrough<Thing>({
    load: key => steered.look(() => things.get(key)),
    changes: steered.changes,
    kinds: ['token'],
    concerns: ({ id }, thing) => thing.id === id,
    size: 10,
    missLife: 5_000,
    grace: 60_000,
    now: () => clock.monotonic(),
    ...options,
  })
  const change = (id: string) => steered.changes.tell({ kind: 'token', account, id })
  return { clock, steered, things, memory, change }
}

test('a cached value is returned at once', async () => {
  const { memory, steered } = setUp()
  assert.deepEqual(await memory.get('1'), { id: '1', shade: 'red' })
  assert.deepEqual(memory.get('1'), { id: '1', shade: 'red' })
  assert.equal(steered.asked, 1)
})

test('values that the store has synchronously are returned synchronously, and cached', () => {
  const { things, steered, change } = setUp()
  let asked = 0
  const found: string[] = []
  const { memory, clock } = setUp({
    load: key => {
      asked++
      return things.get(key) ?? null
    },
    changes: steered.changes,
    onLoad: key => found.push(key),
  })
  assert.equal(memory.cached('1'), undefined)
  for (let i = 0; i < 2; i++) {
    assert.deepEqual(memory.get('1'), { id: '1', shade: 'red' })
    assert.equal(memory.get('none'), null)
  }
  assert.deepEqual([asked, found, memory.cached('none')], [2, ['1'], null])
  things.set('1', { id: '1', shade: 'green' })
  things.set('none', { id: 'none', shade: 'blue' })
  change('1')
  assert.deepEqual([memory.get('1'), memory.get('none')], [...things.values()])
  things.delete('1')
  clock.advance(6_000)
  assert.equal(memory.get('1'), null)
})

test('however many wait for a key, the store is asked once', async () => {
  const { memory, steered } = setUp()
  const waiting = Array.from({ length: 100 }, () => memory.get('1'))
  assert.equal(new Set(await Promise.all(waiting)).size, 1)
  assert.equal(steered.asked, 1)
})

test('a change forgets what it concerns, and nothing else', async () => {
  const { memory, things, change } = setUp()
  things.set('2', { id: '2', shade: 'blue' })
  await Promise.all([memory.get('1'), memory.get('2')])
  things.set('1', { id: '1', shade: 'green' })
  change('1')
  assert.deepEqual(memory.get('2'), { id: '2', shade: 'blue' })
  assert.deepEqual(await memory.get('1'), { id: '1', shade: 'green' })
})

test('a change of another kind of record forgets nothing', async () => {
  const { memory, steered } = setUp()
  await Promise.all([memory.get('1'), memory.get('none')])
  steered.changes.tell({ kind: 'oauth_client', account, id: '1' })
  assert.deepEqual([memory.get('1'), memory.get('none'), steered.asked], [{ id: '1', shade: 'red' }, null, 2])
})

test('when changes cannot be told apart everything is read again', async () => {
  const { memory, steered } = setUp()
  await memory.get('1')
  steered.changes.tell({ kind: 'everything' })
  assert.ok(memory.get('1') instanceof Promise)
})

test('a lookup that a change overtakes is not cached, and later callers do not share it', async () => {
  const { memory, steered, things, change } = setUp()
  const release = steered.hold()
  const early = memory.get('1')
  things.set('1', { id: '1', shade: 'green' })
  change('1')
  const late = memory.get('1')
  release()
  assert.deepEqual(await early, { id: '1', shade: 'red' })
  assert.deepEqual(await late, { id: '1', shade: 'green' })
  assert.deepEqual(memory.get('1'), { id: '1', shade: 'green' })
})

test('a lookup that changes of something else overtake is remembered, unless they are too many to be kept', async () => {
  const { memory, steered, things, change } = setUp()
  things.set('2', { id: '2', shade: 'blue' })
  for (const [key, count, isRemembered] of [
    ['1', 10_000, true],
    ['2', 10_001, false],
  ] as const) {
    const release = steered.hold()
    const asked = memory.get(key)
    for (let i = 0; i < count; i++) change('other')
    release()
    assert.deepEqual(await asked, things.get(key))
    assert.equal(!(memory.get(key) instanceof Promise), isRemembered)
  }
})

test('a lookup that finds nothing is not remembered where any change overtakes it', async () => {
  const { memory, steered, change } = setUp()
  const release = steered.hold()
  const asked = memory.get('none')
  change('other')
  release()
  assert.equal(await asked, null)
  assert.ok(memory.get('none') instanceof Promise)
})

/** Sets up a memory in which changes of another kind end the one value that they name. */
function setUpEnding(options: Partial<ReadThroughOptions<Thing>> = {}) {
  const kinds = ['token', 'oauth_client'] as const
  const set = setUp({ ...options, kinds, endedBy: ({ kind, id }) => (kind === 'oauth_client' ? id : null) })
  const end = (id: string) => set.steered.changes.tell({ kind: 'oauth_client', account, id })
  return { ...set, end }
}

test('a change drops the keys that it names from the cache, and no others', async () => {
  const { memory, steered, things, end } = setUpEnding()
  things.set('2', { id: '2', shade: 'blue' })
  for (const key of ['1', '2', 'none']) await memory.get(key)
  things.delete('1')
  end('1')
  assert.ok(!(memory.get('2') instanceof Promise))
  assert.equal(memory.get('none'), null)
  assert.equal(await memory.get('1'), null)
  assert.equal(memory.get('1'), null)
  assert.equal(steered.asked, 4)
})

test('what ends of a group is all that is of it, also what replaced another or came from another process', async () => {
  const { memory, steered, things, clock, end } = setUpEnding({
    groupOf: ({ shade }) => shade,
    size: 3,
    borrow: async key => (key === '4' ? { value: { id: '4', shade: 'red' }, age: 0 } : null),
  })
  things.set('2', { id: '2', shade: 'blue' })
  things.set('3', { id: '3', shade: 'red' })
  const refill = async (...ids: readonly string[]) => {
    for (const id of ids) await memory.get(id)
  }
  const isKept = (id: string) => !(memory.get(id) instanceof Promise)
  await refill('1', '2', '3')
  end('red')
  assert.deepEqual(['1', '2', '3'].map(isKept), [false, true, false])
  await refill('1', '3')
  things.set('1', { id: '1', shade: 'blue' })
  steered.changes.tell({ kind: 'token', account, id: '1' })
  await refill('1')
  end('blue')
  assert.deepEqual(['1', '2', '3'].map(isKept), [false, false, true])
  steered.isUnreachable = true
  clock.advance(6_000)
  await refill('4')
  assert.equal(isKept('4'), true)
  end('red')
  await assert.rejects(async () => memory.get('4'), StoreUnreachable)
})

test('a lookup that the end of its group overtakes is not remembered, and not shared', async () => {
  const { memory, steered, things, end } = setUpEnding({ groupOf: ({ shade }) => shade })
  const release = steered.hold()
  const early = memory.get('1')
  things.delete('1')
  end('red')
  const late = memory.get('1')
  release()
  assert.notEqual(await early, null)
  assert.equal(await late, null)
  assert.equal(await memory.get('1'), null)
})

test('a lookup that the end of its value overtakes is not remembered', async () => {
  const { memory, steered, things, end } = setUpEnding()
  const release = steered.hold()
  const early = memory.get('1')
  things.delete('1')
  end('1')
  release()
  await early
  assert.equal(await memory.get('1'), null)
})

test('a lookup is not remembered and not shared once a change names its key, whatever another change names', async () => {
  const { memory, steered, things, end } = setUpEnding()
  for (const named of ['other', '1']) {
    const release = steered.hold()
    const early = memory.get('1')
    if (named === '1') things.delete('1')
    end(named)
    const late = memory.get('1')
    assert.equal(early === late, named === 'other')
    release()
    assert.deepEqual(await early, { id: '1', shade: 'red' })
    assert.deepEqual(await late, named === '1' ? null : { id: '1', shade: 'red' })
    assert.deepEqual(await memory.get('1'), named === '1' ? null : { id: '1', shade: 'red' })
    if (named === 'other') steered.changes.tell({ kind: 'everything' })
  }
})

test('a miss is remembered for its life, unless something changes', async () => {
  const { memory, things, clock, steered, change } = setUp()
  assert.equal(await memory.get('2'), null)
  assert.equal(memory.get('2'), null)
  clock.advance(5_000)
  assert.equal(await memory.get('2'), null)
  assert.equal(steered.asked, 2)
  things.set('2', { id: '2', shade: 'blue' })
  change('2')
  assert.deepEqual(await memory.get('2'), { id: '2', shade: 'blue' })
})

test('random keys evict nothing that is real', async () => {
  const { memory } = setUp({ size: 3 })
  await memory.get('1')
  for (let i = 0; i < 100; i++) await memory.get(`random ${i}`)
  assert.deepEqual(memory.get('1'), { id: '1', shade: 'red' })
})

test('only so many values are remembered, the least used goes first', async () => {
  const { memory, things } = setUp({ size: 2 })
  for (const id of ['1', '2', '3']) things.set(id, { id, shade: 'grey' })
  for (const id of ['1', '2', '1', '3']) await memory.get(id)
  assert.ok(!(memory.get('1') instanceof Promise))
  assert.ok(memory.get('2') instanceof Promise)
})

test('while notices arrive a value stays cached as long as it is used', async () => {
  const { memory, clock, steered } = setUp()
  await memory.get('1')
  clock.advance(86_400_000)
  assert.ok(!(memory.get('1') instanceof Promise))
  assert.equal(steered.asked, 1)
})

test('when notices stop a value is read again after 5 s, and every 5 s', async () => {
  const { memory, clock, steered, things } = setUp()
  await memory.get('1')
  steered.changes.fallSilent()
  clock.advance(5_000)
  assert.ok(!(memory.get('1') instanceof Promise))
  things.delete('1')
  clock.advance(1)
  assert.equal(await memory.get('1'), null)
  assert.equal(steered.asked, 2)
})

test('while the store is unreachable a value stays valid for the grace, and the store is tried once a second at most', async () => {
  const { memory, clock, steered } = setUp({ grace: 60_000 })
  await memory.get('1')
  steered.changes.fallSilent()
  steered.isUnreachable = true
  clock.advance(6_000)
  assert.deepEqual(await memory.get('1'), { id: '1', shade: 'red' })
  assert.deepEqual(memory.get('1'), { id: '1', shade: 'red' })
  clock.advance(999)
  assert.ok(!(memory.get('1') instanceof Promise))
  clock.advance(53_001)
  assert.deepEqual(await memory.get('1'), { id: '1', shade: 'red' })
  assert.equal(steered.asked, 3)
  // Also before the next try is due.
  clock.advance(1)
  await assert.rejects(async () => memory.get('1'), StoreUnreachable)
  clock.advance(1_000)
  await assert.rejects(async () => memory.get('1'), StoreUnreachable)
})

test('while the store is unreachable one query a second tries it, whatever else is cached', async () => {
  const { memory, clock, steered, things } = setUp()
  things.set('2', { id: '2', shade: 'blue' })
  await Promise.all([memory.get('1'), memory.get('2')])
  steered.changes.fallSilent()
  steered.isUnreachable = true
  clock.advance(6_000)
  await memory.get('1')
  assert.deepEqual(memory.get('2'), { id: '2', shade: 'blue' })
  clock.advance(1_000)
  const trial = memory.get('1')
  assert.ok(trial instanceof Promise)
  assert.deepEqual(memory.get('2'), { id: '2', shade: 'blue' })
  steered.isUnreachable = false
  await trial
  clock.advance(1_000)
  await memory.get('1')
  assert.ok(memory.get('2') instanceof Promise)
})

test('a value that is not cached is unavailable with the store, and found as soon as it is back', async () => {
  const { memory, steered } = setUp()
  steered.isUnreachable = true
  await assert.rejects(async () => memory.get('1'), StoreUnreachable)
  steered.isUnreachable = false
  assert.deepEqual(await memory.get('1'), { id: '1', shade: 'red' })
})

test('queries beyond the bound are refused and not passed on, and the bound opens again', async () => {
  const { memory, steered } = setUp()
  const release = steered.hold()
  const waiting = Array.from({ length: 1_500 }, async (_, i) => memory.get(`random ${i}`))
  const settled = Promise.allSettled(waiting)
  await assert.rejects(waiting[1_499]!, StoreUnreachable)
  release()
  const results = await settled
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1_000)
  assert.equal(steered.asked, 1_000)
  assert.equal(await memory.get('random 1499'), null)
})

test('a bug of the store is not an absence: it is thrown, old value or not', async () => {
  let isBroken = false
  const { memory, clock, steered } = setUp({
    load: async () => {
      if (isBroken) throw new TypeError('a bug')
      return { id: '1', shade: 'red' }
    },
  })
  await memory.get('1')
  isBroken = true
  steered.changes.fallSilent()
  clock.advance(6_000)
  await assert.rejects(async () => memory.get('1'), TypeError)
})

test('each key found in the store is announced, except those that others have announced', async () => {
  const told: string[] = []
  const { memory, things, change } = setUp({ onLoad: key => told.push(key) })
  things.set('2', { id: '2', shade: 'blue' })
  await memory.get('1')
  await memory.get('none')
  await memory.recall('2')
  memory.get('1')
  memory.get('2')
  assert.deepEqual(told, ['1'])
  change('1')
  await memory.get('1')
  assert.deepEqual(told, ['1', '1'], 'the others have forgotten it, too')
})

test('what others have found is loaded once, and then stays cached as if found here', async () => {
  const { clock, memory, steered } = setUp()
  assert.equal(await memory.get('none'), null)
  await Promise.all([memory.recall('1'), memory.recall('1')])
  await memory.recall('1')
  assert.equal(steered.asked, 2)
  steered.isUnreachable = true
  steered.changes.fallSilent()
  clock.advance(30_000)
  await memory.recall('1')
  assert.deepEqual(await memory.get('1'), { id: '1', shade: 'red' })
  await assert.rejects(memory.recall('2'), StoreUnreachable)
})

test('a key that others have announced brings nothing back that was removed meanwhile', async () => {
  const { memory, steered, things, change } = setUp()
  const release = steered.hold()
  const recalled = memory.recall('1')
  things.delete('1')
  change('1')
  release()
  await recalled
  assert.equal(await memory.get('1'), null)
  await memory.recall('1')
  assert.equal(await memory.get('1'), null)
})

test('a key that others have announced is loaded again where another change overtook the reply', async () => {
  const { memory, steered, change } = setUp()
  const release = steered.hold()
  const recalled = memory.recall('1')
  change('2')
  release()
  await recalled
  assert.deepEqual(memory.get('1'), { id: '1', shade: 'red' })
})

/** Sets up two processes that borrow of each other; `pass` is how a loan gets from one to the other. */
function setUpTwo(pass: <L>(loan: L) => Promise<L> = async loan => loan) {
  const clock = new ManualClock(1_000_000)
  const things = new Map<string, Thing>([['1', { id: '1', shade: 'red' }]])
  const processes = [0, 1].map(place => {
    const steered = new SteeredStore(clock)
    const memory: ReadThrough<Thing> = new ReadThrough<Thing>({
      load: key => steered.look(() => things.get(key)),
      changes: steered.changes,
      kinds: ['token'],
      concerns: ({ id }, thing) => thing.id === id,
      size: 10,
      missLife: 5_000,
      grace: 60_000,
      borrow: key => pass(processes[1 - place]!.memory.lend(key)),
      now: () => clock.monotonic(),
    })
    let isSilent = false
    const fallSilent = () => {
      if (!isSilent) steered.changes.fallSilent()
      isSilent = true
    }
    const speakAgain = () => {
      steered.changes.speakAgain()
      isSilent = false
    }
    const goAway = () => {
      steered.isUnreachable = true
      fallSilent()
    }
    return { steered, memory, goAway, fallSilent, speakAgain, isPending: false, isTold: false }
  })
  return { clock, things, processes: processes as [(typeof processes)[0], (typeof processes)[0]] }
}

test('while the store is unreachable what another process has cached is borrowed, for as long as it is valid there', async () => {
  const { clock, processes } = setUpTwo()
  const [a, b] = processes
  await a.memory.get('1')
  a.goAway()
  b.goAway()
  clock.advance(50_000)
  assert.deepEqual(await b.memory.get('1'), { id: '1', shade: 'red' })
  await assert.rejects(async () => b.memory.get('2'), StoreUnreachable)
  clock.advance(9_000)
  assert.deepEqual(await b.memory.get('1'), { id: '1', shade: 'red' })
  clock.advance(2_000)
  await assert.rejects(async () => b.memory.get('1'), StoreUnreachable)
  await assert.rejects(async () => a.memory.get('1'), StoreUnreachable)
})

test('what was last known to be right before a change was told is not borrowed', async () => {
  const { clock, processes } = setUpTwo()
  const [a, b] = processes
  await a.memory.get('1')
  a.goAway()
  clock.advance(100)
  b.steered.changes.tell({ kind: 'token', account, id: '1' })
  b.goAway()
  await assert.rejects(async () => b.memory.get('1'), StoreUnreachable)
})

test('what the store no longer had is not borrowed of who has not heard of it', async () => {
  const { clock, things, processes } = setUpTwo()
  const [a, b] = processes
  await a.memory.get('1')
  a.goAway()
  clock.advance(10)
  things.delete('1')
  assert.equal(await b.memory.get('1'), null)
  b.goAway()
  clock.advance(6_000)
  await assert.rejects(async () => b.memory.get('1'), StoreUnreachable)
})

for (const [what, knownUntil, isBorrowed] of [
  ['before a process began is never told to it, so nothing older is borrowed', 1_000_100, false],
  ['is told as soon as the store is there, so what is older is borrowed until then', -Infinity, true],
] as const)
  test(`what changed ${what}`, async () => {
    const { clock, memory: lender, steered } = setUp()
    await lender.get('1')
    steered.changes.fallSilent()
    clock.advance(100)
    const memory = new ReadThrough<Thing>({
      load: () => Promise.reject(new StoreUnreachable()),
      changes: { knownUntil, follow: () => () => {} },
      kinds: ['token'],
      concerns: () => true,
      size: 10,
      missLife: 5_000,
      grace: 60_000,
      borrow: async key => lender.lend(key),
      now: () => clock.monotonic(),
    })
    if (isBorrowed) assert.deepEqual(await memory.get('1'), { id: '1', shade: 'red' })
    else await assert.rejects(async () => memory.get('1'), StoreUnreachable)
  })

test('entries that the process before had cached keep their remaining lifetime, unless they may have changed since', async () => {
  const [a, b] = setUpTwo().processes
  const { clock } = setUp()
  const handedOn = (age: number) => ({ value: { id: '1', shade: 'red' }, age })
  const of = (knownUntil: number) =>
    setUp({
      load: () => Promise.reject(new StoreUnreachable()),
      changes: { knownUntil, follow: () => () => {} },
      now: () => clock.monotonic(),
    }).memory
  await a.memory.get('1')
  assert.deepEqual([...a.memory.loans()], [['1', handedOn(0)]])
  assert.deepEqual([...b.memory.loans()], [])
  const next = of(-Infinity)
  assert.equal(next.adopt('1', handedOn(60_001)), false)
  assert.equal(next.adopt('1', handedOn(40_000)), true)
  // One that says less does not make it older.
  assert.equal(next.adopt('1', handedOn(50_000)), true)
  assert.deepEqual([...next.loans()], [['1', handedOn(40_000)]])
  clock.advance(20_000)
  assert.deepEqual(await next.get('1'), handedOn(0).value)
  clock.advance(1)
  await assert.rejects(async () => next.get('1'), StoreUnreachable)
  assert.deepEqual([...next.loans()], [])
  assert.equal(of(clock.monotonic()).adopt('1', handedOn(1)), false)
})

test('entries that the process before had cached are read from the store while it is reachable', async () => {
  const { memory, steered } = setUp({ changes: { knownUntil: -Infinity, follow: () => () => {} } })
  assert.equal(memory.adopt('1', { value: { id: '1', shade: 'grey' }, age: 100 }), true)
  await memory.recall('1')
  await memory.recall('1')
  assert.deepEqual([memory.cached('1'), steered.asked], [{ id: '1', shade: 'red' }, 1])
})

test('borrowed tokens are dropped by changes that are reported once the store is back', async () => {
  const { things, processes } = setUpTwo()
  const [a, b] = processes
  await a.memory.get('1')
  a.goAway()
  b.goAway()
  await b.memory.get('1')
  things.delete('1')
  b.steered.changes.tell({ kind: 'everything' })
  b.steered.isUnreachable = false
  b.steered.changes.speakAgain()
  assert.equal(await b.memory.get('1'), null)
})

test('in any order of messages, no process returns what it knows is gone', async () => {
  const events = fc.constantFrom('get', 'recall', 'hear', 'away', 'back', 'remove', 'wait', 'pass')
  const steps = fc.array(fc.tuple(events, fc.constantFrom(0, 1)), { minLength: 5, maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), steps, async (scheduler, steps) => {
      const { clock, things, processes } = setUpTwo(loan => scheduler.schedule(Promise.resolve(loan)))
      const running: Promise<unknown>[] = []
      for (const [event, place] of steps) {
        const process = processes[place]!
        const { steered, memory } = process
        if (event === 'remove' && things.has('1'))
          for (const one of processes) {
            one.isPending = true
            one.fallSilent()
          }
        clock.advance(1)
        if (event === 'get') running.push(judged(memory.get('1'), process.isTold))
        else if (event === 'recall') running.push(memory.recall('1').catch(() => {}))
        else if (event === 'remove') things.delete('1')
        else if (event === 'away') process.goAway()
        else if (event === 'back' || (event === 'hear' && !steered.isUnreachable)) {
          steered.isUnreachable = false
          if (process.isPending) steered.changes.tell({ kind: 'token', account, id: '1' })
          process.isTold ||= process.isPending
          process.isPending = false
          process.speakAgain()
        } else if (event === 'wait') clock.advance(3_000)
        else if (scheduler.count() > 0) await scheduler.waitNext(1)
        await turn()
      }
      const settle = async () => {
        for (await turn(); scheduler.count() > 0; await turn()) await scheduler.waitIdle()
      }
      await settle()
      await Promise.all(running)
      for (const { memory, isTold } of processes) {
        const last = judged(memory.get('1'), isTold)
        await settle()
        await last
      }
    }),
    { numRuns: 300 },
  )
})

async function judged(found: Thing | null | Promise<Thing | null>, isTold: boolean): Promise<void> {
  const thing = await Promise.resolve(found).catch(() => null)
  if (isTold) assert.equal(thing, null)
}

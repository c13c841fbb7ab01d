// The promises of a store about what it tallies of errors, rules and limits.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { slotOf, type Tally, type TallyKind } from '../../src/store/records/tally.ts'
import type { Place } from './contract.ts'
import { ContractClock } from './contract-clock.ts'
import { hex } from './contract-specimens.ts'

const hour = 3_600_000

/** Opens a store whose clock the test moves, with a scope that nobody has counted. */
async function setUp(place: Place, t: TestContext) {
  const open = await place(t)
  const clock = new ContractClock()
  const { tallies } = await open(clock)
  const scope = `zone ${hex(8)}`
  const tally = (members: Partial<Tally> = {}): Tally => {
    const { kind = 'error' } = members
    const now = clock.now()
    return {
      kind,
      scope,
      name: '1020',
      slot: slotOf(kind, now),
      count: 1,
      last: now,
      occurrences: [],
      ...members,
    }
  }
  const countsOf = async (since = 0, kind: TallyKind = 'error', of = tallies) =>
    (await of.list(kind, scope, since)).map(({ name, slots }) => [name, ...slots.map(([, count]) => count)])
  return { open, clock, tallies, scope, tally, countsOf }
}

const occurrence = (at: number, path = '/') => ({
  at,
  ray: hex(8),
  method: 'GET',
  host: 'site.test',
  path,
  status: 403,
  format: 'json',
})

export function talliesContract(name: string, place: Place): void {
  test(`${name}: counts of a slot are added, by whomever, and the last time stays`, async t => {
    const { open, clock, tallies, tally, countsOf, scope } = await setUp(place, t)
    const { tallies: others } = await open(clock)
    const now = clock.now()
    await tallies.add([tally({ count: 2, last: now }), tally({ name: '1015', count: 5 })])
    await Promise.all([
      others.add([tally({ count: 3, last: now - 5 })]),
      tallies.add([tally({ last: now - 9 })]),
    ])
    assert.deepEqual(await countsOf(), [
      ['1015', 5],
      ['1020', 6],
    ])
    assert.deepEqual(await countsOf(0, 'error', others), await countsOf())
    const [, { last, slots }] = (await tallies.list('error', scope, 0)) as never as [
      unknown,
      { last: number; slots: unknown },
    ]
    assert.deepEqual([last, slots], [now, [[slotOf('error', now), 6]]])
  })

  test(`${name}: kinds and scopes are counted apart, whatever their names contain`, async t => {
    const { tallies, tally, scope } = await setUp(place, t)
    const name = 'ü: "x"\n\0 y'
    await tallies.add([tally({ kind: 'limit', name }), tally({ scope: `${scope}:2`, name })])
    assert.deepEqual(await tallies.list('error', scope, 0), [])
    for (const [kind, where] of [
      ['limit', scope],
      ['error', `${scope}:2`],
    ] as const)
      assert.deepEqual(
        (await tallies.list(kind, where, 0)).map(sum => sum.name),
        [name],
      )
  })

  test(`${name}: slots are listed from a moment on, and gone a day after their end`, async t => {
    const { clock, tallies, tally, countsOf } = await setUp(place, t)
    const first = slotOf('error', clock.now())
    clock.advance(first + hour - clock.now())
    await tallies.add([tally({ count: 1 })])
    clock.advance(hour)
    await tallies.add([tally({ count: 2 })])
    assert.deepEqual(await countsOf(), [['1020', 1, 2]])
    assert.deepEqual(await countsOf(first + hour + 1), [['1020', 2]])
    clock.advance(24 * hour - 60_000)
    assert.deepEqual(await countsOf(), [['1020', 1, 2]])
    clock.advance(120_000)
    assert.deepEqual(await countsOf(), [['1020', 2]])
    clock.advance(hour)
    assert.deepEqual(await countsOf(), [])
  })

  test(`${name}: the last 20 occurrences of a name stay, newest first, for a day`, async t => {
    const { clock, tallies, tally, scope } = await setUp(place, t)
    const now = clock.now()
    const some = Array.from({ length: 15 }, (_, i) => occurrence(now - 2_000 + i, `/${i}`))
    const more = Array.from({ length: 15 }, (_, i) => occurrence(now - 1_000 + i, `/${15 + i}`))
    await tallies.add([tally({ count: 15, occurrences: some })])
    await tallies.add([tally({ count: 15, occurrences: more }), tally({ name: '1015' })])
    const kept = await tallies.occurrences('error', scope, '1020')
    assert.deepEqual(kept, [...some, ...more].toReversed().slice(0, 20))
    assert.deepEqual(await tallies.occurrences('error', scope, '1015'), [])
    clock.advance(24 * hour)
    assert.deepEqual(await tallies.occurrences('error', scope, '1020'), [])
    await tallies.add([tally({ occurrences: [occurrence(clock.now(), '/late')] })])
    assert.deepEqual(
      (await tallies.occurrences('error', scope, '1020')).map(({ path }) => path),
      ['/late'],
    )
  })
}

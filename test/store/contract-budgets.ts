// The promises of a store about budgets: every step does what the ledger says.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { takeStep } from '../../src/store/budget-ledger/ledger.ts'
import type { BudgetWindow } from '../../src/store/records/budget.ts'
import type { Place } from './contract.ts'
import { ContractClock } from './contract-clock.ts'
import { hex } from './contract-specimens.ts'

const lease = 15_000
const far = 4_000_000_000_000
const windows: readonly BudgetWindow[] = [
  { kind: 'fixed', until: far },
  { kind: 'sliding', period: 3_600_000 },
  { kind: 'none' },
]
const nothing = { total: 0, confirmed: 0, keep: 0, ifLost: 0, need: 0, want: 0 }

async function setUp(place: Place, t: TestContext) {
  const open = await place(t)
  const clock = new ContractClock()
  const { budgets } = await open(clock)
  return { open, clock, budgets, account: hex(16) }
}

export function budgetsContract(name: string, place: Place): void {
  test(`${name}: of concurrent processes only so many get their needs as fit`, async t => {
    const { open, account } = await setUp(place, t)
    const stores = await Promise.all(Array.from({ length: 4 }, () => open()))
    const wins = await Promise.all(
      stores.flatMap(({ budgets }, p) =>
        Array.from({ length: 25 }, async (_, i) => {
          const line = {
            bucket: 'b',
            window: windows[0]!,
            limit: 70,
            share: `${p}.${i}`,
            ...nothing,
            need: 1,
          }
          const { isGranted, states } = await budgets.step({ account, sequence: 1, lease, lines: [line] })
          assert.equal(isGranted, states[0]!.fits)
          return isGranted
        }),
      ),
    )
    assert.equal(wins.filter(won => won).length, 70)
    const [sum] = await stores[3]!.budgets.read(account, [{ bucket: 'b', window: windows[0]! }])
    assert.deepEqual(sum, { bucket: 'b', spent: 0, leased: 70 })
  })

  test(`${name}: amounts are exact to the nanodollar, in millions`, async t => {
    const { budgets, account } = await setUp(place, t)
    const [window] = windows
    const total = 4_500_000_000_000_001
    const line = {
      bucket: 'b',
      window: window!,
      limit: total + 2,
      share: 's',
      ...nothing,
      total,
    }
    await budgets.step({ account, sequence: 1, lease, lines: [line] })
    const more = { ...line, share: 't', total: 0, need: 3 }
    const { states } = await budgets.step({ account, sequence: 2, lease, lines: [more] })
    assert.deepEqual([states[0]!.spent, states[0]!.fits], [total, false])
  })

  test(`${name}: a bucket of another account, or one that was never used, has nothing spent`, async t => {
    const { budgets, account } = await setUp(place, t)
    const line = { bucket: 'b', window: windows[0]!, limit: 9, share: 's', ...nothing, total: 5 }
    await budgets.step({ account, sequence: 1, lease, lines: [line] })
    assert.deepEqual(await budgets.read(hex(16), [line]), [{ bucket: 'b', spent: 0, leased: 0 }])
    assert.deepEqual(await budgets.read(account, [{ ...line, bucket: 'c' }, line]), [
      { bucket: 'c', spent: 0, leased: 0 },
      { bucket: 'b', spent: 5, leased: 0 },
    ])
    await budgets.reset(account, line)
    assert.deepEqual(await budgets.read(account, [line]), [{ bucket: 'b', spent: 0, leased: 0 }])
    await budgets.reset(account, { ...line, bucket: 'd' })
    const entries = (await Array.fromAsync(budgets.entries(account))).flat()
    assert.deepEqual(
      entries.map(({ bucket }) => bucket),
      ['b'],
    )
  })

  test(`${name}: a step that is refused in one bucket grants nothing in any, and says where`, async t => {
    const { budgets, account } = await setUp(place, t)
    const lines = ['a', 'b', 'c'].map(bucket => {
      return { bucket, window: windows[0]!, limit: bucket === 'b' ? 4 : 9, share: 's', ...nothing, need: 5 }
    })
    const { isGranted, states } = await budgets.step({ account, sequence: 1, lease, lines })
    assert.equal(isGranted, false)
    assert.deepEqual(
      states.map(({ fits, amount, wait }) => [fits, amount, wait]),
      [
        [true, 0, 0],
        [false, 0, null],
        [true, 0, 0],
      ],
    )
    assert.deepEqual(
      await budgets.read(account, lines),
      lines.map(({ bucket }) => ({ bucket, spent: 0, leased: 0 })),
    )
  })

  test(`${name}: a reset forgets what expired leases were charged, and keeps the others`, async t => {
    const { budgets, account, clock } = await setUp(place, t)
    const line = { bucket: 'b', window: windows[0]!, limit: 99, share: 's', ...nothing }
    await budgets.step({ account, sequence: 1, lease, lines: [{ ...line, need: 7 }] })
    clock.advance(lease)
    await budgets.step({ account, sequence: 2, lease, lines: [{ ...line, share: 't', total: 20, need: 3 }] })
    assert.deepEqual(await budgets.read(account, [line]), [{ bucket: 'b', spent: 27, leased: 3 }])
    await budgets.reset(account, line)
    assert.deepEqual(await budgets.read(account, [line]), [{ bucket: 'b', spent: 0, leased: 3 }])
    await budgets.step({ account, sequence: 3, lease, lines: [{ ...line, total: 2 }] })
    assert.deepEqual(await budgets.read(account, [line]), [{ bucket: 'b', spent: 0, leased: 3 }])
  })

  test(`${name}: a copy goes on with all buckets as they were, leases and all`, async t => {
    const { budgets, account, clock } = await setUp(place, t)
    const copy = hex(16)
    const lines = Array.from({ length: 230 }, (_, i) => {
      const line = { bucket: `b${i}`, window: windows[i % 2]!, limit: 1_000, share: 's', ...nothing }
      return { ...line, total: i, keep: 7 }
    })
    const past = { ...lines[0]!, bucket: 'past', window: { kind: 'fixed', until: clock.now() + 1 } as const }
    await budgets.step({ account, sequence: 1, lease, lines: [past] })
    clock.advance(700_000)
    const lost = lines.map(line => ({ ...line, share: 't', total: 0, keep: 3, ifLost: 3 }))
    await budgets.step({ account, sequence: 2, lease: 1_000, lines: lost })
    clock.advance(2_000)
    await budgets.step({ account, sequence: 3, lease, lines })
    let pages = 0
    for await (const entries of budgets.entries(account)) {
      pages++
      assert.ok(entries.every(({ bucket }) => bucket !== 'past'))
      await budgets.restore(copy, entries)
      await budgets.restore(copy, entries)
    }
    assert.ok(pages > 1)
    assert.deepEqual(await Array.fromAsync(budgets.entries(hex(16))), [])
    assert.deepEqual(await budgets.read(copy, lines), await budgets.read(account, lines))
    const [sum] = await budgets.read(copy, [lines[200]!])
    assert.deepEqual(sum, { bucket: 'b200', spent: 203, leased: 7 })
    // The processes of before report there what they had spent.
    const last = {
      account,
      sequence: 4,
      lease,
      lines: lost.map(line => ({ ...line, total: 1, keep: 0, ifLost: 0 })),
    }
    assert.deepEqual(
      withoutWaits(await budgets.step({ ...last, account: copy })),
      withoutWaits(await budgets.step(last)),
    )
    assert.deepEqual(await budgets.read(copy, lines), await budgets.read(account, lines))
    assert.deepEqual(
      (await Array.fromAsync(budgets.entries(copy)))
        .flat()
        .map(({ bucket }) => bucket)
        .toSorted(),
      lines.map(({ bucket }) => bucket).toSorted(),
    )
  })
}

/** Two clocks never agree to the millisecond. */
function withoutWaits({ isGranted, states }: Awaited<ReturnType<typeof takeStep>>) {
  return {
    isGranted,
    states: states.map(({ wait, ...state }) => ({ ...state, waits: wait === null ? null : wait > 0 })),
  }
}

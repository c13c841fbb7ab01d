import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createLogger } from '../../src/log/log.ts'
import { StoreUnreachable, StoreUntouched, type Tallies } from '../../src/store/contract/store.ts'
import { slotOf, type Tally } from '../../src/store/records/tally.ts'
import { TallyKeeper } from '../../src/activity/tally-keeper.ts'

const slot = slotOf('error', Date.now())
const tally = (name: string, count: number, members: Partial<Tally> = {}): Tally => ({
  ...{ kind: 'error', scope: 'none', name, slot, count, last: slot, occurrences: [], ...members },
})

function open(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const state = { failure: null as Error | null }
  const written: (readonly (readonly [string, number])[])[] = []
  const add: Tallies['add'] = async tallies => {
    if (state.failure !== null) throw state.failure
    written.push(tallies.map(({ name, count }) => [name, count]))
  }
  const lines: { level: number; msg: string }[] = []
  const log = createLogger('info', { write: line => lines.push(JSON.parse(line)) })
  const keeper = new TallyKeeper({ store: { tallies: { add } as Tallies }, log })
  /** Lets a second go by, and all that it sets off. */
  const second = async () => {
    t.mock.timers.tick(1_000)
    for (let i = 0; i < 10; i++) await null
  }
  return { keeper, state, written, lines, second }
}

test('counts of processes are written together once a second, and the rest at the end', async t => {
  const { keeper, written, second } = open(t)
  keeper.add([tally('1020', 2), tally('1015', 1)])
  keeper.add([tally('1020', 3), tally('1020', 1, { slot: slot + 1 })])
  await second()
  keeper.add([tally('1020', 4)])
  await keeper.close()
  assert.deepEqual(written, [
    [
      ['1020', 5],
      ['1015', 1],
      ['1020', 1],
    ],
    [['1020', 4]],
  ])
})

test('what was certainly not written is written later, and what may have been is not written again', async t => {
  const { keeper, state, written, lines, second } = open(t)
  state.failure = new StoreUntouched()
  keeper.add([tally('1020', 1)])
  await second()
  await second()
  keeper.add([tally('1020', 1)])
  state.failure = new StoreUnreachable()
  keeper.add([tally('1015', 1)])
  state.failure = new StoreUntouched()
  await second()
  state.failure = null
  await second()
  assert.deepEqual(written, [
    [
      ['1020', 2],
      ['1015', 1],
    ],
  ])
  state.failure = new StoreUnreachable()
  keeper.add([tally('1020', 7)])
  await second()
  state.failure = null
  await second()
  await keeper.close()
  assert.equal(written.length, 1)
  const texts = lines.map(({ level, msg }) => `${level} ${msg}`)
  assert.deepEqual(texts, [
    'warn counts of errors and rules not written: store unreachable',
    'info counts of errors and rules written to the store again',
    'warn counts of errors and rules not written: store unreachable',
  ])
})

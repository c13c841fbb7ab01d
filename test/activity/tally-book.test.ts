import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { slotOf, type Tally } from '../../src/store/records/tally.ts'
import { TallyBook } from '../../src/activity/tally-book.ts'
import { ManualClock } from '../help/clock.ts'

function open(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const clock = new ManualClock()
  const sent: (readonly Tally[])[] = []
  const book = new TallyBook(clock, tallies => sent.push(tallies))
  return { clock, book, sent }
}

const occurrence = { at: 0, ray: '0', method: 'GET', host: 'x', path: '/', status: 403, format: 'json' }

test('what was counted is handed over a second after the first count, and only what is new', t => {
  const { clock, book, sent } = open(t)
  const scope = book.scope('zone shop')
  assert.equal(book.scope('zone shop'), scope)
  for (let i = 0; i < 3; i++) scope.error(1020).inc()
  scope.counter('limit', 'all').inc()
  t.mock.timers.tick(999)
  assert.equal(sent.length, 0)
  t.mock.timers.tick(1)
  const [at, where] = [clock.now(), { scope: 'zone shop', last: clock.now(), occurrences: [] }]
  assert.deepEqual(sent, [
    [
      { kind: 'error', name: '1020', slot: slotOf('error', at), count: 3, ...where },
      { kind: 'limit', name: 'all', slot: slotOf('limit', at), count: 1, ...where },
    ],
  ])
  scope.error(1020).inc()
  t.mock.timers.tick(5_000)
  assert.deepEqual(
    sent.slice(1).map(tallies => tallies.map(({ name, count }) => [name, count])),
    [[['1020', 1]]],
  )
})

test('a flood of one error keeps its first 20 occurrences, and those of all errors are bounded', t => {
  const { clock } = open(t)
  const taken: Tally[] = []
  const book = new TallyBook(clock, tallies => taken.push(...tallies))
  const scope = book.scope('none')
  for (let i = 0; i < 1_000; i++)
    for (let code = 1_000; code < 1_030; code++) {
      const counter = scope.error(code)
      counter.inc()
      if (counter.wantsOccurrence) counter.addOccurrence(occurrence)
    }
  book.flush()
  assert.ok(taken.every(({ count, occurrences }) => count === 1_000 && occurrences.length <= 20))
  assert.equal(
    taken.reduce((sum, { occurrences }) => sum + occurrences.length, 0),
    400,
  )
})

test('names that nobody can number are bounded too, and those in use count on', t => {
  const { book, sent } = open(t)
  const scope = book.scope('ai 1')
  const kept = scope.counter('error', 'kept')
  for (let i = 0; i < 30_000; i++) scope.counter('error', `gateway ${i}`).inc()
  kept.inc()
  book.flush()
  assert.equal(sent[0]!.length, 10_000)
  kept.inc()
  book.flush()
  assert.deepEqual(
    sent[1]!.map(({ name, count }) => [name, count]),
    [['kept', 1]],
  )
})

// The checker of store histories: it finds each fault that a store can have, and none where there is none.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { check, type Promises, type Verdict } from './store-history/check.ts'
import type { Operation, Span } from './store-history/history.ts'

const promises: Promises = { readLag: 1_000, useLag: 1_000, useLagInTrouble: 6_000, faults: [], pauses: [] }
const never = Number.POSITIVE_INFINITY

type Times = readonly [began: number, ended: number]

const timed = ([began, ended]: Times) => ({ key: 'one', client: 'a', began, ended })

function write(value: string | null, times: Times, expected?: string): Operation {
  return { ...timed(times), kind: 'write', value, expected }
}

function read(value: string | null, times: Times, isFinal = false): Operation {
  return { ...timed(times), kind: 'read', value, isFinal }
}

function use(isAccepted: boolean, times: Times): Operation {
  return { ...timed(times), kind: 'use', isAccepted }
}

function verdicts(operations: readonly Operation[], faults: readonly Span[] = []): readonly Verdict[] {
  return check(operations, { ...promises, faults }).map(({ verdict }) => verdict)
}

const histories: Readonly<Record<string, readonly [verdict: Verdict, operations: readonly Operation[]]>> = {
  'reads what was written': ['sound', [write('1', [0, 10]), read('1', [20, 30])]],
  'reads either of two writes at once': [
    'sound',
    [write('1', [0, 50]), write('2', [0, 50]), read('1', [10, 20]), read('2', [60, 70])],
  ],
  'has a write that nobody knows of, and that was done': [
    'sound',
    [write('1', [0, 10]), write('2', [20, never]), read('1', [30, 40]), read('2', [5_000, 5_010])],
  ],
  'has a write that nobody knows of, and that was not done': [
    'sound',
    [write('1', [0, 10]), write('2', [20, never]), read('1', [30, 40])],
  ],
  'goes on from a write that nobody knows of': [
    'sound',
    [write('1', [0, 10]), write('2', [20, never]), write('3', [40, 50], '2'), read('3', [60, 70], true)],
  ],
  'reads the earlier value for less than a second': [
    'lagging',
    [write('1', [0, 10]), write('2', [20, 30]), read('1', [900, 910]), read('2', [2_000, 2_010])],
  ],
  'reads the earlier value after more than a second': [
    'stale',
    [write('1', [0, 10]), write('2', [20, 30]), read('1', [1_100, 1_110]), read('2', [2_000, 2_010], true)],
  ],
  'reads a value, and then the one before it': [
    'stale',
    [write('1', [0, 10]), write('2', [20, 30]), read('2', [40, 50]), read('1', [2_000, 2_010])],
  ],
  'reads a write that was taken back before it was confirmed': [
    'unconfirmed',
    [write('1', [0, 10]), write('2', [20, never]), read('2', [40, 50]), read('1', [2_000, 2_010], true)],
  ],
  'has lost a confirmed write at the end': [
    'lost',
    [write('1', [0, 10]), write('2', [20, 30]), read('1', [40, 50], true)],
  ],
  'has lost a record at the end': ['lost', [write('1', [0, 10]), read(null, [20, 30], true)]],
  'has a value at the end that nobody wrote': ['lost', [write('1', [0, 10]), read('7', [20, 30], true)]],
  'has two changes of the same version': [
    'lost',
    [write('1', [0, 10]), write('2', [20, 30], '1'), write('3', [40, 50], '1')],
  ],
  'has a change of a version that is not there yet': [
    'lost',
    [write('1', [0, 10]), write('3', [20, 30], '2'), write('2', [40, 50])],
  ],
  'has a removed record at the end': [
    'undone',
    [write('1', [0, 10]), write(null, [20, 30]), read('1', [40, 50], true)],
  ],
  'has a removed record that comes back and goes': [
    'stale',
    [write('1', [0, 10]), write(null, [20, 30]), read('1', [2_000, 2_010]), read(null, [2_500, 2_510], true)],
  ],
  'has a removal that nobody knows of': [
    'sound',
    [write('1', [0, 10]), write(null, [20, never]), read('1', [40, 50]), read(null, [60, 70], true)],
  ],
}

for (const [name, [verdict, operations]] of Object.entries(histories))
  test(`a history that ${name} is ${verdict}`, () => {
    assert.deepEqual(verdicts(operations), [verdict])
  })

test('a token is accepted for no longer than promised after its removal, and never refused before', () => {
  const life = [write('1', [0, 10]), write(null, [100, 200])]
  assert.deepEqual(verdicts([...life, use(true, [1_150, 1_160])]), ['sound'])
  assert.deepEqual(verdicts([...life, use(true, [1_250, 1_260])]), ['sound', 'accepted'])
  assert.deepEqual(verdicts([...life, use(true, [1_250, 1_260])], [{ began: 900, ended: 1_000 }]), ['sound'])
  assert.deepEqual(verdicts([...life, use(true, [6_250, 6_260])], [{ began: 900, ended: 1_000 }]), [
    'sound',
    'accepted',
  ])
  assert.deepEqual(verdicts([...life, use(true, [15_000, 15_010])], [{ began: 900, ended: 1_000 }]), [
    'sound',
    'accepted',
  ])
  assert.deepEqual(verdicts([...life, use(false, [20, 30])]), ['sound', 'refused'])
  assert.deepEqual(verdicts([...life, use(false, [90, 110])]), ['sound'])
})

test('a read may be as much later as a gateway was slow in all that it did', () => {
  const operations = [
    ...[write('1', [0, 10]), write('2', [20, 30])],
    ...[read('1', [1_100, 1_110]), read('2', [2_000, 2_010], true)],
  ]
  const slow = (began: number, ended: number) =>
    check(operations, { ...promises, pauses: [{ began, ended }] }).map(({ verdict }) => verdict)
  assert.deepEqual(slow(500, 600), ['lagging'])
  assert.deepEqual(slow(500, 550), ['stale'])
  assert.deepEqual(slow(1_200, 5_000), ['stale'])
})

test('a finding ends with the first operation that contradicts', () => {
  const bad = read('1', [1_100, 1_110])
  const operations = [write('1', [0, 10]), write('2', [20, 30]), bad, read('2', [2_000, 2_010])]
  assert.deepEqual(check(operations, promises)[0]!.operations, operations.slice(0, 3))
  assert.equal(check(operations, promises)[0]!.operations.at(-1), bad)
})

/** Operations of a register that takes each at one time within its span. */
const sound = fc
  .array(fc.record({ isWrite: fc.boolean(), before: fc.nat(40), after: fc.nat(40), isKnown: fc.boolean() }), {
    maxLength: 40,
  })
  .map(deeds => {
    let value: string | null = null
    return deeds.map(({ isWrite, before, after, isKnown }, i): Operation => {
      const at = 10 * i
      const ended = at + after
      if (!isWrite) return read(value, [at - before, ended])
      value = String(i)
      return write(value, [at - before, isKnown ? ended : never])
    })
  })

test('no fault is found in what a register did, and each confirmed write that it loses is', () => {
  fc.assert(
    fc.property(sound, operations => {
      assert.deepEqual(
        verdicts(operations).filter(verdict => verdict !== 'sound'),
        [],
      )
      const last = operations.findLast(({ kind }) => kind === 'write')
      const lost = [write('first', [-200, -100]), ...operations, read('first', [1_000, 1_010], true)]
      const isFaulty = operations.some(one => one.kind === 'write' && one.ended !== never)
      if (isFaulty && last) assert.deepEqual(verdicts(lost), ['lost'])
    }),
    { numRuns: 200 },
  )
})

// Which of the sockets that a gateway leaves the next one takes; test/journeys/upgrade.test.ts has how they get there.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  agedUntilNow,
  machineClock,
  Predecessor,
  socketsFor,
  upgradeVariable,
} from '../../../src/process/handover/inheritance.ts'
import type { Token } from '../../../src/store/records/records.ts'
import { busySecond } from '../../help/until.ts'

/** The sockets of listeners at these addresses; `closed` has those that were closed. */
function left(...endpoints: readonly (readonly [host: string, port: number, slots?: number])[]) {
  const closed: string[] = []
  const sockets = endpoints.flatMap(([host, port, slots = 1], listener) =>
    Array.from({ length: slots }, (_, slot) => {
      const handle = { fd: -1, close: () => void closed.push(`${host}:${port}/${slot}`) }
      return { host, port, listener, slot, isAlone: false, handle }
    }),
  )
  return { sockets, closed }
}

function listeners(...endpoints: readonly (readonly [host: string, port: number])[]) {
  return { listen: endpoints.map(([host, port]) => ({ host, port, tls: false })) }
}

test('each listener gets all sockets of its address, wherever it stands now, and the others are closed', () => {
  const { sockets, closed } = left(['::1', 80], ['127.0.0.1', 80, 2], ['127.0.0.1', 443, 2])
  const found = socketsFor(listeners(['127.0.0.1', 8080], ['127.0.0.1', 443], ['127.0.0.1', 80]), sockets)
  assert.deepEqual(
    found.map(({ listener, slot, handle }) => [
      listener,
      slot,
      sockets.findIndex(one => one.handle === handle),
    ]),
    [
      [1, 0, 3],
      [1, 1, 4],
      [2, 0, 1],
      [2, 1, 2],
    ],
  )
  assert.deepEqual(closed, ['::1:80/0'])
})

test('two listeners with the same address each inherit their own sockets', () => {
  const { sockets, closed } = left(['127.0.0.1', 0], ['127.0.0.1', 0])
  const found = socketsFor(listeners(['127.0.0.1', 0], ['127.0.0.1', 0]), sockets)
  assert.deepEqual(
    found.map(({ listener, handle }) => [listener, sockets.findIndex(one => one.handle === handle)]),
    [
      [0, 0],
      [1, 1],
    ],
  )
  assert.deepEqual(closed, [])
})

test('entries cached by the gateway before age during the handover, by the clock of the machine', () => {
  const loan = { value: {} as Token, age: 40_000 }
  const at = machineClock() - 7_000
  const [record] = agedUntilNow({ kind: 'loans', at, records: [{ found: ['token', 'a'], loan }] })
  assert.deepEqual(record!.found, ['token', 'a'])
  assert.ok(record!.loan.age >= 47_000 && record!.loan.age < 47_000 + busySecond, `${record!.loan.age}`)
})

test('a process without a channel replaces nobody, and no process that it starts believes to', () => {
  const env: NodeJS.ProcessEnv = { [upgradeVariable]: '1', HOME: '/' }
  assert.equal(Predecessor.find({ env } as NodeJS.Process), null)
  assert.deepEqual(env, { HOME: '/' })
})

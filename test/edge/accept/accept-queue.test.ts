// Connections that come at once are served a few in each turn of the event loop, in their order.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { AcceptedConnection } from '../../../src/base/accepted-connection.ts'
import { AcceptQueue } from '../../../src/edge/accept/accept-queue.ts'

test('some are served at once, and the others in their order, as many in each turn', async () => {
  const queue = new AcceptQueue()
  const served: number[] = []
  const accept = (nth: number) => {
    const serve = () => served.push(nth)
    if (!queue.delays({ serve } as unknown as AcceptedConnection)) serve()
  }
  for (let nth = 0; nth < 20; nth++) accept(nth)
  const counts = [served.length]
  await turn()
  counts.push(served.length)
  // What comes later is behind those that wait.
  accept(20)
  await turn()
  counts.push(served.length)
  await turn()
  counts.push(served.length)
  assert.deepEqual(counts, [8, 16, 21, 21])
  assert.deepEqual(
    served,
    Array.from({ length: 21 }, (_, nth) => nth),
  )
  accept(21)
  assert.equal(served.length, 22)
})

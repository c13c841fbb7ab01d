// Connections over HTTP/2 that wait to read on are served in turns, by address and then by connection, a little in each turn of the event loop.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'node:test'
import { Http2Turns } from '../../../src/edge/client/http2-turns.ts'
import { workOfTurn } from '../../../src/http2/turn-work.ts'
import { patient } from '../../help/clock.ts'
import { Edge, edgeConfig, listenAt } from '../../help/edge.ts'
import { ask, connectHttp2 } from '../../help/http2-client.ts'
import { get, headers, preface, settings } from '../../help/http2.ts'
import { ok, startResponder } from '../../help/origin.ts'
import { turnsUntil } from '../../help/until.ts'

/** Has connections wait that need some turns each; returns their names in the order in which they were served, once all are done. */
async function served(
  turns: Http2Turns,
  readers: readonly (readonly [name: string, peer: string, times: number])[],
) {
  const order: string[] = []
  for (const [name, peer, times] of readers) {
    let left = times
    const reader = {
      peer,
      readOn: (work: number) => {
        order.push(name)
        turns.work.left = 0
        assert.ok(work > 0 && work <= workOfTurn)
        if (--left > 0) turns.add(reader)
      },
    }
    turns.add(reader)
  }
  const count = readers.reduce((sum, [, , times]) => sum + times, 0)
  await turnsUntil(() => order.length === count)
  await turn()
  return order.join('')
}

test('an address has one turn after another, however many connections it has', async () => {
  const many = ['a', 'b', 'c'].map(name => [name, '192.0.2.1', 2] as const)
  const order = await served(new Http2Turns(), [
    ...many,
    ['X', '192.0.2.2', 2],
    ['Y', '2001:db8::1', 2],
    ['Z', '2001:db8::2', 1],
  ])
  assert.equal(order, 'aXYbXZcYabc')
})

test('what comes waits behind those who wait, and nobody waits behind them', async () => {
  const turns = new Http2Turns()
  turns.work.left = 0
  await served(turns, [['a', '192.0.2.1', 3]])
  assert.equal(turns.work.left, workOfTurn)
})

/** Returns how often connections that want everything are served in one turn of the loop. */
async function slicesOfTurn(turns: Http2Turns): Promise<number> {
  let count = 0
  const greedy = {
    peer: '192.0.2.1',
    readOn: () => {
      turns.work.left = 0
      if (++count < 20) turns.add(greedy)
    },
  }
  turns.add(greedy)
  await turn()
  const slices = count
  assert.equal(turns.work.left, 0)
  await turnsUntil(() => count === 20)
  return slices
}

test('a turn of the loop has four slices, and one as long as much is under way', async () => {
  const turns = new Http2Turns()
  assert.equal(await slicesOfTurn(turns), 4)
  turns.underWay = 129
  assert.equal(await slicesOfTurn(turns), 1)
})

test('requests that many connections send at once are all served, and another client is not the last', async t => {
  const origin = await startResponder(t, ok('hello'))
  const listener = { host: '127.0.0.1', port: 0, tls: false, h2c: true } as const
  const edge = await listenAt(t, new Edge(t, { ...edgeConfig([origin.url], patient), listen: [listener] }))
  const other = await connectHttp2(t, `http://127.0.0.1:${edge.port}`)
  const { versions } = edge.metrics
  // No zone has this host: each is refused as soon as it has begun.
  const fields = [...get.slice(0, 3), [':authority', 'other.test']] as const
  const requests = Array.from({ length: 100 }, (_, i) => headers(2 * i + 1, fields))
  const bytes = Buffer.concat([preface, settings(), ...requests])
  const sockets = Array.from({ length: 20 }, () =>
    connect({ port: edge.port, host: '127.0.0.1', localAddress: '127.0.0.2' }),
  )
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  await Promise.all(sockets.map(socket => once(socket, 'connect')))
  for (const socket of sockets) socket.resume().write(bytes)
  assert.equal((await ask(other)).status, 200)
  assert.ok(versions['2'].value < 1_000, String(versions['2'].value))
  await turnsUntil(() => versions['2'].value === 2_001)
})

// Connections over HTTP/2 that wait to read on are served in turns, by address and then by connection, a little in each turn of the event loop.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'node:test'
import { Http2Addresses } from '../../../../src/edge/client/http2/http2-address.ts'
import { Http2Turns } from '../../../../src/edge/client/http2/http2-turns.ts'
import { workOfTurn } from '../../../../src/http2/frames/turn-work.ts'
import { patient } from '../../../help/clock.ts'
import { Edge, edgeConfig, listenAt } from '../../../help/edge.ts'
import { ask, connectHttp2 } from '../../../help/http2-client.ts'
import { get, headers, preface, settings, windowUpdate } from '../../../help/http2.ts'
import { ok, startResponder } from '../../../help/origin.ts'
import { turnsUntil, until } from '../../../help/until.ts'

/** Has connections wait that need some turns each; returns their names in the order in which they were served, once all are done. */
async function served(
  turns: Http2Turns,
  readers: readonly (readonly [name: string, peer: string, times: number])[],
) {
  const order: string[] = []
  const addresses = new Http2Addresses()
  for (const [name, peer, times] of readers) {
    let left = times
    const address = addresses.join(peer, false)
    const wait = () => {
      address.add(reader)
      turns.add(address)
    }
    const reader = {
      isIndebted: false,
      readOn: (work: number) => {
        order.push(name)
        turns.work.left = 0
        assert.ok(work > 0 && work <= workOfTurn)
        if (--left > 0) wait()
      },
    }
    wait()
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

test('new requests queue behind those that wait, and others do not wait for them', async () => {
  const turns = new Http2Turns()
  turns.work.left = 0
  await served(turns, [['a', '192.0.2.1', 3]])
  assert.equal(turns.work.left, workOfTurn)
})

/** Has a connection want everything twenty times, of an address with so many requests; returns how often it was served in the first turn of the loop. */
async function servedAtFirst(turns: Http2Turns, requests: { waiting: number; stalled: number }) {
  let count = 0
  const address = new Http2Addresses().join('192.0.2.1', false)
  address.waitingRequests = requests.waiting
  address.stalledRequests = requests.stalled
  const wait = () => {
    address.add(greedy)
    turns.add(address)
  }
  const greedy = {
    isIndebted: true,
    readOn: (work: number) => {
      turns.work.left = 0
      if (++count < 20) wait()
      address.charge(work)
    },
  }
  wait()
  await turn()
  const first = count
  const { left } = turns.work
  await until(() => count === 20)
  await turn()
  assert.equal(turns.work.left, workOfTurn)
  return { first, left }
}

test('a turn of the loop has four slices, and then nobody else reads in it', async () => {
  const requests = { waiting: 128, stalled: 128 }
  assert.deepEqual(await servedAtFirst(new Http2Turns(), requests), { first: 4, left: 0 })
})

test('an address with many requests under way has one slice of a turn', async () => {
  const requests = { waiting: 129, stalled: 0 }
  assert.deepEqual(await servedAtFirst(new Http2Turns(), requests), { first: 1, left: 0 })
})

test('an address with many stalled requests keeps nobody else from reading while it has to wait', async () => {
  const requests = { waiting: 1_024, stalled: 1_024 }
  assert.deepEqual(await servedAtFirst(new Http2Turns(), requests), { first: 1, left: workOfTurn })
})

test('each turn begins with all of its work', async () => {
  const turns = new Http2Turns()
  turns.work.left -= 65
  turns.planAfterRead()
  assert.equal(turns.work.left, workOfTurn - 65)
  await turn()
  assert.equal(turns.work.left, workOfTurn)
})

test('requests of clients that have left are ended a few in each turn, however many connections had them', async () => {
  const turns = new Http2Turns()
  const ended: number[] = []
  let now = 0
  const leave = (requests: number) => {
    let left = requests
    turns.end({
      endSome: most => {
        const some = Math.min(most, left)
        left -= some
        now += some
        return most - some
      },
    })
  }
  for (let i = 0; i < 8; i++) leave(5)
  leave(16)
  while (ended.length < 4) {
    await turn()
    ended.push(now)
    now = 0
  }
  assert.deepEqual(ended, [16, 16, 16, 8])
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
  const bytes = Buffer.concat([preface, settings(), windowUpdate(0, 2 ** 24), ...requests])
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

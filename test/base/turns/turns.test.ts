import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { test } from 'node:test'
import { shortExchanges } from '../../../src/base/turns/short-exchanges.ts'
import { nextTurn, pause } from '../../../src/base/turns/turns.ts'

/** Keeps this thread busy for so many ms. */
function work(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

test('all long work together does one step in a turn, in the order in which it was asked for', async () => {
  const done: string[] = []
  const long = async (name: string) => {
    for (let step = 0; step < 3; step++) {
      await nextTurn()
      done.push(name)
    }
  }
  const beat = setInterval(() => {})
  const both = Promise.all([long('a'), long('b')])
  for (let seen = 0; seen < 6; seen = done.length) {
    await new Promise(setImmediate)
    assert.ok(done.length <= seen + 1, `${done.length - seen} steps in a turn`)
  }
  await both
  clearInterval(beat)
  assert.equal(done.join(''), 'ababab')
})

test('work goes on in its turn until that has lasted long enough', async () => {
  let isOver = false
  await pause()
  await nextTurn()
  const next = setImmediate(() => {
    isOver = true
  })
  await pause()
  assert.equal(isOver, false)
  work(1)
  await pause()
  assert.equal(isOver, true)
  clearImmediate(next)
})

test('no step begins while a short exchange is under way, and the next one once it has passed', async () => {
  let hasBegun = false
  const round = shortExchanges.begin(performance.now())
  const step = nextTurn().then(() => {
    hasBegun = true
  })
  // Less than an exchange that is not over has to last to be a long one.
  for (const until = performance.now() + 1; performance.now() < until; ) await new Promise(setImmediate)
  assert.equal(hasBegun, false)
  shortExchanges.passed(round)
  await step
  assert.equal(shortExchanges.count, 0)
})

test('what can be read is read before a step, and what follows from that', async t => {
  const server = createServer()
  t.after(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const client = connect(port, '127.0.0.1')
  const [peer] = await once(server, 'connection')
  t.after(() => client.destroy())
  const order: string[] = []
  peer.once('data', () => {
    order.push('read')
    // As the first byte of a request does; it is refused at once.
    shortExchanges.passed(shortExchanges.begin(performance.now()))
    client.write('b')
    peer.once('data', () => order.push('read'))
  })
  await nextTurn()
  client.write('a')
  await nextTurn()
  assert.deepEqual(order, ['read', 'read'])
  peer.destroy()
})

test('exchanges that follow each other without end hold each step for some ms only', async () => {
  let isOver = false
  const exchange = () => {
    if (isOver) return
    const round = shortExchanges.begin(performance.now())
    setImmediate(() => {
      // The next one begins before this one ends.
      exchange()
      shortExchanges.passed(round)
    })
  }
  exchange()
  const waits: number[] = []
  for (let step = 0; step < 10; step++) {
    const began = performance.now()
    await nextTurn()
    waits.push(performance.now() - began)
  }
  isOver = true
  // Where the system gives this process no time, they are long, and short ones may look long.
  const usual = waits.toSorted((a, b) => a - b)[5]!
  assert.ok(usual >= 4 && usual < 20_000, waits.join(' '))
})

test('an exchange that takes long is waited for once', async () => {
  const long = shortExchanges.begin(performance.now())
  await nextTurn()
  assert.equal(shortExchanges.count, 0)
  const next = shortExchanges.begin(performance.now())
  shortExchanges.passed(long)
  assert.equal(shortExchanges.count, 1)
  shortExchanges.passed(next)
  assert.equal(shortExchanges.count, 0)
})

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

/** Has three callers do three steps of so many ms each; returns who did them, and how many the longest turn had. */
async function stepsOf(ms: number): Promise<{ order: string; most: number }> {
  let order = ''
  const steps = async (name: string) => {
    for (let step = 0; step < 3; step++) {
      await nextTurn()
      work(ms)
      order += name
    }
  }
  const beat = setInterval(() => {})
  const all = Promise.all([steps('a'), steps('b'), steps('c')])
  let most = 0
  for (let seen = 0; seen < 9; seen = order.length) {
    await new Promise(setImmediate)
    most = Math.max(most, order.length - seen)
  }
  await all
  clearInterval(beat)
  return { order, most }
}

test('a turn has one long step, and they come in the order in which they were asked for', async () => {
  assert.deepEqual(await stepsOf(0.2), { order: 'abcabcabc', most: 1 })
})

test('short steps share a turn, and everybody has one of them', async () => {
  // Now and then the system gives this process no time between two of them.
  for (let attempt = 0; attempt < 10; attempt++) {
    const { order, most } = await stepsOf(0)
    assert.equal(order, 'abcabcabc')
    assert.ok(most <= 3, `${most} steps in a turn`)
    if (most === 3) return
  }
  assert.fail('never did three callers share a turn')
})

test('what follows from a step at once is done before the next one begins', async () => {
  const done: string[] = []
  const step = async (name: string) => {
    await nextTurn()
    for (let part = 0; part < 3; part++) {
      done.push(name)
      await null
    }
  }
  await Promise.all([step('a'), step('b')])
  assert.equal(done.join(''), 'aaabbb')
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
  for (;;) {
    let hasBegun = false
    const began = performance.now()
    const round = shortExchanges.begin(began)
    const step = nextTurn().then(() => {
      hasBegun = true
    })
    // Less than an exchange that is not over has to last to be a long one.
    await new Promise(resolve => setTimeout(resolve, 1))
    const isShort = performance.now() < began + 2
    assert.ok(!isShort || !hasBegun)
    shortExchanges.passed(round)
    await step
    assert.equal(shortExchanges.count, 0)
    // On a busy machine it may have been a long one after all.
    if (isShort) return
  }
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

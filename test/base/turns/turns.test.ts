import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { shortExchanges } from '../../../src/base/turns/short-exchanges.ts'
import { nextTurn, pause } from '../../../src/base/turns/turns.ts'

/** Replaces the clock: it only advances when told to. */
function stopClock(t: TestContext): { advance(ms: number): void } {
  let now = performance.now()
  t.mock.method(performance, 'now', () => now)
  return {
    advance: ms => {
      now += ms
    },
  }
}

/** Has three callers do three steps, and returns who did them, a word for each turn. */
async function turnsOf(step: () => void): Promise<readonly string[]> {
  const turns: string[] = []
  let turn = ''
  const steps = async (name: string) => {
    for (let i = 0; i < 3; i++) {
      await nextTurn()
      step()
      turn += name
    }
  }
  const all = Promise.all([steps('a'), steps('b'), steps('c')])
  while (turns.join('').length < 9) {
    await new Promise(setImmediate)
    if (turn !== '') turns.push(turn)
    turn = ''
  }
  await all
  return turns
}

test('a turn has one long step, and callers take turns', async t => {
  const clock = stopClock(t)
  assert.deepEqual(await turnsOf(() => clock.advance(0.2)), [...'abcabcabc'])
})

test('short steps share a turn, one for each caller', async t => {
  stopClock(t)
  assert.deepEqual(await turnsOf(() => {}), ['abc', 'abc', 'abc'])
})

test('microtasks of a step run before the next step begins', async () => {
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

test('work continues in its turn until that has lasted long enough', async t => {
  const clock = stopClock(t)
  await nextTurn()
  let isNextTurn = false
  setImmediate(() => {
    isNextTurn = true
  })
  await pause()
  assert.equal(isNextTurn, false)
  clock.advance(0.3)
  await pause()
  assert.equal(isNextTurn, true)
})

test('no step begins during a short exchange, and the next one begins after it', async t => {
  const clock = stopClock(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const round = shortExchanges.begin(performance.now())
  let hasBegun = false
  const step = nextTurn().then(() => {
    hasBegun = true
  })
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
  clock.advance(1.9)
  t.mock.timers.tick(1)
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
  assert.equal(hasBegun, false)
  shortExchanges.passed(round)
  await step
  assert.equal(shortExchanges.count, 0)
})

test('sockets that can be read are read before the next step, and so is what follows', async t => {
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

test('exchanges that never end hold up each step for about 5 ms', async t => {
  const clock = stopClock(t)
  let isOver = false
  const exchange = () => {
    if (isOver) return
    const round = shortExchanges.begin(performance.now())
    setImmediate(() => {
      clock.advance(0.5)
      // The next one begins before this one ends.
      exchange()
      shortExchanges.passed(round)
    })
  }
  exchange()
  for (let step = 0; step < 10; step++) {
    const before = performance.now()
    await nextTurn()
    const wait = performance.now() - before
    assert.ok(wait >= 5 && wait <= 6.5, `${wait} ms`)
  }
  isOver = true
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

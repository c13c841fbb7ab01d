import assert from 'node:assert/strict'
import { connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import type { OriginConnection } from '../../../../src/edge/origin/origin-connection.ts'
import { RestingConnections } from '../../../../src/edge/origin/idle/resting-connections.ts'

const named = (name: string) => ({ name }) as unknown as OriginConnection

function start(): { readonly resting: RestingConnections; readonly rested: OriginConnection[] } {
  const rested: OriginConnection[] = []
  const owner = { rested: (connection: OriginConnection) => rested.push(connection), crashed: assert.fail }
  return { resting: new RestingConnections(owner), rested }
}

/** Gives both ends of a connection. */
async function pair(t: TestContext): Promise<readonly [Socket, Socket]> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const near = connect({ port: (server.address() as { port: number }).port, host: '127.0.0.1' })
  const [far] = (await once(server, 'connection')) as [Socket]
  t.after(() => {
    near.destroy()
    far.destroy()
    server.close()
  })
  return [near, far]
}

test('a turn hears what had come before it', async t => {
  const [near, far] = await pair(t)
  const { resting, rested } = start()
  const connection = named('one')
  near.on('data', bytes => {
    if (bytes.toString() === 'second') return resting.remove(connection)
    // The system has the second packet before the loop polls again.
    far.write('second')
    resting.addForTurn(connection)
  })
  far.write('first')
  await once(near, 'data')
  for (let i = 0; i < 5; i++) await turn()
  assert.deepEqual(rested, [])
  assert.equal(resting.size, 0)
})

test('connections that rest for a turn return after the next poll, all in one turn', async () => {
  const { resting, rested } = start()
  const [one, two, three] = [named('one'), named('two'), named('three')]
  resting.addForTurn(one)
  resting.addForTurn(two)
  assert.deepEqual([resting.size, resting.returningSoon], [2, 2])
  await turn()
  assert.deepEqual(rested, [])
  resting.addForTurn(three)
  await turn()
  assert.deepEqual(new Set(rested), new Set([one, two]))
  await turn()
  assert.equal(rested[2], three)
  assert.equal(resting.size, 0)
})

test('a connection that rests for a while returns a turn after the sweep that ends it, unless it has closed', async () => {
  const { resting, rested } = start()
  const [one, two] = [named('one'), named('two')]
  resting.addForWhile(one, 1_000)
  resting.addForWhile(two, 1_000)
  assert.deepEqual([resting.size, resting.returningSoon, resting.oldest], [2, 0, one])
  resting.sweep(1_099)
  assert.deepEqual(rested, [])
  resting.remove(one)
  resting.sweep(1_100)
  assert.deepEqual([rested, resting.returningSoon], [[], 1])
  await turn()
  await turn()
  assert.deepEqual([rested, resting.size, resting.oldest], [[two], 0, undefined])
})

test('only so many rest for a while', () => {
  const { resting } = start()
  const taken = Array.from({ length: 40 }, (_, i) => resting.addForWhile(named(String(i)), 1_000))
  assert.deepEqual([taken.filter(Boolean).length, resting.size], [32, 32])
})

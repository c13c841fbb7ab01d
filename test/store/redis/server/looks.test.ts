// Writes that begin while the server is looked at. When each reply comes is decided here.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../../../../src/base/clock.ts'
import { Degradation } from '../../../../src/store/contract/degradation.ts'
import { StoreUnreachable } from '../../../../src/store/contract/store.ts'
import { Trust } from '../../../../src/store/contract/trust.ts'
import type { Command } from '../../../../src/store/redis/server/connect.ts'
import type { Connection } from '../../../../src/store/redis/server/connection.ts'
import { DurableWrites } from '../../../../src/store/redis/server/durability.ts'
import { Replicas } from '../../../../src/store/redis/server/replicas.ts'
import { lua } from '../../../../src/store/redis/server/script.ts'

const info =
  'redis_version:7.0.15\r\naof_enabled:1\r\nrole:master\r\nmaster_replid:b\r\nmaster_repl_offset:5\r\n'
const settings = { appendfsync: 'everysec', save: '', 'min-replicas-to-write': '0' }
const write = lua`return 'written'`

function replyTo([name, ...args]: Command): unknown {
  if (name === 'INFO') return info
  if (name === 'CONFIG') return [args[1], settings[args[1] as keyof typeof settings]]
  return name === 'EVAL' || name === 'EVALSHA' ? 'written' : 1
}

/** All within one moment. */
const clock: Clock = { now: () => 0, monotonic: () => 0 }

function writesOn(t: TestContext, connection: Partial<Connection>): DurableWrites {
  const degradation = new Degradation()
  const writes = new DurableWrites(connection as Connection, new Replicas(null), {
    ...{ timeout: 1_000, clock, isCluster: false, degradation, trust: new Trust(degradation) },
  })
  t.after(() => writes.close())
  return writes
}

async function start(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const looks: (readonly Command[])[] = []
  const replies = Promise.withResolvers<void>()
  let arrive = () => {}
  let onLook = () => {}
  const connection: Pick<Connection, 'runTogether' | 'onArrival' | 'leave'> = {
    runTogether: async commands => {
      if (commands.some(([name]) => name === 'PING')) {
        onLook()
        if (looks.push(commands) === 2) await replies.promise
      }
      return commands.map(replyTo)
    },
    onArrival: listener => {
      arrive = listener
    },
    leave: () => {},
  }
  const writes = writesOn(t, connection)
  await writes.settings()
  await turn()
  t.mock.timers.tick(1_000)
  const reads = looks.map(commands => commands.some(([name]) => name === 'CONFIG'))
  assert.deepEqual(reads, [true, false], 'no second look began, or it reads the settings')
  const whenLooking = (listener: () => void) => {
    onLook = listener
  }
  return { writes, arrive: () => arrive(), reply: replies.resolve, looks, whenLooking }
}

for (const [name, cause] of [
  ['the settings are asked for', ({ writes }) => void writes.settings()],
  ['the connection is made anew', ({ arrive }) => arrive()],
] as [string, (running: Awaited<ReturnType<typeof start>>) => void][])
  test(`a write that begins during a look is not refused if ${name} meanwhile`, async t => {
    const running = await start(t)
    cause(running)
    const written = running.writes.run(write, [], [])
    running.reply()
    assert.equal(await written, 'written')
  })

test('a write does not wait for looks that are asked for during each look', async t => {
  const { writes, reply, looks, whenLooking } = await start(t)
  whenLooking(() => looks.length < 100 && void writes.settings())
  void writes.settings()
  const written = writes.run(write, [], []).then(() => looks.length)
  reply()
  assert.ok((await written) < 5, 'it waited')
})

test('what a server said before it was replaced is no settings of the next one', async t => {
  let epoch = 0
  let arrive = () => {}
  const reads: boolean[] = []
  const connection: Pick<Connection, 'runTogether' | 'onArrival' | 'leave' | 'epoch'> = {
    get epoch() {
      return epoch
    },
    runTogether: async commands => {
      const names = commands.map(([name]) => name)
      if (names.includes('PING')) reads.push(names.includes('CONFIG'))
      // Its replicas are counted.
      else if (reads.length === 2 && epoch++ === 0) arrive()
      return commands.map(command => {
        const [name] = command
        if (name === 'HELLO') return ['role', 'master']
        return name === 'INFO' || name === 'ROLE' ? new Error('NOPERM') : replyTo(command)
      })
    },
    onArrival: listener => {
      arrive = listener
    },
    leave: () => {},
  }
  const writes = writesOn(t, connection)
  await assert.rejects(writes.settings(), StoreUnreachable)
  await writes.confirm()
  assert.deepEqual(reads, [true, true, true])
})

// When a change that was only read counts as seen, on a server that syncs its disk once a second and can say so. Debian's Redis cannot, so that its replies are written here.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../../../src/base/clock.ts'
import { Degradation } from '../../../../src/store/contract/degradation.ts'
import { Trust } from '../../../../src/store/contract/trust.ts'
import type { Command } from '../../../../src/store/redis/server/connect.ts'
import type { Connection } from '../../../../src/store/redis/server/connection.ts'
import { DurableWrites } from '../../../../src/store/redis/server/durability.ts'
import { Replicas } from '../../../../src/store/redis/server/replicas.ts'
import { lua } from '../../../../src/store/redis/server/script.ts'
import { until } from '../../../help/until.ts'

const identity = 'a'.repeat(32)
const info =
  'redis_version:8.0.2\r\naof_enabled:1\r\nrole:master\r\nmaster_replid:b\r\nmaster_repl_offset:5\r\n'
const settings = { appendfsync: 'everysec', save: '', 'min-replicas-to-write': '0' }

interface Kind {
  readonly isForDisk: boolean
  readonly isValkey?: boolean
}

/** A server at the eleventh change, whose disk has what was written once `isSynced`. */
function start(t: TestContext, { isForDisk, isValkey = false }: Kind) {
  const disk = { isSynced: false, asked: 0, looked: 0 }
  const replyTo = ([name, ...args]: Command): unknown => {
    if (name === 'INFO' && args[0] === 'persistence') {
      disk.looked++
      return `aof_pending_bio_fsync:${disk.isSynced ? 0 : 1}\r\n`
    }
    if (name === 'INFO') return isValkey ? `${info}valkey_version:8.1.1\r\n` : info
    if (name === 'HELLO') return ['server', 'redis', 'version', '8.0.2', 'role', 'master']
    if (name === 'CONFIG') return [args[1], settings[args[1] as keyof typeof settings]]
    if (name === 'GET') return `${identity} 11 1`
    if (name !== 'WAITAOF') return 1
    disk.asked++
    return [disk.isSynced ? 1 : 0, 0]
  }
  const connection: Pick<Connection, 'runTogether' | 'onArrival' | 'leave'> = {
    runTogether: async commands => commands.map(replyTo),
    onArrival: () => {},
    leave: () => {},
  }
  const degradation = new Degradation()
  const trust = new Trust(degradation)
  trust.expect({ identity, generation: 10, last: '0', isBehind: false })
  const writes = new DurableWrites(connection as Connection, new Replicas(null), {
    ...{ timeout: 1_000, clock: systemClock, isCluster: false, degradation, trust, isForDisk },
  })
  t.after(() => writes.close())
  return { disk, trust, writes, read: () => trust.check(markAt(11), trust.seen!, false) }
}

const markAt = (generation: number) => ({ identity, generation, last: '1' })

test('a change that was read counts as seen once the disk has it', async t => {
  const { disk, trust, writes, read } = start(t, { isForDisk: true })
  read()
  await writes.settings()
  await until(() => disk.asked === 1)
  await writes.confirmAbsence()
  assert.deepEqual([trust.seen!.generation, trust.isAhead], [10, true])
  assert.equal(writes.refusal, 'the Redis disk is too slow to confirm writes')
  disk.isSynced = true
  await writes.settings()
  await until(() => !trust.isAhead)
  assert.deepEqual([trust.seen!.generation, disk.asked], [11, 2])
})

test('where WAITAOF is not to be believed, a change counts as seen once the server has synced', async t => {
  const { disk, trust, writes, read } = start(t, { isForDisk: true, isValkey: true })
  read()
  await writes.settings()
  await until(() => disk.looked > 2)
  assert.deepEqual([trust.seen!.generation, trust.isAhead], [10, true])
  disk.isSynced = true
  const looked = disk.looked
  await until(() => !trust.isAhead)
  assert.deepEqual([trust.seen!.generation, disk.asked], [11, 0])
  assert.ok(disk.looked >= looked + 3)
})

test('writes that do not wait for the disk say nothing of what was read', async t => {
  const { trust, writes, read } = start(t, { isForDisk: false })
  await writes.settings()
  read()
  await writes.run(lua`return 1`, [], [])
  assert.deepEqual([trust.seen!.generation, trust.isAhead], [10, true])
})

test('a change that was only read has nothing wait for the disk that need not', async t => {
  const { disk, trust, writes, read } = start(t, { isForDisk: false })
  read()
  await writes.settings()
  await writes.run(lua`return 1`, [], [])
  assert.deepEqual([disk.asked, trust.isAhead], [0, true])
})

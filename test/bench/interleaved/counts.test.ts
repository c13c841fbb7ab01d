// What is read of strace, of the file of allocations, and of a paused wrk.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { sumOfSlots, withAllocations } from '../../../bench/interleaved/allocations.ts'
import { pausedWrk } from '../../../bench/interleaved/paused-load.ts'
import { gatehouse } from '../../../bench/load/peers/gatehouse.ts'
import { parseSummary } from '../../../bench/interleaved/system-calls.ts'
import { until } from '../../help/until.ts'

test('calls are read by name, with and without errors, and without their sum', () => {
  const table = [
    '% time     seconds  usecs/call     calls    errors syscall',
    '------ ----------- ----------- --------- --------- ----------------',
    ' 63.20    0.154321          12     12006           write',
    ' 36.80    0.101234           8     12010         4 read',
    '------ ----------- ----------- --------- --------- ----------------',
    '100.00    0.255555          10     24016         4 total',
  ]
  assert.deepEqual(
    [...parseSummary(table.join('\n'))],
    [
      ['write', 12006],
      ['read', 12010],
    ],
  )
})

test('the main thread is counted alone where it is asked for', async () => {
  const peer = withAllocations(gatehouse())
  const { env } = await peer.prepare(1, 2)
  const bytes = Buffer.alloc(16)
  bytes.writeDoubleLE(1000, 0)
  bytes.writeDoubleLE(234, 8)
  writeFileSync(env!.ALLOCATIONS!, bytes)
  assert.deepEqual([peer.allocated(), peer.allocated('main')], [1234, 1000])
})

test('the bytes of all threads are added up', () => {
  const bytes = Buffer.alloc(24)
  bytes.writeDoubleLE(1000, 0)
  bytes.writeDoubleLE(234, 16)
  assert.equal(sumOfSlots(bytes), 1234)
  assert.equal(sumOfSlots(Buffer.alloc(0)), 0)
})

const isInstalled = spawnSync('wrk', ['-v']).error === undefined

test('wrk sends while it is not paused, and counts what it sends', { skip: !isInstalled }, async t => {
  let requests = 0
  const server = createServer((_, response) => response.end(`${++requests}`)).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const wrk = pausedWrk({ port, mix: 'get', connections: 4 }, load => load.refused + load.broken)
  wrk.resume()
  await until(() => requests > 100)
  wrk.pause()
  // Each connection may have one request under way.
  await until(() => wrk.count - requests <= 4)
  assert.ok(wrk.count >= requests)
  assert.equal(await wrk.end(), 0)
})

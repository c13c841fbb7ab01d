// Reading /proc.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import {
  allowedProcessors,
  childrenOf,
  cpuTime,
  exactCpuTime,
  parseCpuTime,
  parseRefusedConnects,
  parseRunTime,
  parseResidentMemory,
  refusedConnects,
  residentMemory,
} from '../../../bench/load/proc.ts'

test('CPU time is user and system time, in microseconds', () => {
  assert.equal(
    parseCpuTime('42 (nginx) S 1 42 42 0 -1 4194624 96 0 0 0 150 50 0 0 20 0 1 0 7 8 9'),
    2_000_000,
  )
})

test('a process name with spaces and brackets does not shift the fields', () => {
  assert.equal(parseCpuTime('42 (a) b (c) 1 2) S 1 42 42 0 -1 4194624 96 0 0 0 1 2 0 0 20 0 1 0'), 30_000)
})

test('the nanoseconds of the scheduler are returned as microseconds', () => {
  assert.equal(parseRunTime('146147020 552463 20\n'), 146147.02)
  const before = exactCpuTime(process.pid)
  assert.ok(Math.abs(before - cpuTime(process.pid)) < 0.5 * before)
})

test('the processors of a process are read from ranges and single numbers', () => {
  assert.deepEqual(allowedProcessors('Name:\tnode\nCpus_allowed:\t8b\nCpus_allowed_list:\t0-1,3,7-9\n'), [
    ...[0, 1, 3, 7, 8, 9],
  ])
})

test('resident memory is read in MiB', () => {
  assert.equal(
    parseResidentMemory('Name:\tnode\nVmHWM:\t  90000 kB\nVmRSS:\t   65536 kB\nRssAnon:\t 1 kB\n'),
    64,
  )
  assert.ok(Number.isNaN(parseResidentMemory('Name:\tkthreadd\n')))
})

test('refused connections are found by the name of their column', () => {
  const snmp =
    'Ip: Forwarding AttemptFails\nIp: 1 9\nTcp: MaxConn ActiveOpens AttemptFails EstabResets\nTcp: -1 50 7 2\n'
  assert.equal(parseRefusedConnects(snmp), 7)
  assert.ok(Number.isNaN(parseRefusedConnects('Ip: Forwarding\nIp: 1\n')))
})

test('the running process can be read', () => {
  assert.ok(cpuTime(process.pid) > 0)
  assert.ok(residentMemory(process.pid) > 1)
  assert.ok(refusedConnects() >= 0)
})

test('the children of a process are found', async t => {
  const child = spawn('cat')
  t.after(() => child.kill())
  await once(child, 'spawn')
  assert.ok(childrenOf(process.pid).includes(child.pid!))
})

// What the bench reads of h2load.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRequestLog } from '../../../bench/load/h2load-output.ts'

test('requests are counted by what they came to, with their times', () => {
  const log = '1795400000000001\t200\t1500\n1795400000000002\t404\t500\n1795400000000003\t-1\t9000\n'
  const { requests, seconds, p50, p99, refused, broken } = parseRequestLog(log, 2)
  assert.deepEqual([requests, seconds, p50, p99, refused, broken], [3, 2, 1.5, 9, 1, 1])
})

test('a log without requests is no result', () => {
  assert.throws(() => parseRequestLog('', 1), /h2load logged no requests/)
})

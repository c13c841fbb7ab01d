// Reading the output of wrk.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseLoad } from '../../../bench/load/wrk-output.ts'

const LINE =
  '{"requests":3000,"duration":2000000,"p50":650,"p99":2060,"status":1000,"connect":1,"read":2,"write":3,"timeout":4}'

test('the result is found under what wrk prints for people, in seconds and milliseconds', () => {
  const load = parseLoad(`Running 2s test\n  1 threads and 64 connections\nRequests/sec: 1500.00\n${LINE}\n`)
  assert.deepEqual(load, {
    requests: 3000,
    seconds: 2,
    p50: 0.65,
    p99: 2.06,
    refused: 1000,
    broken: 6,
    late: 4,
  })
})

test('output without a result is an error that shows the output', () => {
  assert.throws(() => parseLoad('unable to connect to 127.0.0.1:1'), /unable to connect/)
})

test('a result that lacks a number is an error that names it', () => {
  assert.throws(() => parseLoad(LINE.replace('"p99":2060,', '')), /p99/)
  assert.throws(() => parseLoad(LINE.replace('650', '"650"')), /p50/)
})

test('any other output gives an error and never a load', () => {
  const output = fc.oneof(
    fc.string(),
    fc.json(),
    fc.json().map(json => `{"requests":${json}}`),
  )
  fc.assert(fc.property(output, output => assert.throws(() => parseLoad(output), Error)))
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Circuit } from '../../src/pools/circuit.ts'

const config = { failures: 3, base: 1_000, longest: 4_000 }

/** One that opened at a time by requests of its own. */
function openedAt(now: number): Circuit {
  const circuit = new Circuit(config)
  fail(circuit, now)
  return circuit
}

/** Lets as many requests fail as open it. */
function fail(circuit: Circuit, now: number): void {
  for (let i = 0; i < config.failures; i++) {
    const request = {}
    assert.ok(circuit.enter(request, now))
    assert.equal(circuit.failed(request, now), i === config.failures - 1)
  }
}

test('the first ejection lasts its time, however young the process is', () => {
  const circuit = openedAt(5)
  assert.deepEqual([circuit.stateAt(1_004), circuit.stateAt(1_005)], ['open', 'half_open'])
})

test('a response closes an open circuit alone, and once', () => {
  const circuit = new Circuit(config)
  const request = {}
  assert.ok(circuit.enter(request, 10))
  assert.equal(circuit.responded(request, 11), false)
  fail(circuit, 20)
  assert.ok(circuit.enter(request, 1_020))
  assert.deepEqual([circuit.responded({}, 1_030), circuit.isClosed], [false, false])
  assert.deepEqual([circuit.responded(request, 1_030), circuit.isClosed], [true, true])
  assert.equal(circuit.responded(request, 1_031), false)
})

test('a closed circuit admits all at a time, and takes as many failures as before to open', () => {
  const circuit = openedAt(0)
  const trial = {}
  assert.ok(circuit.enter(trial, 1_000))
  assert.equal(circuit.admits(1_000), false)
  assert.ok(circuit.responded(trial, 1_000))
  assert.ok(circuit.admits(1_000))
  fail(circuit, 1_000)
})

test('a failed trial opens a circuit once, and the next trial comes after the longer time', () => {
  const circuit = openedAt(0)
  const trial = {}
  assert.ok(circuit.enter(trial, 1_000))
  assert.deepEqual([circuit.failed(trial, 1_010), circuit.failed(trial, 1_010)], [true, false])
  assert.deepEqual([circuit.stateAt(3_009), circuit.stateAt(3_010)], ['open', 'half_open'])
})

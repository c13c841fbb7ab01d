// The fuzzer itself, on a parser with faults of each kind that it is to find.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { Attempts } from './engine/attempts.ts'
import { readInputs, writeInputs } from './engine/corpus-file.ts'
import { KeptMemory } from './engine/kept-memory.ts'
import { mutateEvents, mutateJson } from './engine/mutate-json.ts'
import { shrink } from './engine/shrink.ts'
import { randomOf, sameInPieces, type Target } from './target.ts'

const bytes = fc.uint8Array({ maxLength: 40 }).map(values => Buffer.from(values))

function targetOf(attempt: (input: Buffer) => void): Target {
  return { seeds: [], tokens: [], maxLength: 100, covers: [], attempt }
}

test('inputs are read from a file as they were written, the shortest first', t => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-fuzz-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'inputs.txt')
  fc.assert(
    fc.property(fc.array(bytes), inputs => {
      assert.equal(writeInputs(file, inputs), inputs.length)
      const sorted = inputs.toSorted((a, b) => a.length - b.length || Buffer.compare(a, b))
      assert.deepEqual(readInputs(file), sorted)
      assert.match(readFileSync(file, 'latin1'), /^[ -~\n]*$/)
      writeInputs(file, inputs, true)
      assert.deepEqual(readInputs(file), sorted)
    }),
  )
  assert.equal(writeInputs(file, [Buffer.alloc(40_000), Buffer.alloc(40_000), Buffer.from('a')]), 2)
})

test('an input shrinks to what a property needs of it', () => {
  const needs = (input: Buffer) => input.includes('a') && input.includes('bc')
  const input = Buffer.from(`${'x'.repeat(500)}a${'y'.repeat(300)}bc${'z'.repeat(100)}`)
  assert.equal(shrink(input, needs, 1_000).toString(), 'abc')
  assert.ok(shrink(input, needs, 5).length > 3)
})

test('what throws, takes too long or allocates too much is a fault', () => {
  const faults = (attempt: (input: Buffer) => void) => {
    const attempts = new Attempts(targetOf(attempt))
    return attempts.all([Buffer.from('a'), Buffer.from('b')]).map(({ input, detail }) => [`${input}`, detail])
  }
  const retained: Buffer[] = []
  assert.deepEqual(
    faults(() => {}),
    [],
  )
  const [[input, detail] = []] = faults(input => assert.notEqual(`${input}`, 'b'))
  assert.equal(input, 'b')
  assert.match(detail!, /^AssertionError/)
  const [slow] = faults(input => {
    const end = process.threadCpuUsage().user + (input.includes('b') ? 120_000 : 0)
    while (process.threadCpuUsage().user < end);
  })
  assert.match(slow!.join(': '), /^b: took \d+ ms of CPU$/)
  // On a busy machine, so much memory takes its time as well.
  const large = faults(input => void (input.includes('b') && retained.push(Buffer.alloc(70 * 2 ** 20, 1))))
  assert.match(large.at(-1)!.join(': '), /^b: allocated \d+ MiB$/)
})

test('what is kept of inputs is noticed, and what is not kept does not count', () => {
  const memory = new KeptMemory()
  memory.growth()
  const kept: number[][] = []
  const read = (megabytes: number, keep: (numbers: number[]) => void) => {
    for (let i = 0; i < megabytes; i++) keep(Array.from({ length: 2 ** 17 }, Math.random))
  }
  read(32, () => {})
  assert.ok(memory.growth() < 2 ** 20)
  read(32, numbers => kept.push(numbers))
  assert.ok(memory.growth() > 31 * 2 ** 20)
  assert.equal(kept.length, 32)
})

test('inputs that are slow together, but not one by one, run once', () => {
  let runs = 0
  const attempts = new Attempts(
    targetOf(() => {
      runs++
      const end = process.threadCpuUsage().user + 2_000
      while (process.threadCpuUsage().user < end);
    }),
  )
  assert.deepEqual(attempts.all(Array.from({ length: 100 }, () => Buffer.from('a'))), [])
  assert.ok(runs < 200, `${runs}`)
})

test('a reader that differs between the whole and its pieces is found', () => {
  const length = (pieces: readonly Buffer[]) => Buffer.concat(pieces).length
  const lines = (pieces: readonly Buffer[]) => pieces.flatMap(piece => `${piece}`.split('\r\n')).length
  for (const input of ['', 'a', 'a\r\nb\r\n', `${'a'.repeat(100)}\r\n`])
    sameInPieces(Buffer.from(input), length)
  assert.throws(() => sameInPieces(Buffer.from('a\r\nb'), lines))
  assert.throws(() => sameInPieces(Buffer.from('ab\r\n'.repeat(100)), lines))
})

test('JSON and the data of events stay JSON', () => {
  const random = randomOf(7)
  fc.assert(
    fc.property(fc.json(), fc.json(), (one, other) => {
      const text = mutateJson(one, other, random)
      if (text !== null) JSON.parse(text)
      const stream = mutateEvents(`event: a\ndata: ${one}\n\n`, `data: ${other}\n\n`, random)
      for (const [, data] of (stream ?? '').matchAll(/^data: (.*)$/gm)) JSON.parse(data!)
    }),
  )
  assert.equal(mutateJson('{', '{}', random), null)
})

test('the command names its targets, and replays inputs', () => {
  const run = (...given: readonly string[]) =>
    spawnSync(process.execPath, ['test/fuzz.ts', ...given], { encoding: 'utf8' })
  const unknown = run('nothing')
  assert.equal(unknown.status, 2)
  assert.match(unknown.stderr, /name a target, or all: http1-requests/)
  const replayed = run('cookies', '--replay', 'test/fuzz/corpus/cookies.txt')
  assert.equal(replayed.status, 0)
  assert.match(replayed.stdout, /^cookies: \d+ inputs, 0 faults$/m)
})

// The order of slices, and what a block says of each contestant.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mirrored, type Runner, runBlock } from '../../../bench/interleaved/blocks.ts'
import { answer, runBlocks } from '../../../bench/interleaved/run-blocks.ts'

test('each has two slices, at the same distance from the middle', () => {
  assert.deepEqual(mirrored(3), [0, 1, 2, 2, 1, 0])
})

test('a block has the CPU a request of each, while one alone is under load at a time', async () => {
  const [cheap, dear] = [contestant('cheap', 10), contestant('dear', 25)]
  const block = await runBlock([cheap, dear], 1)
  assert.equal(block.get('cheap')!.cost, 10)
  assert.equal(block.get('dear')!.cost, 25)
  assert.ok(block.get('dear')!.rate > 0)
  assert.equal(mostAtOnce, 1)
})

test('a contestant that responds to nothing is an error that names it', async () => {
  await assert.rejects(runBlock([contestant('dead', 1, 0)], 1), /^Error: dead responded to nothing/)
})

test('blocks run until every question is decided, or the limit is reached', async () => {
  const runners = [contestant('a', 20), contestant('b', 10)]
  const ask = (bound: number) => ({ name: 'a', base: 'b', metric: 'cost', bound }) as const
  const decided = await runBlocks(runners, [ask(3)], { slice: 1, maximumBlocks: 20 })
  assert.equal(decided.length, 10)
  assert.deepEqual([answer(ask(3), decided).verdict, answer(ask(3), decided).missing], ['below', 0])
  const noisy = [contestant('a', 20, 100, block => (block % 2 === 0 ? 2 : 0.5)), contestant('b', 20)]
  const given = await runBlocks(noisy, [ask(1)], { slice: 1, maximumBlocks: 12 })
  assert.equal(given.length, 12)
  const { verdict, missing, ratio } = answer(ask(1), given)
  assert.equal(verdict, 'undecided')
  assert.ok(missing > 0 && Math.abs(ratio - 1) < 0.01)
})

test('a run whose time is over ends with the blocks of its first look', async () => {
  const runners = [contestant('a', 20), contestant('b', 20)]
  const question = { name: 'a', base: 'b', metric: 'cost', bound: 1 } as const
  const late = await runBlocks(runners, [question], { slice: 1, maximumBlocks: 40, until: 0 })
  assert.equal(late.length, 10)
})

let atOnce = 0
let mostAtOnce = 0

/** One that has spent so much for each of a hundred requests a slice, by the number of its block. */
function contestant(name: string, cost: number, requests = 100, noise = (_block: number) => 1): Runner {
  let slices = 0
  let cpu = 0
  return {
    name,
    cpu: () => cpu,
    load: {
      get count() {
        return slices * requests
      },
      resume() {
        mostAtOnce = Math.max(mostAtOnce, ++atOnce)
      },
      pause() {
        atOnce--
        cpu += requests * cost * noise(slices++ >> 1)
      },
      end: async () => 0,
    },
  }
}

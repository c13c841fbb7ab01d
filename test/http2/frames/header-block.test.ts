import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BlockLimits, HeaderBlock } from '../../../src/http2/frames/header-block.ts'

const limits: BlockLimits = { bytes: 100_000, frames: 10 }

/** Adds pieces, each of which is in the middle of other bytes. */
function add(block: HeaderBlock, pieces: readonly string[], most = limits): (keyof BlockLimits | null)[] {
  return pieces.map(piece => block.add(Buffer.from(`--${piece}-`), 2, 2 + piece.length, most))
}

test('a block is what its frames hold, of any size and again and again', () => {
  const block = new HeaderBlock()
  for (const pieces of [
    ['a', '', 'bc'],
    [],
    ['d'.repeat(16_384), 'e', 'f'.repeat(40_000), 'g'.repeat(20_000)],
  ]) {
    block.begin(5, 4)
    assert.deepEqual([block.stream, block.flags], [5, 4])
    add(block, ['', ...pieces])
    assert.equal(block.take().toString(), pieces.join(''))
    assert.equal(block.stream, 0)
  }
})

test('a block that was taken stays as it is', () => {
  const block = new HeaderBlock()
  const taken = ['one', 'two'].map(text => {
    block.begin(1, 0)
    add(block, [text])
    return block.take()
  })
  assert.deepEqual(taken.map(String), ['one', 'two'])
})

test('a block has as many bytes and frames as are allowed, and no more', () => {
  for (const [pieces, results] of [
    [
      ['a'.repeat(5), 'b'.repeat(5)],
      [null, null],
    ],
    [
      ['a'.repeat(5), 'b'.repeat(6)],
      [null, 'bytes'],
    ],
    [
      ['a', 'b', 'c'],
      [null, null, null],
    ],
    [
      ['a', 'b', 'c', ''],
      [null, null, null, 'frames'],
    ],
  ] as const) {
    const block = new HeaderBlock()
    for (let round = 0; round < 2; round++) {
      block.begin(1, 0)
      assert.deepEqual(add(block, pieces, { bytes: 10, frames: 3 }), results)
    }
  }
})

test('a block that is dropped is not that of another stream', () => {
  const block = new HeaderBlock()
  block.begin(3, 0)
  add(block, ['old'])
  block.drop()
  assert.equal(block.stream, 0)
  block.begin(5, 0)
  add(block, ['new'])
  assert.equal(block.take().toString(), 'new')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstWindow, maxWindow, PeerSettings } from '../../../src/http2/frames/peer-settings.ts'
import { setting } from '../../../src/http2/frames/frames.ts'

/** Reads a frame of settings; behind it is one that is out of range. */
function read(peer: PeerSettings, ...pairs: readonly (readonly [id: number, value: number])[]) {
  const bytes = Buffer.alloc(7 + 6 * pairs.length + 6, 0xff)
  for (const [i, [id, value]] of [...pairs, [setting.enablePush, 9] as const].entries()) {
    bytes.writeUInt16BE(id, 7 + 6 * i)
    bytes.writeUInt32BE(value, 9 + 6 * i)
  }
  return peer.read(bytes, 7, 7 + 6 * pairs.length)
}

test('a peer that has set nothing has the settings of the RFC', () => {
  const peer = new PeerSettings(1)
  assert.deepEqual([firstWindow, maxWindow], [65_535, 2_147_483_647])
  assert.deepEqual(
    [peer.initialWindow, peer.maxConcurrentStreams, peer.limitsTable],
    [65_535, Number.POSITIVE_INFINITY, false],
  )
  assert.equal(read(peer), null)
})

test('the last value of a setting counts, and unknown ones do not', () => {
  const peer = new PeerSettings(1)
  const { initialWindowSize, maxConcurrentStreams, maxHeaderListSize } = setting
  assert.equal(
    read(peer, [initialWindowSize, 1], [99, 0xffff_ffff], [maxConcurrentStreams, 7], [initialWindowSize, 2]),
    null,
  )
  assert.deepEqual([peer.initialWindow, peer.maxConcurrentStreams], [2, 7])
  assert.equal(read(peer, [maxHeaderListSize, 0], [maxConcurrentStreams, 0]), null)
  assert.deepEqual([peer.initialWindow, peer.maxConcurrentStreams], [2, 0])
})

test('whether the table is limited is that of the last frame', () => {
  const peer = new PeerSettings(1)
  assert.deepEqual([read(peer, [setting.headerTableSize, 4_096]), peer.limitsTable], [null, true])
  assert.deepEqual([read(peer, [setting.enablePush, 0]), peer.limitsTable], [null, false])
})

test('values are refused beyond their limits, wherever they are in the frame', () => {
  const { enablePush, enableConnectProtocol, maxFrameSize, initialWindowSize } = setting
  for (const [id, value, flaw] of [
    [enablePush, 0, null],
    [enablePush, 1, null],
    [enablePush, 2, 'value'],
    [enableConnectProtocol, 1, null],
    [enableConnectProtocol, 2, 'value'],
    [maxFrameSize, 16_383, 'value'],
    [maxFrameSize, 16_384, null],
    [maxFrameSize, 16_777_215, null],
    [maxFrameSize, 16_777_216, 'value'],
    [initialWindowSize, 2_147_483_647, null],
    [initialWindowSize, 2_147_483_648, 'window'],
  ] as const) {
    assert.equal(read(new PeerSettings(1), [id, value]), flaw, `${id}, ${value}`)
    assert.equal(read(new PeerSettings(1), [99, 0], [id, value], [99, 0]), flaw, `${id}, ${value}`)
  }
  // A server must not enable push (RFC 9113 section 6.5.2).
  assert.deepEqual(
    [0, 1].map(value => read(new PeerSettings(0), [enablePush, value])),
    [null, 'value'],
  )
})

test('a frame has up to 64 settings', () => {
  const many = (count: number) => Array.from({ length: count }, () => [99, 0] as const)
  assert.equal(read(new PeerSettings(1), ...many(64)), null)
  assert.equal(read(new PeerSettings(1), ...many(65)), 'too_many')
})

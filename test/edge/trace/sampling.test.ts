import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { isSampled, tracingOf } from '../../../src/edge/trace/sampling.ts'

const isSampledAt = (sample: number, id: string) => isSampled(id, tracingOf({ continues: 'all', sample }))
const zero = '0'.repeat(14)
const most = 'f'.repeat(14)

test('nothing is sampled of a share of 0, and everything of 1', () => {
  for (const id of [zero, most, 'fffffffffffff0', '0123456789abcd']) {
    equal(isSampledAt(0, id), false)
    equal(isSampledAt(1, id), true)
  }
})

test('a trace is sampled whose 56 random bits reach the rejection threshold of the share', () => {
  // Those of consistent probability sampling for 1/2, 1/4, 1/16 and 1/100, written out.
  for (const [sample, threshold, before] of [
    [1 / 2, '80000000000000', '7fffffffffffff'],
    [1 / 4, 'c0000000000000', 'bfffffffffffff'],
    [1 / 16, 'f0000000000000', 'efffffffffffff'],
    [0.01, 'fd70a3d70a3d70', 'fd70a3d70a3d6f'],
  ] as const) {
    equal(isSampledAt(sample, threshold), true, `${sample} ${threshold}`)
    equal(isSampledAt(sample, before), false, `${sample} ${before}`)
    equal(isSampledAt(sample, most), true)
    equal(isSampledAt(sample, zero), false)
  }
})

test('only the last 14 digits decide, wherever they stand', () => {
  const half = '80000000000000'
  equal(isSampledAt(0.5, `00${half}`), true)
  equal(isSampledAt(0.5, `ff7${half.slice(1)}`), false)
  equal(isSampledAt(0.5, `${'0'.repeat(18)}${half}`), true)
})

test('a share that is too small for a number is none', () => {
  equal(isSampledAt(1e-20, most), false)
})

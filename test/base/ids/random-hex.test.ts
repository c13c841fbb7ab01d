import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { randomHex } from '../../../src/base/ids/random-hex.ts'

test('ids of any length are hex, and none comes twice, over many draws of random bytes', () => {
  const ids = new Set<string>()
  for (let i = 0; i < 3_000; i++) {
    const id = randomHex(i % 2 === 0 ? 16 : 32)
    match(id, i % 2 === 0 ? /^[0-9a-f]{16}$/ : /^[0-9a-f]{32}$/)
    ids.add(id)
  }
  equal(ids.size, 3_000)
})

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { RecentTokenFilter } from '../../src/tokens/recent-token-filter.ts'

const some = (count: number) => Array.from({ length: count }, () => randomBytes(48).toString('base64url'))

test('a token that was noted is familiar, and few others seem so', () => {
  const familiar = new RecentTokenFilter()
  const [noted, others] = [some(1_000), some(10_000)]
  assert.ok(!noted.some(token => familiar.has(token)))
  for (const token of noted) familiar.note(token)
  assert.ok(noted.every(token => familiar.has(token)))
  const seeming = others.filter(token => familiar.has(token)).length
  assert.ok(seeming < 1_000, `${seeming}`)
})

test('however many tokens are noted, most others are not familiar, and the last one is', () => {
  const familiar = new RecentTokenFilter()
  for (const token of some(100_000)) {
    familiar.note(token)
    assert.ok(familiar.has(token))
  }
  const seeming = some(10_000).filter(token => familiar.has(token)).length
  assert.ok(seeming < 3_000, `${seeming}`)
})

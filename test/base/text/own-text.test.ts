import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { memoizeTexts, ownText } from '../../../src/base/text/own-text.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

test('a copy reads as what it was copied from', () => {
  const latin1 = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map(code => String.fromCharCode(code)) })
  fc.assert(fc.property(latin1, text => assert.equal(ownText(text), text)))
})

test('short copies do not keep long texts alive', () => {
  collect()
  const before = process.memoryUsage().heapUsed
  const copies = Array.from({ length: 200 }, (_, i) => ownText(longText(i).slice(0, 40)))
  collect()
  const grown = process.memoryUsage().heapUsed - before
  assert.ok(grown < 2_000_000, `${copies.length} copies hold ${grown} bytes`)
})

test('the results of recent short texts are remembered', () => {
  const computed: string[] = []
  const results = [true, false, true, false, false, true, false, false]
  const isShort = memoizeTexts({ max: 2, maxLength: 3 }, text => computed.push(text) > 0 && text.length < 2)
  assert.deepEqual(['a', 'bb', 'a', 'ccc', 'bb', 'a', 'dddd', 'dddd'].map(isShort), results)
  assert.deepEqual(computed, ['a', 'bb', 'ccc', 'a', 'dddd', 'dddd'])
})

function longText(i: number): string {
  return Buffer.alloc(100_000, String(i)).toString('latin1')
}

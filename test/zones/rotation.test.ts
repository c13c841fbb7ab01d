import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { Rotation } from '../../src/zones/rotation.ts'

test('values are given in turn', () => {
  const rotation = new Rotation(['a', 'b'])
  equal([rotation.next(), rotation.next(), rotation.next()].join(''), 'aba')
})

test('there is none where there are no values', () => {
  equal(new Rotation([]).next(), null)
})

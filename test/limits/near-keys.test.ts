import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limitOf } from '../../src/limits/limit.ts'
import { Limiter } from '../../src/limits/limiter.ts'
import { joinNear } from '../../src/limits/near-keys.ts'
import { ManualClock } from '../help/clock.ts'

test('the ten keys with the most use of each limit are found, once a second at most', async () => {
  const clock = new ManualClock()
  const limiter = new Limiter({ clock })
  const [one, two] = ['one', 'two'].map(name => limitOf(name, 100, { kind: 'sliding', period: 60_000 }))
  const day = limitOf('day', 100, { kind: 'day' })
  for (let key = 0; key < 30; key++) for (let i = 0; i <= key; i++) limiter.spend(one!, `key ${key}`)
  limiter.spend(two!, 'x')
  for (let i = 0; i < 3; i++) limiter.spend(day, '')
  const of = async (limit: { name: string }) =>
    (await limiter.nearest()).filter(near => near.limit === limit.name)
  assert.deepEqual(
    (await of(one!)).map(({ key, used }) => [key, used]),
    Array.from({ length: 10 }, (_, i) => [`key ${29 - i}`, 30 - i]),
  )
  assert.deepEqual(
    [(await of(two!)).map(({ key }) => key), (await of(day)).map(({ used }) => used)],
    [['x'], [3]],
  )
  limiter.spend(two!, 'x')
  assert.equal((await of(two!))[0]!.used, 1)
  clock.advance(1_000)
  assert.equal((await of(two!))[0]!.used, 2)
  clock.advance(62_000)
  assert.deepEqual([(await of(one!)).length, (await of(day))[0]!.used], [0, 3])
  clock.advance(86_400_000)
  assert.deepEqual(await of(day), [])
})

test('a key has one row, whatever several processes report about it', () => {
  const near = { limit: 'one', key: 'a', storeKey: 'A', used: 3, unreported: 1 }
  const joined = joinNear([
    [near, { ...near, key: 'b', storeKey: 'B', used: 4 }],
    [{ ...near, used: 5, unreported: 2 }],
  ])
  assert.deepEqual(
    joined.map(({ key, used, unreported }) => [key, used, unreported]),
    [
      ['a', 5, 3],
      ['b', 4, 1],
    ],
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Replicas } from '../../../../src/store/redis/server/replicas.ts'
import type { Sentinels, View } from '../../../../src/store/redis/server/sentinels.ts'

const sight = { followers: 0, isBlind: false, nodes: null }
const follower = (name: string, offset = 10) => ({ name, offset })

function judged(view: Partial<View> | null): Replicas {
  const whole = view && { primary: { host: 'a', port: 1 }, epoch: 1, electable: [], spared: 0, ...view }
  return new Replicas({ view: whole } as unknown as Sentinels)
}

test('without Sentinels as many replicas are needed as were seen at one time', () => {
  const replicas = new Replicas(null)
  assert.equal(replicas.needed, 0)
  for (const [followers, needed] of [
    [2, 2],
    [0, 2],
    [3, 3],
    [1, 3],
  ] as const) {
    replicas.note({ ...sight, followers })
    assert.equal(replicas.needed, needed)
  }
})

test('with Sentinels all that could be chosen are needed, one at least, and nothing is known without most of them', () => {
  assert.equal(judged(null).needed, null)
  assert.equal(judged({}).needed, 1)
  assert.equal(judged({ electable: [['a:1'], ['a:2', 'b:2']] }).needed, 2)
})

test('in a cluster the replicas of the shard are needed that most primaries do not call failed', () => {
  const nodes = [
    'p1 :1@1 myself,master - 0 0 1 connected 0-5460',
    'r1 :2@2 slave p1 0 0 1 connected',
    'r2 :3@3 slave,fail? p1 0 0 1 connected',
    'r3 :4@4 slave,fail p1 0 0 1 connected',
    'r4 :5@5 slave p2 0 0 1 connected',
  ]
  const replicas = new Replicas(null)
  replicas.note({ ...sight, nodes: nodes.join('\n') })
  assert.equal(replicas.needed, 2)
  replicas.note({ ...sight, nodes: nodes[0]! })
  assert.equal(replicas.needed, 1, 'it had some')
  const alone = new Replicas(null)
  alone.note({ ...sight, nodes: nodes[0]! })
  assert.equal(alone.needed, 0)
})

test('a follower that nobody could choose counts for none that could be', () => {
  const replicas = judged({ electable: [['a:1'], ['a:2', 'b:2']] })
  assert.equal(replicas.haveAll([follower('a:1'), follower('b:2')], { offset: 10, confirmed: 2 }), true)
  assert.equal(replicas.haveAll([follower('a:1'), follower('far:9')], { offset: 10, confirmed: 2 }), false)
  assert.equal(
    replicas.haveAll([follower('a:1'), follower('a:2', 9), follower('far:9')], { offset: 10, confirmed: 2 }),
    false,
  )
  assert.equal(
    replicas.haveAll([follower('a:1'), follower('a:2'), follower('far:9', 0)], { offset: 10, confirmed: 2 }),
    true,
  )
})

test('a replica that could be chosen only since the proof was asked for has to have it, too', () => {
  const replicas = judged({ electable: [['a:1'], ['a:2']] })
  const proof = { offset: 10, confirmed: 1 }
  assert.equal(replicas.haveAll([follower('a:1')], proof), false)
  assert.equal(replicas.haveAll([follower('a:1'), follower('a:2', 9)], proof), false)
  assert.equal(replicas.haveAll([follower('a:1'), follower('a:2')], proof), true)
})

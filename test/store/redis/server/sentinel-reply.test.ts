import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type SentinelReply,
  replyOf,
  replicasIn,
  together,
} from '../../../../src/store/redis/server/sentinel-reply.ts'

const master = {
  ip: '10.0.0.1',
  port: '6379',
  'config-epoch': '7',
  'down-after-milliseconds': '500',
}

const replica = (name: string, more: Readonly<Record<string, string>> = {}) => ({
  name,
  runid: `id of ${name}`,
  flags: 'slave',
  'slave-priority': '100',
  'master-link-down-time': '0',
  ...more,
})

const flat = (fields: object) => Object.entries(fields).flat()

function reply(...replicas: readonly object[]): SentinelReply {
  return replyOf(['me', flat(master), replicas.map(flat), []])!
}

test('the replies of a Sentinel are read, as lists or as maps, and a failed one makes none of them', () => {
  const other = { runid: 'other', ip: '10.0.0.9', port: '26379', 'last-ok-ping-reply': '80' }
  const expected: SentinelReply = {
    id: 'me',
    primary: { host: '10.0.0.1', port: 6379 },
    epoch: 7,
    replicas: [{ name: '10.0.0.2:6379', id: 'id of 10.0.0.2:6379', isElectable: true }],
    others: [{ id: 'other', host: { host: '10.0.0.9', port: 26379 }, silence: 80 }],
  }
  const [replicas, others] = [[replica('10.0.0.2:6379')], [other]]
  const replies: readonly unknown[] = ['me', master, replicas, others]
  assert.deepEqual(replyOf(replies), expected)
  assert.deepEqual(replyOf(['me', flat(master), replicas.map(flat), others.map(flat)]), expected)
  for (let i = 0; i < replies.length; i++) assert.equal(replyOf(replies.with(i, new Error('ERR'))), null)
})

test('a replica is exempt when it cannot be chosen: down, of priority 0, or without its primary for long', () => {
  const isElectable = (more: Readonly<Record<string, string>>) =>
    reply(replica('a:1', more)).replicas[0]!.isElectable
  assert.equal(isElectable({}), true)
  assert.equal(isElectable({ flags: 'slave,disconnected' }), true)
  assert.equal(isElectable({ 'role-reported': 'master' }), true, 'it may be the next primary already')
  assert.equal(isElectable({ 'master-link-down-time': '5000' }), true)
  assert.equal(isElectable({ 'master-link-down-time': '5001' }), false)
  assert.equal(isElectable({ flags: 's_down,slave,disconnected' }), false)
  assert.equal(isElectable({ 'slave-priority': '0' }), false)
})

test('one Sentinel that could choose a replica is enough, and too few spare none', () => {
  const [good, down] = [replica('a:1'), replica('a:1', { flags: 's_down,slave' })]
  const electable = (most: number, ...replies: readonly SentinelReply[]) =>
    replicasIn(replies, most).electable.length
  assert.equal(electable(2, reply(down), reply(down)), 0)
  assert.equal(electable(2, reply(down), reply(good)), 1)
  assert.equal(electable(2, reply(down)), 1)
  assert.equal(electable(2, reply(), reply(good)), 1)
})

test('a Sentinel that is cut off may choose for as long as an election that it began lasts', () => {
  const down = replica('a:1', { flags: 's_down,slave' })
  const other = (runid: string, silence: number) => ({
    ...{ runid, ip: '10.0.0.9', port: '26379' },
    'last-ok-ping-reply': String(silence),
  })
  const view = (id: string, ...others: readonly object[]) =>
    replyOf([id, flat(master), [flat(down)], others.map(flat)])!
  const spared = (silenceToOne: number, silenceToAnother: number) =>
    replicasIn(
      [
        view('one', other('another', 80), other('away', silenceToOne)),
        view('another', other('one', 90), other('away', silenceToAnother)),
      ],
      2,
    ).spared
  assert.equal(spared(4_600, 4_700), 0)
  assert.equal(spared(17_001, 16_000), 0, 'one of them has heard of it')
  assert.equal(spared(17_001, 18_000), 1)
  assert.equal(spared(Number.NaN, 18_000), 0)
})

test('what a Sentinel said a second before the others is no agreement with them', () => {
  const asked = [{ askedAt: 4_999 }, { askedAt: 5_000 }, { askedAt: 4_000 }, { askedAt: 4_001 }]
  assert.deepEqual(together(asked), [{ askedAt: 4_999 }, { askedAt: 5_000 }, { askedAt: 4_001 }])
  assert.deepEqual(together([]), [])
})

test('a replica is counted once by its id or its name, whatever the others know of it', () => {
  const [byName, byId] = [replica('a:1', { runid: '' }), replica('b:1', { runid: 'id of a:1' })]
  const { electable } = replicasIn([reply(byName), reply(replica('a:1')), reply(byId)], 2)
  assert.deepEqual(
    electable.map(names => names.toSorted()),
    [['a:1', 'b:1']],
  )
  const names = fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { maxLength: 5 })
  fc.assert(
    fc.property(fc.array(names, { minLength: 1, maxLength: 5 }), views => {
      const replies = views.map(view => reply(...view.map(number => replica(`a:${number}`))))
      const found = replicasIn(replies, Math.floor(views.length / 2) + 1)
      assert.deepEqual(new Set(found.electable.flat()), new Set(views.flat().map(number => `a:${number}`)))
      assert.equal(found.electable.length, new Set(views.flat()).size)
      assert.equal(found.spared, 0)
    }),
  )
})

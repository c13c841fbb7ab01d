import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Answer, answerOf, replicasIn } from '../../../../src/store/redis/server/sentinel-answer.ts'

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

function answer(...replicas: readonly object[]): Answer {
  return answerOf(['me', flat(master), replicas.map(flat), []])!
}

test('the answers of a Sentinel are read, as lists or as maps, and a failed one makes none of them', () => {
  const other = { runid: 'other', ip: '10.0.0.9', port: '26379' }
  const expected: Answer = {
    id: 'me',
    primary: { host: '10.0.0.1', port: 6379 },
    epoch: 7,
    replicas: [{ name: '10.0.0.2:6379', id: 'id of 10.0.0.2:6379', isElectable: true }],
    others: [{ id: 'other', host: { host: '10.0.0.9', port: 26379 } }],
  }
  const [replicas, others] = [[replica('10.0.0.2:6379')], [other]]
  const replies: readonly unknown[] = ['me', master, replicas, others]
  assert.deepEqual(answerOf(replies), expected)
  assert.deepEqual(answerOf(['me', flat(master), replicas.map(flat), others.map(flat)]), expected)
  for (let i = 0; i < replies.length; i++) assert.equal(answerOf(replies.with(i, new Error('ERR'))), null)
})

test('a replica is exempt when it cannot be chosen: down, of priority 0, or without its primary for long', () => {
  const isElectable = (more: Readonly<Record<string, string>>) =>
    answer(replica('a:1', more)).replicas[0]!.isElectable
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
  const electable = (most: number, ...answers: readonly Answer[]) =>
    replicasIn(answers, most).electable.length
  assert.equal(electable(2, answer(down), answer(down)), 0)
  assert.equal(electable(2, answer(down), answer(good)), 1)
  assert.equal(electable(2, answer(down)), 1)
  assert.equal(electable(2, answer(), answer(good)), 1)
})

test('a replica is counted once by its id or its name, whatever the others know of it', () => {
  const [byName, byId] = [replica('a:1', { runid: '' }), replica('b:1', { runid: 'id of a:1' })]
  const { electable } = replicasIn([answer(byName), answer(replica('a:1')), answer(byId)], 2)
  assert.deepEqual(
    electable.map(names => names.toSorted()),
    [['a:1', 'b:1']],
  )
  const names = fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { maxLength: 5 })
  fc.assert(
    fc.property(fc.array(names, { minLength: 1, maxLength: 5 }), views => {
      const answers = views.map(view => answer(...view.map(number => replica(`a:${number}`))))
      const found = replicasIn(answers, Math.floor(views.length / 2) + 1)
      assert.deepEqual(new Set(found.electable.flat()), new Set(views.flat().map(number => `a:${number}`)))
      assert.equal(found.electable.length, new Set(views.flat()).size)
      assert.equal(found.spared, 0)
    }),
  )
})

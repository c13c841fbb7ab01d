import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { factsOf } from '../../../../src/store/redis/server/server-facts.ts'

const hello = ['server', 'redis', 'version', '7.0.15', 'role', 'master']
const denied = new Error('NOPERM')

test('role, history and the replicas that are online are read from INFO', () => {
  const info = [
    '# Replication',
    'role:master',
    'connected_slaves:2',
    'slave0:ip=10.0.0.2,port=6379,state=online,offset=90,lag=1',
    'slave1:ip=10.0.0.3,port=6379,state=wait_bgsave,offset=0,lag=0',
    'master_replid:abc',
    'master_replid2:def',
    'master_repl_offset:100',
    'second_repl_offset:71',
  ].join('\r\n')
  assert.deepEqual(factsOf([info, hello]), {
    role: 'primary',
    runId: null,
    history: 'abc',
    offset: 100,
    former: { history: 'def', offset: 70 },
    replicas: [{ name: '10.0.0.2:6379', offset: 90 }],
  })
  assert.equal(factsOf([info.replace('role:master', 'role:slave'), hello])?.role, 'replica')
  assert.equal(factsOf([info.replace('offset:71', 'offset:-1'), hello])?.former, null)
})

test('if INFO is denied, ROLE reports the online replicas, and no history', () => {
  const replicas = [['10.0.0.2', '6379', '90']]
  const none = { runId: null, history: null, former: null }
  assert.deepEqual(factsOf([['master', 100, replicas], hello]), {
    ...none,
    role: 'primary',
    offset: 100,
    replicas: [{ name: '10.0.0.2:6379', offset: 90 }],
  })
  const replica = ['slave', '10.0.0.1', 6379, 'connected', 90]
  const facts = { ...none, role: 'replica', offset: 0, replicas: null }
  assert.deepEqual(factsOf([replica, hello]), facts)
  assert.equal(factsOf([['sentinel', ['main']], denied]), null)
})

test('if both are denied, HELLO reports the role, and replicas are unknown', () => {
  const facts = { role: 'primary', runId: null, history: null, offset: 0, former: null, replicas: null }
  assert.deepEqual(factsOf([denied, hello]), facts)
  assert.equal(factsOf([denied, hello.with(-1, 'replica')])?.role, 'replica')
  assert.equal(factsOf([denied, denied]), null)
  assert.equal(factsOf(['# Server\r\n', hello.with(-1, 'sentinel')]), null)
})

test('no text makes a server a primary that does not say so', () => {
  const line = fc.stringMatching(/^[ -~]{0,20}$/).filter(text => text !== 'role:master')
  fc.assert(
    fc.property(fc.array(line), lines => {
      assert.notEqual(factsOf([lines.join('\r\n'), denied])?.role, 'primary')
    }),
  )
})

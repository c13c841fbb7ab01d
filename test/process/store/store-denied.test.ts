import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { aclLine } from '../../help/acl.ts'
import { startGateway } from '../../help/gateway.ts'
import { startRedis } from '../../help/redis.ts'
import { until } from '../../help/until.ts'

test('a right that is taken from a running gateway is named in the log', async t => {
  const redis = await startRedis(t)
  await redis.ask('ACL', 'SETUSER', ...aclLine('limited', 'secret'))
  const url = `redis://limited:secret@127.0.0.1:${redis.port}`
  const gateway = await startGateway(
    t,
    `zones: []\nai: { hosts: [127.0.0.1] }\nstore: { url: '${url}', command_timeout: 2s }`,
  )
  const { account, token } = await gateway.firstStart
  await redis.ask('ACL', 'SETUSER', 'limited', '-xadd')
  let made = 0
  const create = async () => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const path = `${gateway.admin}/client/v4/accounts/${account}/ai-gateway/gateways`
    return (await fetch(path, { method: 'POST', headers, body: `{"id":"g${made++}"}` })).status
  }
  const denial = gateway.logged(
    'Redis denies user limited XADD on the keys {gatehouse*: records, logs and counters that need them are refused. Grant ~{gatehouse* and +xadd with ACL SETUSER.',
  )
  const asking = setInterval(create, 100)
  t.after(() => clearInterval(asking))
  await denial
  // Whoever looks once a second sees it while writes go on being refused.
  await gateway.logged(
    'store does not confirm writes',
    ({ reason }) => reason === 'Redis refuses them: NOPERM',
  )
  clearInterval(asking)
  const { length } = gateway.lines
  // Proofs succeed all the while.
  for (let i = 0; i < 30; i++) {
    const ready = await fetch(`${gateway.admin}/readyz`).then(response => response.json())
    const reason = 'store does not confirm writes: Redis refuses them: NOPERM'
    assert.deepEqual(ready, { status: 'degraded', reason })
    await sleep(100)
  }
  const told = gateway.lines.slice(length).map(({ msg }) => msg)
  assert.deepEqual(
    told.filter(msg => msg.startsWith('store')),
    [],
  )
  await redis.ask('ACL', 'SETUSER', 'limited', '+xadd')
  await gateway.logged('store confirms writes again')
  assert.equal(await create(), 200)
})

test('a running gateway whose Redis comes back without what it needs serves, says what is missing, and recovers', async t => {
  const redis = await startRedis(t)
  await redis.ask('ACL', 'SETUSER', ...aclLine('limited', 'secret'))
  const url = `redis://limited:secret@127.0.0.1:${redis.port}`
  const gateway = await startGateway(
    t,
    `zones: []\nworkers: 2\nstore: { url: '${url}', command_timeout: 2s }`,
  )
  const { account, token } = await gateway.firstStart
  const readyz = async () => {
    const response = await fetch(`${gateway.admin}/readyz`)
    return { code: response.status, ...((await response.json()) as { status: string }) }
  }
  await redis.ask('ACL', 'SETUSER', 'limited', '-xadd')
  await redis.ask('CLIENT', 'KILL', 'USER', 'limited')
  const reason = 'the Redis server cannot be the store: it denies user limited XADD on the keys {gatehouse*'
  await gateway.logged('store not trusted', line => line.code === 'server_unfit' && line.reason === reason)
  const next = 'Grant ~{gatehouse* and +xadd with ACL SETUSER'
  assert.deepEqual(await readyz(), { code: 200, status: 'degraded', reason, next })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const path = `${gateway.admin}/client/v4/accounts/${account}/ai-gateway/gateways`
  const refused = await fetch(path, { method: 'POST', headers, body: '{"id":"one"}' })
  assert.equal(refused.status, 503)
  assert.equal((await fetch(gateway.edge)).status, 403)
  await redis.ask('ACL', 'SETUSER', 'limited', '+xadd')
  await gateway.logged('store trusted again', line => line.code === 'server_unfit')
  const made = async () =>
    (await fetch(path, { method: 'POST', headers, body: '{"id":"one"}' })).status === 200
  await until(made)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keys } from '../../../src/store/redis/keys.ts'
import { startRedis } from '../../help/redis.ts'
import { account, accessRuleList, gateway, oauthClient, token, verification } from '../contract-specimens.ts'
import { openRedis } from './open.ts'

test('versions go on where the clock goes back, also in what is told of changes', async t => {
  const server = await startRedis(t)
  const store = await openRedis(t, server.url)
  const ahead = (Date.now() + 3_600_000) * 1000
  await server.ask('SET', keys.version, ahead)
  const first = token()
  assert.ok(await store.tokens.insert(first))
  const versionOf = async () => (await store.tokens.get(first.account, first.id))!.version
  assert.equal(await versionOf(), ahead + 1)
  for (let i = 2; i < 5; i++) {
    assert.ok(await store.tokens.replace({ ...first, name: `name ${i}` }, ahead + i - 1))
    assert.equal(await versionOf(), ahead + i)
    // What was read before is not what stands there now.
    assert.ok(!(await store.tokens.replace(first, ahead + i - 1)))
  }
  const changes = (await server.ask('XRANGE', keys.changes, '-', '+')) as [string, unknown][]
  assert.deepEqual(
    changes.map(([version]) => version),
    [1, 2, 3, 4].map(i => `${ahead + i}-0`),
  )
})

test('a digest is of one token, and free again once that is gone or has another', async t => {
  const server = await startRedis(t)
  const store = await openRedis(t, server.url)
  const digest = 'd'.repeat(64)
  const [first, second] = [token({ digest }), token({ digest })]
  assert.ok(await store.tokens.insert(first))
  assert.ok(!(await store.tokens.insert(second)))
  const other = token()
  assert.ok(await store.tokens.insert(other))
  const { version } = (await store.tokens.get(other.account, other.id))!
  assert.ok(!(await store.tokens.replace({ ...other, digest }, version)))
  assert.ok(await store.tokens.remove(first.account, first.id))
  assert.ok(await store.tokens.insert(second))
})

test('a record that is removed leaves its version, and a gateway its grave, but nothing else', async t => {
  const server = await startRedis(t)
  const store = await openRedis(t, server.url)
  const before = new Set((await server.ask('KEYS', '*')) as string[])
  const owner = account()
  const [aToken, aGateway] = [token({ account: owner.id }), gateway({ account: owner.id })]
  const client = oauthClient({ account: owner.id, verification: verification({ nextCheckAt: 1 }) })
  const list = accessRuleList()
  assert.ok(await store.tokens.insert(aToken))
  assert.ok(
    await store.tokens.replace(
      { ...aToken, digest: 'e'.repeat(64) },
      (await store.tokens.get(owner.id, aToken.id))!.version,
    ),
  )
  assert.equal(await store.tokens.findByDigest(aToken.digest), null)
  assert.ok(await store.gateways.insert(aGateway))
  assert.ok(await store.oauthClients.insert(client))
  assert.ok(await store.accessRules.insert(list))
  assert.ok(await store.tokens.remove(owner.id, aToken.id))
  assert.ok(await store.gateways.remove(owner.id, aGateway.id))
  assert.ok(await store.oauthClients.remove(owner.id, client.id))
  assert.ok(await store.accessRules.remove(list.account, list.id))
  const left = (await server.ask('KEYS', '*')) as string[]
  assert.deepEqual(left.filter(key => !before.has(key)).toSorted(), [keys.changes, keys.graves, keys.version])
  assert.equal(await server.ask('ZCARD', keys.graves), 1)
})

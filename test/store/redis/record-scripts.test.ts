import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keys } from '../../../src/store/redis/server/keys.ts'
import { startRedis } from '../../help/redis.ts'
import {
  account,
  accessRuleList,
  gateway,
  identity,
  member,
  oauthClient,
  oauthGrant,
  token,
  user,
  verification,
} from '../contract-specimens.ts'
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

test('a record that is removed leaves its version and the mark of the store, and a gateway its grave, but nothing else', async t => {
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
  const all = [keys.changes, keys.graves, keys.mark, keys.version]
  assert.deepEqual(left.filter(key => !before.has(key)).toSorted(), all)
  assert.equal(await server.ask('ZCARD', keys.graves), 1)
})

test('records as the versions before people wrote them are found, changed and removed', async t => {
  const server = await startRedis(t)
  const [old, client, owner] = [token(), oauthClient(), account()]
  await server.ask('SET', keys.format, 1)
  await server.ask('HSET', keys.accounts, owner.id, JSON.stringify(owner))
  await server.ask('SET', keys.version, 7_000)
  for (const [kind, { account, id }, digest, json] of [
    ['token', old, old.digest, JSON.stringify(old)],
    ['oauth_client', client, '-', JSON.stringify(client)],
  ] as const) {
    await server.ask('HSET', keys.records(kind), `${account}/${id}`, `7000 6000 ${digest} ${json}`)
    await server.ask('ZADD', keys.order(kind, account), 1, id)
  }
  await server.ask('HSET', '{gatehouse}:digests', old.digest, `${old.account}/${old.id}`)
  const { accounts, tokens, oauthClients } = await openRedis(t, server.url)
  assert.deepEqual(await tokens.findByDigest(old.digest), old)
  assert.deepEqual(await oauthClients.get(client.account, client.id), { record: client, version: 7_000 })
  const rolled = { ...old, digest: 'a'.repeat(64) }
  assert.ok(await tokens.replace(rolled, 7_000))
  assert.equal(await tokens.findByDigest(old.digest), null)
  assert.deepEqual(await tokens.findByDigest(rolled.digest), rolled)
  assert.ok(await oauthClients.replace({ ...client, name: 'Changed' }, 7_000))
  assert.ok(await tokens.remove(old.account, old.id))
  assert.ok(await oauthClients.remove(client.account, client.id))
  assert.ok(await accounts.update(owner.id, { enforceTwoFactor: true }))
  assert.deepEqual(await accounts.list(), [{ ...owner, enforceTwoFactor: true }])
  assert.equal(await server.ask('EXISTS', '{gatehouse}:digests', keys.records('token')), 0)
})

test('people who are removed leave none of what found them', async t => {
  const server = await startRedis(t)
  const store = await openRedis(t, server.url)
  const before = new Set((await server.ask('KEYS', '*')) as string[])
  const [person, grant] = [user({ identity: identity() }), oauthGrant()]
  const joined = member({ user: person.id })
  assert.ok(await store.users.insert(person))
  assert.ok(await store.members.insert(joined))
  assert.ok(await store.oauthGrants.insert(grant))
  const { version } = (await store.members.get(joined.account, joined.id))!
  assert.ok(await store.members.replace({ ...joined, isSuper: true }, version))
  const led = (await store.members.get(joined.account, joined.id))!.version
  const another = member({ account: joined.account, isSuper: true })
  assert.ok(await store.members.insert(another))
  assert.ok(await store.members.replace(joined, led))
  assert.ok(await store.users.remove(person.account, person.id))
  assert.ok(await store.members.remove(joined.account, joined.id))
  assert.ok(await store.oauthGrants.remove(grant.account, grant.id))
  const left = ((await server.ask('KEYS', '*')) as string[]).filter(key => !before.has(key)).toSorted()
  const ofMembers = [
    keys.groups('member'),
    keys.records('member'),
    keys.order('member', joined.account),
    keys.names('member'),
  ]
  assert.deepEqual(left, [keys.changes, keys.mark, keys.version, ...ofMembers].toSorted())
  assert.equal(await server.ask('ZCARD', keys.groups('member')), 2)
  assert.equal(await server.ask('HLEN', keys.names('member')), 1)
})

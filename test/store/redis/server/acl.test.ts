import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { aclRules, clusterRules, recordsQuestion } from '../../../../src/store/redis/server/acl.ts'
import type { RedisStore } from '../../../../src/store/redis/redis-store.ts'
import { type Store, StoreUnreachable } from '../../../../src/store/contract/store.ts'
import { aclLine, deniedOn } from '../../../help/acl.ts'
import { readPage } from '../../../help/docs.ts'
import { type RedisServer, startCluster, startRedis } from '../../../help/redis.ts'
import { until } from '../../../help/until.ts'
import { methods, openRedis } from '../open.ts'

/** Opens a store as a user with the rights of the documentation. */
async function openAs(t: TestContext, server: RedisServer): Promise<RedisStore> {
  await server.ask('ACL', 'SETUSER', ...aclLine('limited', 'secret'))
  return openRedis(t, `redis://limited:secret@127.0.0.1:${server.port}`, 2_000)
}

test('docs/operations.md grants the rights that the store needs', () => {
  const { text } = readPage('docs/operations.md')
  assert.ok(text.includes(`\nACL SETUSER gatehouse reset on >PASSWORD ${aclRules.join(' ')}\n`))
  assert.ok(text.includes(`\`${clusterRules.join(' ')}\``))
})

test('each command that a server is asked about has as many arguments as it takes: others it may not know', async t => {
  const server = await startRedis(t)
  const words = recordsQuestion.slice(3)
  let asked = 0
  for (let at = 0; at < words.length; asked++) {
    const length = Number(words[at])
    const name = String(words[at + 1])
    const [info] = (await server.ask('COMMAND', 'INFO', name)) as [[name: string, arity: number]]
    const [, arity] = info
    assert.ok(arity > 0 ? length === arity : length >= -arity, `${name} takes ${arity}, not ${length}`)
    at += length + 1
  }
  assert.ok(asked > 30)
})

test('a user with the rights of the documentation is denied nothing, whatever is asked', async t => {
  const server = await startRedis(t)
  const store = await openAs(t, server)
  assert.deepEqual(await store.rights(), [])
  await askAll(store)
  assert.deepEqual(await deniedOn(server), [])
})

test('a user with the rights of the documentation and those of a cluster is denied nothing there', async t => {
  const nodes = await startCluster(t)
  const user = aclLine('limited', 'secret')
  for (const node of nodes) await node.ask('ACL', 'SETUSER', ...user, ...clusterRules)
  const url = `redis+cluster://limited:secret@127.0.0.1:${nodes[0]!.port}`
  const store = await openRedis(t, url, 10_000)
  await until(() => !store.isUnreachable)
  assert.deepEqual(await store.rights(), [])
  await askAll(store)
  for (const node of nodes) assert.deepEqual(await deniedOn(node), [])
  for (const node of nodes) await node.ask('ACL', 'SETUSER', 'limited', '-cluster|slots')
  const blind = await openRedis(t, url, 1_000)
  assert.equal(blind.isUnreachable, true)
  assert.deepEqual(await blind.rights(), [
    'Redis denies user limited CLUSTER SLOTS: cluster nodes cannot be found. Grant +cluster|slots with ACL SETUSER.',
  ])
})

const refused = 'records, logs and counters that need them are refused'
const late = 'changes take up to a second to reach other processes'
const unknown = 'the durability of writes is unknown'
const denials: readonly [rules: readonly string[], expected: string][] = [
  [['-hset'], `HSET on the keys {gatehouse*: ${refused}. Grant ~{gatehouse* and +hset with ACL SETUSER.`],
  [['-eval'], `EVAL on the keys {gatehouse*: ${refused}. Grant ~{gatehouse* and +eval with ACL SETUSER.`],
  [
    ['resetkeys', '~other:*'],
    `every command on the keys {gatehouse*: ${refused}. Grant ~{gatehouse* and the commands listed in docs/operations.md with ACL SETUSER.`,
  ],
  [
    ['resetchannels'],
    `PUBLISH and SUBSCRIBE on the channel {gatehouse}:changes: ${late}. Grant &{gatehouse}:changes, +publish and +subscribe with ACL SETUSER.`,
  ],
  [
    ['-info', '-config|get'],
    `INFO and CONFIG GET: ${unknown}. Grant +info and +config|get with ACL SETUSER.`,
  ],
  [['-wait'], 'WAIT: writes that replicas must confirm are refused. Grant +wait with ACL SETUSER.'],
]

for (const [rules, expected] of denials)
  test(`for a user with ${rules.join(' ')} the consequences are reported`, async t => {
    const server = await startRedis(t)
    const store = await openAs(t, server)
    await server.ask('ACL', 'SETUSER', 'limited', ...rules)
    assert.deepEqual(await store.rights(), [`Redis denies user limited ${expected}`])
  })

test('an unreachable server, or a wrong password, reports nothing about rights', async t => {
  const server = await startRedis(t, { args: ['--requirepass', 'right'] })
  const store = await openRedis(t, `redis://:wrong@127.0.0.1:${server.port}`)
  await assert.rejects(store.rights(), StoreUnreachable)
  await server.kill()
  await assert.rejects(store.rights(), StoreUnreachable)
})

async function askAll(store: Store): Promise<void> {
  for (const ask of Object.values(methods)) await ask(store)
  await store.confirm()
}

// Many callers change one client at the same moment, on each store.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startRedis } from '../../help/redis.ts'
import { account } from '../../tokens/token-with.ts'
import { startApi } from '../api.ts'
import { bodyOfClient } from './client-bodies.ts'
import { meet } from '../../help/meet.ts'

const path = '/oauth_clients'

async function startWithClient(t: TestContext, url: string) {
  const api = await startApi(t, store => store, url)
  const { json } = await api.ask('POST', path, { body: bodyOfClient() })
  const own = `${path}/${json.result.client_id}`
  const record = async () => (await api.kept.oauthClients.get(account, json.result.client_id))!.record
  const audited = async () => (await api.ask('GET', '/audit_logs')).json.result_info.total_count
  const meetAtClient = (count: number) => meet(t, api.kept.oauthClients, 'get', count)
  return { ...api, own, record, audited, meetAtClient }
}

const times = <T>(count: number, ask: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => ask(i)))

const countOf = (replies: readonly { readonly status: number }[], status: number) =>
  replies.filter(reply => reply.status === status).length

const stores: Readonly<Record<string, (t: TestContext) => Promise<string>>> = {
  SQLite: async () => 'sqlite::memory:',
  Redis: async t => (await startRedis(t)).url,
}

for (const [name, urlOf] of Object.entries(stores)) {
  test(`${name}: of 50 simultaneous rotations one succeeds, and the others change nothing`, async t => {
    const { ask, own, record, audited, meetAtClient } = await startWithClient(t, await urlOf(t))
    const [first] = (await record()).secrets
    meetAtClient(50)
    const replies = await times(50, () => ask('POST', `${own}/rotate_secret`))
    assert.deepEqual([countOf(replies, 200), countOf(replies, 409)], [1, 49])
    const { secrets, revision } = await record()
    assert.deepEqual([secrets.length, secrets[1], revision, await audited()], [2, first, 2, 2])
    const { client_secret } = replies.find(({ status }) => status === 200)!.json.result
    assert.equal(client_secret.slice(-4), secrets[0]?.tail)
  })

  test(`${name}: of 20 simultaneous deletions of the old secret one succeeds, and the new secret stays`, async t => {
    const { ask, own, record, audited, meetAtClient } = await startWithClient(t, await urlOf(t))
    await ask('POST', `${own}/rotate_secret`)
    const [young] = (await record()).secrets
    meetAtClient(20)
    const replies = await times(20, () => ask('DELETE', `${own}/rotate_secret`))
    assert.deepEqual([countOf(replies, 200), countOf(replies, 404)], [1, 19])
    assert.deepEqual([(await record()).secrets, await audited()], [[young], 3])
  })

  test(`${name}: simultaneous changes of different members are all kept`, async t => {
    const { ask, own, record, audited, meetAtClient } = await startWithClient(t, await urlOf(t))
    const bodies = [
      { client_name: 'Renamed' },
      { logo_uri: 'https://app.example.com/logo.png' },
      { policy_uri: 'https://app.example.com/policy' },
      { tos_uri: 'https://app.example.com/terms' },
      { allowed_cors_origins: ['https://app.example.com'] },
      { scopes: ['ai_gateway.edit'] },
      { redirect_uris: ['https://app.example.com/other'] },
      { grant_types: ['authorization_code', 'refresh_token'] },
    ]
    meetAtClient(bodies.length)
    const replies = await times(bodies.length, i => ask('PATCH', own, { body: bodies[i] }))
    assert.equal(countOf(replies, 200), bodies.length)
    const { result } = (await ask('GET', own)).json
    for (const [member, value] of Object.entries(
      Object.assign({}, ...bodies, { scopes: ['ai_gateway.edit', 'offline_access'] }),
    ))
      assert.deepEqual(result[member], value, member)
    assert.deepEqual([(await record()).revision, await audited()], [1 + bodies.length, 1 + bodies.length])
  })

  test(`${name}: of 20 simultaneous changes with the same If-Match one succeeds, and the others get 412`, async t => {
    const { ask, own, record, meetAtClient } = await startWithClient(t, await urlOf(t))
    const headers = { 'if-match': '"1"' }
    meetAtClient(20)
    const replies = await times(20, i => ask('PATCH', own, { body: { client_name: `by ${i}` }, headers }))
    assert.deepEqual([countOf(replies, 200), countOf(replies, 412)], [1, 19])
    const winner = replies.findIndex(({ status }) => status === 200)
    assert.deepEqual([(await record()).name, (await record()).revision], [`by ${winner}`, 2])
  })

  test(`${name}: of a simultaneous change and deletion with the same If-Match one succeeds`, async t => {
    const { ask, own, record, meetAtClient } = await startWithClient(t, await urlOf(t))
    const headers = { 'if-match': '"1"' }
    meetAtClient(2)
    const [changed, deleted] = await Promise.all([
      ask('PATCH', own, { body: { client_name: 'Renamed' }, headers }),
      ask('DELETE', own, { headers }),
    ])
    if (changed.status === 200) assert.deepEqual([deleted.status, (await record()).name], [412, 'Renamed'])
    else assert.deepEqual([changed.status, deleted.status], [404, 200])
  })

  test(`${name}: 20 simultaneous creations with one Idempotency-Key create one client and get the same response`, async t => {
    const { ask, kept, audited } = await startWithClient(t, await urlOf(t))
    const headers = { 'idempotency-key': 'the one' }
    const replies = await times(20, () => ask('POST', path, { body: bodyOfClient(), headers }))
    assert.equal(countOf(replies, 200), 20)
    assert.equal(new Set(replies.map(({ json }) => JSON.stringify(json))).size, 1)
    assert.equal(replies.filter(reply => reply.headers.has('idempotency-replayed')).length, 19)
    assert.equal((await kept.oauthClients.list(account, { offset: 0, limit: 1 })).total, 2)
    assert.equal(await audited(), 2)
  })

  test(`${name}: 20 simultaneous rotations with one Idempotency-Key create one secret`, async t => {
    const { ask, own, record } = await startWithClient(t, await urlOf(t))
    const headers = { 'idempotency-key': 'the one' }
    const replies = await times(20, () => ask('POST', `${own}/rotate_secret`, { headers }))
    assert.equal(countOf(replies, 200), 20)
    assert.equal(new Set(replies.map(({ json }) => json.result.client_secret)).size, 1)
    assert.equal((await record()).secrets.length, 2)
  })

  test(`${name}: a client that is deleted during changes stays deleted`, async t => {
    const { ask, own, meetAtClient } = await startWithClient(t, await urlOf(t))
    meetAtClient(20)
    const replies = await times(20, i =>
      i % 5 === 4 ? ask('DELETE', own) : ask('PATCH', own, { body: { client_name: `by ${i}` } }),
    )
    assert.ok(replies.every(({ status }) => status === 200 || status === 404))
    assert.equal(
      countOf(
        replies.filter((_, i) => i % 5 === 4),
        200,
      ),
      1,
    )
    assert.equal((await ask('GET', own)).status, 404)
  })
}

// A gateway is killed while it clears away what a deleted client leaves behind; the next one ends the rest.

import assert from 'node:assert/strict'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { openStore } from '../../src/store/open.ts'
import { bodyOfClient } from '../admin/oauth-clients/client-bodies.ts'
import { spawnGateway, main, writeConfig } from '../help/gateway.ts'
import { until } from '../help/until.ts'

const count = 400

test('kill -9 while grants are ended: none is left after the next start, and each is told once', async t => {
  const file = writeConfig(t, 'zones: []')
  const GATEHOUSE_DATA = join(dirname(file), 'data')
  const options = { env: { ...process.env, GATEHOUSE_DATA } }
  const start = () => spawnGateway(t, [main, 'start', '--config', file], options, file)
  const first = await start()
  const { account, token } = await first.firstStart
  const ask = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${first.admin}/client/v4/accounts/${account}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return response.json() as Promise<{ success: boolean; result: { client_id: string } }>
  }
  const { client_id: client } = (await ask('POST', '/oauth_clients', bodyOfClient())).result
  const store = await openStore(`sqlite:${GATEHOUSE_DATA}/gatehouse.db`, { commandTimeout: 10_000 })
  t.after(() => store.close())
  const grantOf = (i: number) => {
    const id = i.toString(16).padStart(32, '0')
    const of = { account, id, user: id, client, clientAccount: account }
    return { ...of, scopes: ['user.read'], declined: [], resource: [], createdAt: i, updatedAt: i }
  }
  await Promise.all(Array.from({ length: count }, (_, i) => store.oauthGrants.insert(grantOf(i))))
  const left = async () => (await store.oauthGrants.ofClient(client, { offset: 0, limit: 1 })).total

  assert.equal((await ask('DELETE', `/oauth_clients/${client}`)).success, true)
  await until(async () => (await left()) < count)
  first.signal('SIGKILL')
  await first.exited
  assert.equal(await store.oauthClients.get(account, client), null)
  await start()
  await until(async () => (await left()) === 0)
  const all = { since: null, before: null, descending: false, offset: 0, limit: 1_000 }
  const { items } = await store.audit.list(account, all)
  const revoked = items.filter(({ action }) => action === 'revoke').map(({ resource }) => resource)
  assert.deepEqual(revoked.toSorted(), Array.from({ length: count }, (_, i) => grantOf(i).id).toSorted())
})

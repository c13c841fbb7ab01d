// Deletions that the store made and could not confirm, on a Redis whose replica hangs: a failover can still bring back what they removed.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { replicates, startRedis } from '../../help/redis.ts'
import { account } from '../../tokens/token-with.ts'
import { gatewayOf, startApi } from '../api.ts'
import { bodyOfClient } from '../oauth-clients/client-bodies.ts'
import { entryWith, keepEntries } from '../ai-logs/log-entries.ts'

const zone = '/client/v4/zones/main'
/** Ms: half of it is how long a proof may take. */
const commandTimeout = 2_000

async function start(t: TestContext) {
  const primary = await startRedis(t)
  const replica = await startRedis(t, { args: ['--replicaof', `127.0.0.1 ${primary.port}`] })
  await replicates(primary)
  return { ...(await startApi(t, undefined, primary.url, commandTimeout)), primary, replica }
}

test('a record whose deletion is unconfirmed is 503 until that is confirmed, and only then 404', async t => {
  const { ask, kept, keepToken, lines, primary, replica } = await start(t)
  const created = async (path: string, body: object) => {
    const { status, json } = await ask('POST', path, { body })
    assert.equal(status, 200, path)
    return json.result.id ?? json.result.client_id
  }
  const { token } = await keepToken(['AI Gateway Run'])
  const client = await created('/oauth_clients', bodyOfClient())
  const rotated = await created('/oauth_clients', bodyOfClient())
  assert.equal((await ask('POST', `/oauth_clients/${rotated}/rotate_secret`)).status, 200)
  const body = { action: 'deny', path: ['/admin'] }
  const rule = await created(`${zone}/access_rules`, body)
  const error = { expression: 'true', content: 'x', content_type: 'text/plain' }
  const errorRule = await created(`${zone}/error_rules`, error)
  const page = `${zone}/error_pages/waf_block`
  const headers = { 'content-type': 'text/html; charset=utf-8' }
  assert.equal((await ask('PUT', page, { body: '<p>', headers })).status, 200)
  await keepEntries(kept, [entryWith(1)])
  await kept.gateways.insert(gatewayOf('going'))
  const paths = [
    `/tokens/${token.id}`,
    `/oauth_clients/${client}`,
    `/oauth_clients/${rotated}/rotate_secret`,
    `${zone}/access_rules/${rule}`,
    `${zone}/error_rules/${errorRule}`,
    page,
    '/ai-gateway/gateways/going',
  ]
  const logs = '/ai-gateway/gateways/default/logs?limit=10'
  const deleteAll = () => Promise.all([...paths, logs].map(async path => (await ask('DELETE', path)).status))
  const told = lines.length
  replica.stop()
  const unproved = [...paths, logs].map(() => 503)
  assert.deepEqual(await deleteAll(), unproved)
  assert.equal(await primary.ask('HEXISTS', '{gatehouse}:gateways', `${account}/going`), 0, 'it was removed')
  const [doubt, ...others] = new Set(lines.slice(told).map(({ msg }) => msg))
  assert.deepEqual([doubt, others, lines.length - told], ['audit: write not confirmed', [], unproved.length])
  assert.equal(await kept.logs.count(account, 'default'), 1, 'nothing is removed that is not told of')
  assert.deepEqual(await deleteAll(), unproved)
  replica.cont()
  assert.deepEqual(await deleteAll(), [...paths.map(() => 404), 200])
})

test('a request that conflicts with an unconfirmed write is 503 until that is confirmed, and only then 409 or 412', async t => {
  const { ask, replica } = await start(t)
  const { client_id: id } = (await ask('POST', '/oauth_clients', { body: bodyOfClient() })).json.result
  const other = (await ask('POST', '/oauth_clients', { body: bodyOfClient() })).json.result.client_id
  const etag = (await ask('GET', `/oauth_clients/${other}`)).headers.get('etag')!
  const rename = async () => {
    const asked = { body: { client_name: 'Renamed' }, headers: { 'if-match': etag } }
    return (await ask('PATCH', `/oauth_clients/${other}`, asked)).status
  }
  const rotate = async () => (await ask('POST', `/oauth_clients/${id}/rotate_secret`)).status
  replica.stop()
  assert.deepEqual([await rotate(), await rotate()], [503, 503])
  assert.deepEqual([await rename(), await rename()], [503, 503])
  replica.cont()
  assert.deepEqual([await rotate(), await rename()], [409, 412])
})

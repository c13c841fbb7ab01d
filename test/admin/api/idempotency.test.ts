import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { test } from 'node:test'
import { SecretKeys } from '../../../src/base/secrets/secret-keys.ts'
import { account } from '../../tokens/token-with.ts'
import { type Ask, startApi } from '../api.ts'
import { bodyOfClient } from '../oauth-clients/client-bodies.ts'

const path = '/oauth_clients'

async function startWithKeys(t: Parameters<typeof startApi>[0]) {
  const api = await startApi(t)
  const create = (key: string, more: Ask = {}) =>
    api.ask('POST', path, { body: bodyOfClient(), ...more, headers: { 'idempotency-key': key } })
  const total = async () => (await api.kept.oauthClients.list(account, { offset: 0, limit: 1 })).total
  return { ...api, create, total }
}

test('the same request with the same key gets the same response, and is executed once', async t => {
  const { create, total, lines } = await startWithKeys(t)
  const first = await create('one')
  const again = await create('one')
  assert.deepEqual([again.status, again.json, again.headers.get('etag')], [200, first.json, '"1"'])
  assert.deepEqual(
    [first, again].map(({ headers }) => headers.get('idempotency-replayed')),
    [null, 'true'],
  )
  assert.deepEqual([await total(), lines.length], [1, 1])
  assert.notEqual((await create('two')).json.result.client_id, first.json.result.client_id)
})

test('another body with the same key is 422, valid or not', async t => {
  const { create, total } = await startWithKeys(t)
  await create('one')
  for (const body of [bodyOfClient({ client_name: 'Other' }), {}]) {
    const { status, json } = await create('one', { body })
    assert.deepEqual([status, json.errors[0].code], [422, 10422])
  }
  assert.equal(await total(), 1)
})

test('after a day the key can be used again', async t => {
  const { create, clock, total } = await startWithKeys(t)
  const first = await create('one')
  clock.advance(24 * 3_600_000 - 1)
  assert.equal((await create('one')).json.result.client_id, first.json.result.client_id)
  clock.advance(1)
  assert.notEqual((await create('one')).json.result.client_id, first.json.result.client_id)
  assert.equal(await total(), 2)
})

test('a refused request may be corrected and sent again with its key', async t => {
  const { create } = await startWithKeys(t)
  assert.equal((await create('one', { body: {} })).status, 400)
  assert.equal((await create('one')).status, 200)
})

test('a key belongs to one caller and one request', async t => {
  const { ask, create, keepToken, total } = await startWithKeys(t)
  const { json } = await create('one')
  const { value: token } = await keepToken(['OAuth Clients Write'])
  assert.notEqual((await create('one', { token })).json.result.client_id, json.result.client_id)
  const other = await create('two')
  const headers = { 'idempotency-key': 'one' }
  const secrets = new Set<string>()
  for (const { result } of [json, other.json]) {
    const rotated = await ask('POST', `${path}/${result.client_id}/rotate_secret`, { headers })
    assert.deepEqual([rotated.status, rotated.headers.get('idempotency-replayed')], [200, null])
    secrets.add(rotated.json.result.client_secret)
  }
  assert.deepEqual([secrets.size, await total()], [2, 3])
})

test('a repeated rotation returns its secret again, even if its If-Match is outdated by then', async t => {
  const { ask, create } = await startWithKeys(t)
  const { json } = await create('one')
  const own = `${path}/${json.result.client_id}/rotate_secret`
  const headers = { 'idempotency-key': 'x', 'if-match': '"1"' }
  const first = await ask('POST', own, { headers })
  const again = await ask('POST', own, { headers })
  assert.deepEqual([again.status, again.json], [200, first.json])
  assert.equal((await ask('POST', own, { headers: { 'idempotency-key': 'y' } })).status, 409)
})

test('a request whose duplicate finishes between its checks gets the response of the duplicate', async t => {
  const { ask, create, kept } = await startWithKeys(t)
  const { json } = await create('one')
  const rotate = () =>
    ask('POST', `${path}/${json.result.client_id}/rotate_secret`, { headers: { 'idempotency-key': 'x' } })
  const { responses } = kept
  const get = responses.get.bind(responses)
  const twin = Promise.withResolvers<unknown>()
  responses.get = async (...about) => {
    responses.get = get
    const before = await get(...about)
    twin.resolve((await rotate()).json)
    return before
  }
  const late = await rotate()
  assert.deepEqual([late.status, late.json], [200, await twin.promise])
})

test('the stored response is encrypted', async t => {
  const { create, kept } = await startWithKeys(t)
  const sealed: string[] = []
  const insert = kept.oauthClients.insert.bind(kept.oauthClients)
  kept.oauthClients.insert = (record, together) => {
    sealed.push(JSON.stringify(together?.response))
    return insert(record, together)
  }
  const { result } = (await create('one')).json
  assert.equal(sealed.length, 1)
  for (const told of [result.client_secret, result.client_id, 'My app']) assert.ok(!sealed[0]!.includes(told))
})

test('an old server key still decrypts a response; without one it is 409, and nothing is executed again', async t => {
  const { create, keys, total } = await startWithKeys(t)
  const [old, young] = [randomBytes(32), randomBytes(32)]
  keys.current = new SecretKeys(old)
  const first = await create('one')
  keys.current = new SecretKeys(young, [old])
  assert.deepEqual((await create('one')).json, first.json)
  keys.current = new SecretKeys(young)
  const { status, json } = await create('one')
  assert.deepEqual([status, json.errors[0].code, await total()], [409, 10421, 1])
})

test('a key is 1 to 255 printable ASCII characters', async t => {
  const { create, total } = await startWithKeys(t)
  for (const key of ['', 'x'.repeat(256), 'é', 'a\tb']) assert.equal((await create(key)).status, 400, key)
  assert.equal(await total(), 0)
  for (const key of ['a', 'x'.repeat(255), '{"a b"}']) assert.equal((await create(key)).status, 200, key)
})

test('two keys are refused', async t => {
  const { origin, owner, total } = await startWithKeys(t)
  const headers = ['Host', 'x', 'Authorization', `Bearer ${owner.value}`, 'Content-Type', 'application/json']
  const asked = request(`${origin}/client/v4/accounts/${account}${path}`, {
    method: 'POST',
    headers: [...headers, 'Idempotency-Key', 'a', 'Idempotency-Key', 'b'] as never,
  })
  const { promise, resolve } = Promise.withResolvers<number | undefined>()
  asked.on('response', response => resolve(response.resume().statusCode))
  asked.end(JSON.stringify(bodyOfClient()))
  assert.deepEqual([await promise, await total()], [400, 0])
})

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { secretThatMatches } from '../../../src/oauth/clients/secret.ts'
import { startRedis } from '../../help/redis.ts'
import { oauthClient, verification } from '../../store/contract-specimens.ts'
import { account, tokenWith } from '../../tokens/token-with.ts'
import { allowing, startApi } from '../api.ts'
import { bodyOfClient } from './client-bodies.ts'

const path = '/oauth_clients'

/** Runs an API with one client in it. */
async function startWithClient(t: Parameters<typeof startApi>[0], more: object = {}) {
  const api = await startApi(t)
  const { status, json, headers } = await api.ask('POST', path, { body: bodyOfClient(more) })
  assert.equal(status, 200, JSON.stringify(json))
  const { result } = json
  const own = `${path}/${result.client_id}`
  const record = async () => (await api.kept.oauthClients.get(account, result.client_id))!.record
  return { ...api, result, own, record, etag: headers.get('etag')! }
}

test('a client is created private, with a secret that is shown only once', async t => {
  const { ask, result, own, record, keys, etag } = await startWithClient(t, {
    logo_uri: 'https://app.example.com/logo.png',
    client_uri: 'https://app.example.com/about',
  })
  assert.match(result.client_id, /^[0-9a-f]{32}$/)
  assert.match(result.client_secret, /^svcs_[A-Za-z0-9_-]{43}$/)
  assert.deepEqual([result.visibility, result.has_rotated_secret, etag], ['private', false, '"1"'])
  assert.equal(result.client_uri_verification.status, 'pending')
  assert.ok(secretThatMatches(await record(), result.client_secret, keys.current))
  const read = await ask('GET', own)
  const { client_secret, ...shown } = result
  assert.deepEqual([read.json.result, read.headers.get('etag')], [shown, '"1"'])
  assert.ok(!JSON.stringify(await record()).includes(client_secret))
})

test('a client without authentication has no secret', async t => {
  const { result, record } = await startWithClient(t, { token_endpoint_auth_method: 'none' })
  assert.ok(!('client_secret' in result))
  assert.deepEqual([result.client_secrets, (await record()).secrets], [[], []])
})

test('all faults of a body are reported in one response, and nothing is stored', async t => {
  const { ask, kept } = await startApi(t)
  const body = {
    client_name: 'x'.repeat(101),
    redirect_uris: ['https://a.example/#x'],
    visibility: 'public',
    x: 1,
  }
  const { status, json } = await ask('POST', path, { body })
  assert.equal(status, 400)
  assert.deepEqual(
    json.errors
      .map(({ code, source }: { code: number; source: { pointer: string } }) => [source.pointer, code])
      .sort(),
    [
      ['/client_name', 10001],
      ['/grant_types', 10002],
      ['/redirect_uris/0', 10001],
      ['/response_types', 10002],
      ['/scopes', 10002],
      ['/token_endpoint_auth_method', 10002],
      ['/visibility', 10005],
      ['/x', 10003],
    ],
  )
  assert.equal((await kept.oauthClients.list(account, { offset: 0, limit: 1 })).total, 0)
})

test('a PATCH changes only what it names, and the response has the new tag', async t => {
  const { ask, own, result, clock } = await startWithClient(t, { tos_uri: 'https://app.example.com/terms' })
  clock.advance(5_000)
  const body = { client_name: 'Renamed', tos_uri: null, allowed_cors_origins: ['https://app.example.com'] }
  const { status, json, headers } = await ask('PATCH', own, { body })
  assert.deepEqual([status, headers.get('etag')], [200, '"2"'])
  const { client_secret, tos_uri, ...before } = result
  assert.deepEqual(json.result, {
    ...before,
    client_name: 'Renamed',
    allowed_cors_origins: ['https://app.example.com'],
    updated_at: '2026-01-01T00:00:05.000Z',
  })
  assert.deepEqual((await ask('GET', own)).json.result, json.result)
})

test('a PATCH of nothing new leaves the record and its tag as they are', async t => {
  const { ask, own, record } = await startWithClient(t)
  const before = await record()
  const { status, headers } = await ask('PATCH', own, {
    body: { client_name: 'My app', visibility: 'private' },
  })
  assert.deepEqual([status, headers.get('etag')], [200, '"1"'])
  assert.deepEqual(await record(), before)
})

test('rotation: two secrets at most, the older one is dropped, and each state is told', async t => {
  const { ask, own, record, result, keys } = await startWithClient(t)
  const state = async () => {
    const { has_rotated_secret, client_secrets } = (await ask('GET', own)).json.result
    return [has_rotated_secret, client_secrets.length]
  }
  const refusal = async (method: string) => {
    const { status, json } = await ask(method, `${own}/rotate_secret`)
    return [status, json.errors[0].code]
  }
  assert.deepEqual(
    [await state(), await refusal('DELETE')],
    [
      [false, 1],
      [404, 10411],
    ],
  )

  const rotated = await ask('POST', `${own}/rotate_secret`)
  assert.deepEqual([rotated.status, Object.keys(rotated.json.result)], [200, ['client_secret']])
  assert.deepEqual(
    [await state(), await refusal('POST')],
    [
      [true, 2],
      [409, 10409],
    ],
  )
  const values = [result.client_secret, rotated.json.result.client_secret]
  for (const value of values) assert.ok(secretThatMatches(await record(), value, keys.current))

  assert.deepEqual((await ask('DELETE', `${own}/rotate_secret`)).json.result, { id: result.client_id })
  assert.deepEqual(await state(), [false, 1])
  const [old, young] = await Promise.all(
    values.map(async value => secretThatMatches(await record(), value, keys.current)),
  )
  assert.deepEqual([old, young === null], [null, false])
})

test('a client without secrets has none to rotate and none to delete', async t => {
  const { ask, own } = await startWithClient(t, { token_endpoint_auth_method: 'none' })
  const refusal = async (method: string) => {
    const { status, json } = await ask(method, `${own}/rotate_secret`)
    return [status, json.errors[0].code]
  }
  assert.deepEqual(
    [await refusal('POST'), await refusal('DELETE')],
    [
      [400, 10410],
      [404, 10411],
    ],
  )
})

test('the method decides about secrets: a change from none returns a new one, to none it removes both', async t => {
  const { ask, own, record, keys } = await startWithClient(t)
  await ask('POST', `${own}/rotate_secret`)
  const without = await ask('PATCH', own, { body: { token_endpoint_auth_method: 'none' } })
  assert.deepEqual([without.json.result.client_secrets, (await record()).secrets], [[], []])
  const issued = await ask('PATCH', own, { body: { token_endpoint_auth_method: 'client_secret_post' } })
  const { client_secret } = issued.json.result
  assert.ok(secretThatMatches(await record(), client_secret, keys.current))
  assert.ok(!('client_secret' in (await ask('GET', own)).json.result))
})

test('a client with a verified domain is published, and stays public', async t => {
  const { ask, kept } = await startApi(t)
  const proven = verification({
    host: 'app.example.com',
    status: 'verified',
    nextCheckAt: null,
    verifiedAt: 0,
  })
  const client = oauthClient({ account, logoUri: null, verification: proven })
  await kept.oauthClients.insert(client)
  const own = `${path}/${client.id}`
  const publish = await ask('PATCH', own, { body: { visibility: 'public' } })
  assert.deepEqual(
    [publish.status, publish.json.errors.map(({ code }: { code: number }) => code)],
    [400, [10412]],
  )
  const logo = { logo_uri: 'https://app.example.com/logo.png', visibility: 'public' }
  const { result } = (await ask('PATCH', own, { body: logo })).json
  assert.deepEqual([result.visibility, result.promoted_at], ['public', '2026-01-01T00:00:00.000Z'])
  const back = await ask('PATCH', own, { body: { visibility: 'private' } })
  assert.deepEqual([back.status, back.json.errors[0].code], [400, 10413])
})

for (const [store, open] of Object.entries({
  SQLite: async () => 'sqlite::memory:',
  Redis: async (t: TestContext) => (await startRedis(t)).url,
}))
  test(`${store}: a verified host stays the only one of its client, also by way of none`, async t => {
    const { ask, kept } = await startApi(t, undefined, await open(t))
    const proven = verification({
      host: 'app.example.com',
      status: 'verified',
      nextCheckAt: null,
      verifiedAt: 0,
    })
    const client = oauthClient({ account, clientUri: 'https://app.example.com/', verification: proven })
    await kept.oauthClients.insert(client)
    const patch = async (client_uri: string | null) => {
      const { status, json } = await ask('PATCH', `${path}/${client.id}`, { body: { client_uri } })
      return [status, json.errors?.[0]?.code ?? json.result.client_uri_verification?.status ?? null]
    }
    assert.deepEqual(await patch(null), [200, null])
    for (const host of ['evil.example.com', 'sub.app.example.com', 'example.com', 'xn--app-example-0o4d.com'])
      assert.deepEqual(await patch(`https://${host}/`), [400, 10413], host)
    assert.deepEqual(await patch(null), [200, null])
    assert.deepEqual(await patch('https://app.example.com:8443/page'), [200, 'verified'])
  })

test('a DELETE returns the id, and the client is gone', async t => {
  const { ask, own, result } = await startWithClient(t)
  assert.deepEqual((await ask('DELETE', own)).json.result, { id: result.client_id })
  assert.equal((await ask('DELETE', own)).status, 404)
})

test('a client of another account, a missing one and an invalid id are the same 404', async t => {
  const { ask, kept } = await startApi(t)
  const other = oauthClient({ account: '9'.repeat(32) })
  await kept.oauthClients.insert(other)
  const asks = [
    ['GET', ''],
    ['PATCH', '', { client_name: 'x' }],
    ['PATCH', '', { client_name: '' }],
    ['DELETE', ''],
    ['POST', '/rotate_secret'],
    ['DELETE', '/rotate_secret'],
  ] as const
  for (const id of [other.id, '0'.repeat(32), 'x', '%00', 'A'.repeat(32)])
    for (const [method, rest, body] of asks) {
      const headers = { 'if-match': '"5"' }
      const { status, json } = await ask(method, `${path}/${id}${rest}`, { headers, ...(body && { body }) })
      assert.deepEqual(
        [status, json.errors],
        [404, [{ code: 7003, message: 'OAuth client not found' }]],
        method,
      )
    }
  assert.deepEqual((await kept.oauthClients.get(other.account, other.id))?.record, other)
})

test('a read-only token changes nothing, and a token of another account sees nothing', async t => {
  const { ask, own, keepToken, kept } = await startWithClient(t)
  const { value: reader } = await keepToken(['OAuth Clients Read'])
  assert.equal((await ask('GET', own, { token: reader })).status, 200)
  const stranger = tokenWith({
    account: '9'.repeat(32),
    policies: [allowing(['OAuth Clients Write'], ['9'.repeat(32)])],
  })
  await kept.tokens.insert(stranger.token)
  for (const [method, rest] of [
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/rotate_secret'],
    ['DELETE', '/rotate_secret'],
  ] as const)
    for (const token of [reader, stranger.value])
      assert.equal((await ask(method, `${own}${rest}`, { token })).status, 403, method)
  assert.equal((await ask('GET', own, { token: stranger.value })).status, 403)
})

test('If-Match lets a change pass as long as nothing was changed since, and 412 has the current state', async t => {
  const { ask, own, etag, record } = await startWithClient(t)
  const patch = (name: string, tag: string) =>
    ask('PATCH', own, { body: { client_name: name }, headers: { 'if-match': tag } })
  assert.equal((await patch('first', etag)).status, 200)
  for (const [method, rest] of [
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/rotate_secret'],
    ['DELETE', '/rotate_secret'],
  ] as const) {
    const options = {
      headers: { 'if-match': etag },
      ...(method === 'PATCH' && { body: { client_name: 'late' } }),
    }
    const { status, json, headers } = await ask(method, `${own}${rest}`, options)
    assert.deepEqual(
      [status, json.errors[0].code, headers.get('etag')],
      [412, 10420, '"2"'],
      `${method} ${rest}`,
    )
  }
  assert.equal((await patch('weak', 'W/"2"')).status, 412)
  assert.equal((await patch('bad', '2')).status, 400)
  assert.equal((await record()).name, 'first')
  assert.equal((await patch('any', '*')).status, 200)
  assert.equal((await patch('listed', '"1", "3"')).status, 200)
  assert.equal((await ask('DELETE', own, { headers: { 'if-match': '"4"' } })).status, 200)
})

test('clients are listed by creation and page, by a part of their name and by visibility', async t => {
  const { ask, kept } = await startApi(t)
  for (const [i, name] of ['Blue app', 'Red app', 'blue tool'].entries())
    await kept.oauthClients.insert(
      oauthClient({ account, name, createdAt: i, visibility: i === 1 ? 'public' : 'private' }),
    )
  const names = async (query: string) => {
    const { json } = await ask('GET', `${path}${query}`)
    return [
      json.result.map((client: { client_name: string }) => client.client_name),
      json.result_info.total_count,
    ]
  }
  assert.deepEqual(await names(''), [['Blue app', 'Red app', 'blue tool'], 3])
  assert.deepEqual(await names('?per_page=2&page=2'), [['blue tool'], 3])
  assert.deepEqual(await names('?client_name=BLUE&per_page=1&page=2'), [['blue tool'], 2])
  assert.deepEqual(await names('?visibility=public'), [['Red app'], 1])
  assert.deepEqual(await names('?visibility=private&client_name=app'), [['Blue app'], 1])
  assert.equal((await ask('GET', path)).json.result_info.per_page, 1_000)
  for (const query of ['?per_page=1001', '?visibility=', '?visibility=secret', '?name=x'])
    assert.equal((await ask('GET', `${path}${query}`)).status, 400, query)
})

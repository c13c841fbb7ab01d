// OAuth clients by the published client of the interface, with nothing but its base URL and token set.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import Cloudflare from 'cloudflare'
import { permissionGroups } from '../../src/permissions/permission-groups.ts'
import { startApi } from '../admin/api.ts'
import { proveDomains } from '../help/domains.ts'
import { until } from '../help/until.ts'
import { oauthClient } from '../store/contract-specimens.ts'
import { account } from '../tokens/token-with.ts'

const here = { account_id: account }

async function start(t: TestContext) {
  const api = await startApi(t)
  const clientOf = (apiToken: string) =>
    new Cloudflare({ apiToken, baseURL: `${api.origin}/client/v4`, maxRetries: 0 })
  const { iam } = clientOf(api.owner.value)
  return { ...api, iam, clientOf }
}

const photos: Cloudflare.IAM.OAuthClientCreateParams = {
  ...here,
  client_name: 'Photos',
  grant_types: ['authorization_code', 'refresh_token'],
  redirect_uris: ['https://photos.example.com/callback'],
  response_types: ['code'],
  scopes: ['ai_gateway.read', 'user.read'],
  token_endpoint_auth_method: 'client_secret_basic',
}

/** What the gateway says of an error, as the client has it. */
type Told = readonly { readonly code: number; readonly source?: { readonly pointer: string } }[]

/** Asserts that it is refused with this class, and gives the codes and pointers. */
async function refusal(
  asked: Promise<unknown>,
  kind: abstract new (...args: never[]) => { readonly errors: readonly unknown[]; readonly status: unknown },
): Promise<readonly (number | string)[]> {
  try {
    await asked
  } catch (error) {
    assert.ok(error instanceof kind, String(error))
    return (error.errors as Told).flatMap(({ code, source }) => (source ? [code, source.pointer] : [code]))
  }
  return assert.fail('it was not refused')
}

test('oauth clients: create, get, update, list, delete', async t => {
  const { iam, clock } = await start(t)
  const made = await iam.oauthClients.create({ ...photos, optional_scopes: ['user.read'] })
  assert.match(made.client_id, /^[0-9a-f]{32}$/)
  assert.match(made.client_secret!, /^svcs_[\w-]{43}$/)
  assert.deepEqual(
    [made.client_name, made.visibility, made.has_rotated_secret, made.redirect_uris, made.optional_scopes],
    ['Photos', 'private', false, photos.redirect_uris, ['user.read']],
  )
  assert.deepEqual(made.scopes, ['ai_gateway.read', 'user.read', 'offline_access'])
  assert.ok(Date.parse(made.created_at!) <= Date.parse(made.updated_at!))

  const { client_secret: _, ...shown } = made
  assert.deepEqual(await iam.oauthClients.get(made.client_id, here), shown)

  const updated = await iam.oauthClients.update(made.client_id, {
    ...here,
    client_name: 'Albums',
    tos_uri: 'https://photos.example.com/terms',
  })
  assert.deepEqual(
    [updated.client_name, updated.tos_uri, updated.redirect_uris, updated.scopes],
    ['Albums', 'https://photos.example.com/terms', shown.redirect_uris, shown.scopes],
  )
  assert.equal('client_secret' in updated, false)

  clock.advance(1)
  await iam.oauthClients.create({ ...photos, client_name: 'Another' })
  const names: (string | undefined)[] = []
  for await (const { client_name } of iam.oauthClients.list(here)) names.push(client_name)
  assert.deepEqual(names, ['Albums', 'Another'])

  assert.deepEqual(await iam.oauthClients.delete(made.client_id, here), { id: made.client_id })
  await assert.rejects(iam.oauthClients.get(made.client_id, here), Cloudflare.NotFoundError)
})

test('oauth clients: a list has them all, however many there are', async t => {
  const { iam, clock } = await start(t)
  for (let i = 0; i < 25; i++) {
    await iam.oauthClients.create({ ...photos, client_name: `Client ${i}` })
    clock.advance(1)
  }
  let count = 0
  for await (const { client_name } of iam.oauthClients.list(here))
    assert.equal(client_name, `Client ${count++}`)
  assert.equal(count, 25)
})

test('oauth clients: rotate the secret, then delete the rotated one', async t => {
  const { iam } = await start(t)
  const { client_id: id, client_secret: first } = await iam.oauthClients.create(photos)
  const { client_secret: second } = await iam.oauthClients.rotateSecret(id, here)
  assert.match(second!, /^svcs_/)
  assert.notEqual(second, first)
  assert.equal((await iam.oauthClients.get(id, here)).has_rotated_secret, true)
  assert.deepEqual(await refusal(iam.oauthClients.rotateSecret(id, here), Cloudflare.ConflictError), [10409])

  assert.deepEqual(await iam.oauthClients.deleteRotatedSecret(id, here), { id })
  assert.equal((await iam.oauthClients.get(id, here)).has_rotated_secret, false)
  const again = iam.oauthClients.deleteRotatedSecret(id, here)
  assert.deepEqual(await refusal(again, Cloudflare.NotFoundError), [10411])
})

test('oauth clients: an app that can keep no secret has none, until its method changes', async t => {
  const { iam } = await start(t)
  const app: Cloudflare.IAM.OAuthClientCreateParams = {
    ...photos,
    redirect_uris: ['com.example.photos:/callback', 'http://127.0.0.1/callback'],
    token_endpoint_auth_method: 'none',
  }
  const made = await iam.oauthClients.create(app)
  assert.equal('client_secret' in made, false)
  const rotated = iam.oauthClients.rotateSecret(made.client_id, here)
  assert.deepEqual(await refusal(rotated, Cloudflare.BadRequestError), [10410])
  const server = await iam.oauthClients.update(made.client_id, {
    ...here,
    redirect_uris: photos.redirect_uris,
    token_endpoint_auth_method: 'client_secret_post',
  })
  assert.match((server as { client_secret?: string }).client_secret!, /^svcs_/)
})

test('oauth clients: publish, once the domain is proven', async t => {
  const api = await start(t)
  const { iam } = api
  const dns = await proveDomains(t, api)
  const { client_id: id } = await iam.oauthClients.create(photos)
  const early = iam.oauthClients.update(id, { ...here, visibility: 'public' })
  assert.deepEqual(
    (await refusal(early, Cloudflare.BadRequestError)).filter(told => typeof told === 'number'),
    [10412, 10412],
  )

  const { client_uri_verification: asked } = await iam.oauthClients.update(id, {
    ...here,
    client_uri: 'https://photos.example.com',
    logo_uri: 'https://photos.example.com/logo.png',
  })
  assert.equal(asked!.status, 'pending')
  assert.match(asked!.text!, /^svc_oauth_client_publisher=[0-9a-f]{32}$/)
  const statusIs = async (status: string) =>
    (await iam.oauthClients.get(id, here)).client_uri_verification?.status === status
  await until(() => statusIs('in_progress'))

  dns.txt('photos.example.com', 'v=spf1 -all', asked!.text!)
  api.clock.advance(60_000)
  await until(() => statusIs('verified'))
  const { visibility, promoted_at } = await iam.oauthClients.update(id, { ...here, visibility: 'public' })
  assert.equal(visibility, 'public')
  assert.ok(Date.parse(promoted_at!))

  const moved = iam.oauthClients.update(id, { ...here, client_uri: 'https://elsewhere.example.com' })
  assert.deepEqual((await refusal(moved, Cloudflare.BadRequestError))[0], 10413)
  const page = { ...here, client_uri: 'https://photos.example.com/about' }
  assert.equal((await iam.oauthClients.update(id, page)).client_uri, page.client_uri)
})

test('oauth clients: every fault of a body is reported with its pointer', async t => {
  const { iam } = await start(t)
  const bad = iam.oauthClients.create({
    ...photos,
    client_name: '',
    redirect_uris: ['https://photos.example.com/#here', 'http://photos.example.com/'],
    grant_types: ['client_credentials' as 'authorization_code'],
    response_types: ['token'],
    scopes: ['ai_gateway:read'],
  })
  const told = await refusal(bad, Cloudflare.BadRequestError)
  for (const pointer of ['/client_name', '/redirect_uris/0', '/redirect_uris/1', '/scopes/0'])
    assert.ok(told.includes(pointer), `${pointer} in ${told}`)
  for (const member of ['/grant_types', '/response_types'])
    assert.ok(
      told.some(pointer => String(pointer).startsWith(member)),
      `${member} in ${told}`,
    )
})

test('oauth clients: a caller without permission gets the error class of the reason', async t => {
  const { iam, clientOf, keepToken } = await start(t)
  const { client_id: id } = await iam.oauthClients.create(photos)
  const reader = clientOf((await keepToken(['OAuth Clients Read'])).value).iam
  assert.equal((await reader.oauthClients.get(id, here)).client_id, id)
  await assert.rejects(reader.oauthClients.create(photos), Cloudflare.PermissionDeniedError)
  await assert.rejects(reader.oauthClients.delete(id, here), Cloudflare.PermissionDeniedError)
  const stranger = clientOf('nonsense').iam
  await assert.rejects(stranger.oauthClients.get(id, here), Cloudflare.AuthenticationError)
  await assert.rejects(iam.oauthClients.get('f'.repeat(32), here), Cloudflare.NotFoundError)
})

test('oauth clients: the options of a request carry If-Match and Idempotency-Key', async t => {
  const { iam } = await start(t)
  const once = { headers: { 'Idempotency-Key': 'photos-1' } }
  const made = await iam.oauthClients.create(photos, once)
  assert.deepEqual(await iam.oauthClients.create(photos, once), made)
  const other = iam.oauthClients.create({ ...photos, client_name: 'Other' }, once)
  await assert.rejects(other, Cloudflare.UnprocessableEntityError)

  const { response } = await iam.oauthClients.get(made.client_id, here).withResponse()
  const ifMatch = { headers: { 'If-Match': response.headers.get('etag')! } }
  const change = { ...here, client_name: 'Albums' }
  assert.equal((await iam.oauthClients.update(made.client_id, change, ifMatch)).client_name, 'Albums')
  const stale = iam.oauthClients.update(made.client_id, change, ifMatch)
  await assert.rejects(stale, (error: InstanceType<typeof Cloudflare.APIError>) => error.status === 412)
})

test('oauth scopes: list', async t => {
  const { iam, clientOf, keepToken } = await start(t)
  const names: string[] = []
  for await (const { id, name, category, scopes } of iam.oauthScopes.list()) {
    assert.match(id, /^[a-z_.]+$/)
    assert.ok(category && scopes && scopes.length > 0)
    names.push(name)
  }
  for (const { name } of permissionGroups) assert.ok(names.includes(name), name)
  const anybody = clientOf((await keepToken([])).value).iam
  assert.equal((await anybody.oauthScopes.list()).result.length, names.length)
})

test('oauth clients: the list, of which the client reads one page, has 1,000 of them', async t => {
  const { iam, kept, clock } = await start(t)
  const names = Array.from({ length: 1_000 }, (_, i) => `client ${i}`)
  await Promise.all(
    names.map((name, i) =>
      kept.oauthClients.insert(oauthClient({ account, name, createdAt: clock.now() + i })),
    ),
  )
  const listed: (string | undefined)[] = []
  for await (const { client_name } of iam.oauthClients.list(here)) listed.push(client_name)
  assert.deepEqual(listed, names)
})

// The published client of the interface, with nothing but its base URL and token set.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import Cloudflare from 'cloudflare'
import { permissionGroups } from '../../src/permissions/permission-groups.ts'
import { startApi } from '../admin/api.ts'
import { entryWith, keepEntries } from '../admin/ai-logs/log-entries.ts'
import { account } from '../tokens/token-with.ts'

const here = { account_id: account }
const run = permissionGroups.find(({ name }) => name === 'AI Gateway Run')!
const edit = permissionGroups.find(({ name }) => name === 'AI Gateway Edit')!

async function start(t: TestContext) {
  const { origin, owner, kept } = await startApi(t)
  const clientOf = (apiToken: string) =>
    new Cloudflare({ apiToken, baseURL: `${origin}/client/v4`, maxRetries: 0 })
  return { client: clientOf(owner.value), clientOf, kept }
}

const policies: Cloudflare.Accounts.TokenCreateParams['policies'] = [
  {
    effect: 'allow',
    permission_groups: [{ id: run.id }],
    resources: { [`svc.api.account.${account}`]: '*' },
  },
]

test('tokens: create, verify, get, update, list, roll, delete', async t => {
  const { client, clientOf } = await start(t)
  const { tokens } = client.accounts
  const made = await tokens.create({
    ...here,
    name: 'deploy',
    policies,
    expires_on: '2030-01-01T00:00:00.000Z',
  })
  const [id, value] = [made.id!, made.value!]
  assert.deepEqual(await clientOf(value).accounts.tokens.verify(here), {
    id,
    status: 'active',
    expires_on: '2030-01-01T00:00:00.000Z',
  })
  assert.equal((await tokens.get(id, here)).name, 'deploy')
  const updated = await tokens.update(id, { ...here, name: 'renamed', policies, status: 'active' })
  assert.deepEqual([updated.name, updated.expires_on], ['renamed', undefined])

  const rolled = await tokens.value.update(id, here)
  await assert.rejects(clientOf(value).accounts.tokens.verify(here), Cloudflare.AuthenticationError)
  assert.equal((await clientOf(rolled).accounts.tokens.verify(here)).id, id)
  assert.deepEqual(await tokens.delete(id, here), { id })
  await assert.rejects(tokens.get(id, here), Cloudflare.NotFoundError)
})

test('tokens: lists are followed from page to page to their end', async t => {
  const { client } = await start(t)
  for (let i = 0; i < 5; i++) await client.accounts.tokens.create({ ...here, name: `token ${i}`, policies })
  const names: (string | undefined)[] = []
  for await (const { name } of client.accounts.tokens.list({ ...here, per_page: 2 })) names.push(name)
  assert.deepEqual(names.sort(), ['a token', 'token 0', 'token 1', 'token 2', 'token 3', 'token 4'])
})

test('tokens: permission groups are listed and found by name', async t => {
  const { client } = await start(t)
  const names: (string | undefined)[] = []
  for await (const { name } of client.accounts.tokens.permissionGroups.list(here)) names.push(name)
  assert.deepEqual(
    names,
    permissionGroups.map(({ name }) => name),
  )
  const [found] = await client.accounts.tokens.permissionGroups.get({ ...here, name: run.name })
  assert.equal(found?.id, run.id)
})

test('tokens: errors are those of the client, with every fault and its pointer', async t => {
  const { client, clientOf } = await start(t)
  const bad = client.accounts.tokens.create({ ...here, name: '', policies: [] })
  await assert.rejects(bad, (error: InstanceType<typeof Cloudflare.BadRequestError>) => {
    assert.ok(error instanceof Cloudflare.BadRequestError)
    const pointers = (error.errors as { source?: { pointer: string } }[]).map(({ source }) => source?.pointer)
    assert.deepEqual(pointers.sort(), ['/name', '/policies'])
    return true
  })
  const { value } = await client.accounts.tokens.create({ ...here, name: 'runner', policies })
  const escalated = [{ ...policies[0]!, permission_groups: [{ id: edit.id }] }]
  const runner = clientOf(value!).accounts.tokens
  await assert.rejects(
    runner.create({ ...here, name: 'more', policies: escalated }),
    Cloudflare.PermissionDeniedError,
  )
  await assert.rejects(clientOf('nonsense').accounts.tokens.verify(here), Cloudflare.AuthenticationError)
})

test('gateways: create, get, update, list, search, delete', async t => {
  const { client } = await start(t)
  const off = {
    cache_invalidate_on_update: false,
    cache_ttl: 0,
    rate_limiting_interval: 0,
    rate_limiting_limit: 0,
  }
  const made = await client.aiGateway.create({ ...here, id: 'mine', collect_logs: true, ...off })
  assert.deepEqual([made.id, made.authentication, made.collect_logs, made.cache_ttl], ['mine', true, true, 0])
  assert.deepEqual(await client.aiGateway.get('mine', here), made)
  const open = await client.aiGateway.update('mine', {
    ...here,
    collect_logs: false,
    authentication: false,
    ...off,
  })
  assert.deepEqual([open.authentication, open.collect_logs], [false, false])

  const retry = { retry_max_attempts: 3, retry_delay: 100, retry_backoff: 'constant' } as const
  const retried = await client.aiGateway.update('mine', { ...here, collect_logs: false, ...off, ...retry })
  assert.deepEqual(
    [retried.retry_max_attempts, retried.retry_delay, retried.retry_backoff],
    Object.values(retry),
  )

  const reused = { cache_ttl: 3600, cache_invalidate_on_update: true }
  const cached = await client.aiGateway.update('mine', { ...here, collect_logs: false, ...off, ...reused })
  assert.deepEqual([cached.cache_ttl, cached.cache_invalidate_on_update], Object.values(reused))

  const ids: string[] = []
  for await (const { id } of client.aiGateway.list({ ...here, per_page: 1 })) ids.push(id)
  assert.deepEqual(ids, ['default', 'mine'])
  assert.equal((await client.aiGateway.list({ ...here, search: 'min' })).result.length, 1)
  assert.equal((await client.aiGateway.delete('mine', here)).id, 'mine')
  await assert.rejects(client.aiGateway.get('mine', here), Cloudflare.NotFoundError)
})

test('logs: list, filter, get, request, response, delete', async t => {
  const { client, kept } = await start(t)
  const bodies = {
    request: { text: '{"model":"gpt-5"}', isCut: false },
    response: { text: 'data: [DONE]\n\n', isCut: false },
  }
  await keepEntries(kept, [entryWith(1, bodies), entryWith(2, { success: false, status: 500 }), entryWith(3)])
  const { logs } = client.aiGateway
  const ids: string[] = []
  for await (const { id } of logs.list('default', {
    ...here,
    per_page: 2,
    order_by: 'created_at',
    order_by_direction: 'asc',
  }))
    ids.push(id)
  assert.deepEqual(ids, ['0000000000000001', '0000000000000002', '0000000000000003'])
  const failed = await logs.list('default', {
    ...here,
    filters: [{ key: 'success', operator: 'eq', value: [false] }],
  })
  assert.deepEqual(
    failed.result.map(({ status_code }) => status_code),
    [500],
  )

  const one = { ...here, gateway_id: 'default' }
  await logs.edit(ids[0]!, { ...one, feedback: 1, score: 50, metadata: { suite: 'nightly' } })
  assert.equal((await logs.get(ids[0]!, one)).metadata, '{"suite":"nightly"}')
  assert.equal((await logs.get(ids[0]!, one)).request_head, bodies.request.text)
  assert.deepEqual(await logs.request(ids[0]!, one), { model: 'gpt-5' })
  assert.equal(await logs.response(ids[0]!, one), bodies.response.text)
  assert.equal((await logs.delete('default', { ...here, limit: 2 })).success, true)
  assert.deepEqual(
    (await logs.list('default', here)).result.map(({ id }) => id),
    ids.slice(2),
  )
})

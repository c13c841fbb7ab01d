import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changedMembers, membersSet, updateOf } from '../../../src/admin/records/audit.ts'
import { permissionGroups } from '../../../src/permissions/permission-groups.ts'
import { roles } from '../../../src/permissions/roles.ts'
import { userWith } from '../../people/user-with.ts'
import { member } from '../../store/contract-specimens.ts'
import { account } from '../../tokens/token-with.ts'
import { described, faultsOf } from '../openapi/openapi-document.ts'
import { resourcePrefix } from '../../../src/admin/tokens/body.ts'
import { type Ask, startApi } from '../api.ts'
import { bodyOfClient } from '../oauth-clients/client-bodies.ts'
import { entryWith, keepEntries } from '../ai-logs/log-entries.ts'

test('members that changed are named: those that differ, came or went', () => {
  assert.deepEqual(changedMembers({ a: 1, b: [1], c: 2 }, { a: 1, b: [2], d: null }), ['b', 'c', 'd'])
  assert.deepEqual(membersSet({ a: 1, b: null, c: [] }), ['a', 'c'])
})

const groups = [permissionGroups.find(({ name }) => name === 'AI Gateway Read')!]
const token = {
  name: 'T',
  policies: [
    {
      effect: 'allow',
      permission_groups: groups.map(({ id }) => ({ id })),
      resources: { [`${resourcePrefix}${account}`]: '*' },
    },
  ],
}

test('every write of tokens, gateways, logs and clients is one entry and one log line, without secrets; the line has no values', async t => {
  const { ask, kept, lines, owner } = await startApi(t)
  const told: unknown[] = []
  const write = async (
    method: string,
    path: string,
    kind: string,
    action: string,
    changed: string[],
    options: Ask = {},
  ) => {
    const reply = await ask(method, path, options)
    assert.equal(reply.status, 200, `${method} ${path}: ${JSON.stringify(reply.json.errors)}`)
    told.push([kind, action, changed, reply.headers.get('svc-ray')])
    return reply.json.result
  }
  const gateways = '/ai-gateway/gateways'
  await write('POST', gateways, 'gateway', 'create', ['id', 'cache_ttl'], {
    body: { id: 'mine', cache_ttl: 0, zdr: null },
  })
  await write('PUT', `${gateways}/mine`, 'gateway', 'update', ['collect_logs'], {
    body: { collect_logs: true },
  })
  await write('DELETE', `${gateways}/mine`, 'gateway', 'delete', [])
  await keepEntries(kept, [entryWith(1), entryWith(2)])
  await write('DELETE', `${gateways}/default/logs?limit=1`, 'gateway', 'delete_logs', [])

  const { id: tokenId, value } = await write('POST', '/tokens', 'token', 'create', ['name', 'policies'], {
    body: token,
  })
  const renamed = { ...token, name: 'Other', status: 'disabled' }
  await write('PUT', `/tokens/${tokenId}`, 'token', 'update', ['name', 'status'], { body: renamed })
  const rolled = await write('PUT', `/tokens/${tokenId}/value`, 'token', 'roll', ['value'])
  await write('DELETE', `/tokens/${tokenId}`, 'token', 'delete', [])

  const body = bodyOfClient()
  const { client_id, client_secret } = await write(
    'POST',
    '/oauth_clients',
    'oauth_client',
    'create',
    Object.keys(body),
    { body },
  )
  const client = `/oauth_clients/${client_id}`
  const changed = ['client_name', 'client_uri', 'client_uri_verification']
  await write('PATCH', client, 'oauth_client', 'update', changed, {
    body: { client_name: 'New', client_uri: 'https://app.example.com/' },
  })
  const secrets = ['client_secrets', 'has_rotated_secret']
  const rotated = await write('POST', `${client}/rotate_secret`, 'oauth_client', 'rotate_secret', secrets)
  await write('DELETE', `${client}/rotate_secret`, 'oauth_client', 'delete_rotated_secret', secrets)
  await write('DELETE', client, 'oauth_client', 'delete', [])

  const { result, result_info } = (await ask('GET', '/audit_logs?direction=asc&per_page=100')).json
  assert.equal(result_info.total_count, told.length)
  assert.deepEqual(
    // biome-ignore lint/suspicious/noExplicitAny: a response of the API
    result.map((entry: any) => [
      entry.resource.type,
      entry.action.type,
      entry.metadata.changed,
      entry.metadata.ray,
    ]),
    told,
  )
  assert.deepEqual(
    lines
      .filter(({ msg }) => msg === 'audit')
      .map(line => [line.resource_kind, line.action, line.changed, line.ray]),
    told,
  )
  assert.ok(
    lines.every(
      ({ level, actor, account: of }) => level === 'info' && actor === owner.token.id && of === account,
    ),
  )
  const text = JSON.stringify([result, lines])
  for (const secret of [value, rolled, client_secret, rotated.client_secret])
    assert.ok(!text.includes(secret), 'a secret was told')
  for (const set of ['Other', 'app.example.com'])
    assert.ok(!JSON.stringify(lines).includes(set), 'a value was logged')
})

test('a change says what settings were before and after, and what its resource is called', async t => {
  const { ask, kept, owner, origin } = await startApi(t)
  const { id } = (await ask('POST', '/tokens', { body: token })).json.result
  await ask('PUT', `/tokens/${id}`, {
    body: { ...token, name: 'Other', expires_on: '2030-01-01T00:00:00Z' },
  })
  await ask('DELETE', `/tokens/${id}`)
  await ask('PUT', '/ai-gateway/gateways/default', {
    body: { collect_logs: false, rate_limiting_limit: 5, rate_limiting_interval: 60, log_management: 1_000 },
  })
  const { client_id } = (await ask('POST', '/oauth_clients', { body: bodyOfClient() })).json.result
  await ask('PATCH', `/oauth_clients/${client_id}`, {
    body: { client_name: 'New', logo_uri: 'https://a.example/l' },
  })
  await ask('PATCH', `/oauth_clients/${client_id}`, { body: { logo_uri: null } })
  const user = userWith({ email: 'ann@example.com' })
  await kept.users.insert(user)
  const [, first, second] = roles
  const made = member({ account, user: user.id, status: 'accepted', roles: [first!.id] })
  await kept.members.insert(made)
  assert.equal(
    (await ask('PUT', `/members/${made.id}`, { body: { roles: [{ id: second!.id }] } })).status,
    200,
  )
  await ask('DELETE', `/members/${made.id}`)
  const { json } = await ask('GET', '/audit_logs?direction=asc&per_page=100')
  const { responses } = described.find(({ id }) => id === 'listAuditLogs')!
  assert.equal(faultsOf(responses['200']!.content['application/json']!.schema, json), '')
  const limit = (rate_limiting_limit: number, rate_limiting_interval: number, technique: string | null) => ({
    rate_limiting_interval,
    rate_limiting_limit,
    rate_limiting_technique: technique,
  })
  const parsed = (text?: string) => text && JSON.parse(text)
  assert.deepEqual(
    // biome-ignore lint/suspicious/noExplicitAny: a response of the API
    json.result.map(({ action, resource, oldValue, newValue }: any) => [
      action.type,
      resource.name,
      parsed(oldValue),
      parsed(newValue),
    ]),
    [
      ['create', 'T', undefined, undefined],
      ['update', 'Other', { name: 'T' }, { name: 'Other', expires_on: '2030-01-01T00:00:00.000Z' }],
      ['delete', 'Other', undefined, undefined],
      [
        'update',
        undefined,
        { collect_logs: true, ...limit(0, 0, null) },
        { collect_logs: false, ...limit(5, 60, 'fixed') },
      ],
      ['create', bodyOfClient().client_name, undefined, undefined],
      [
        'update',
        'New',
        { client_name: bodyOfClient().client_name },
        { client_name: 'New', logo_uri: 'https://a.example/l' },
      ],
      ['update', 'New', { logo_uri: 'https://a.example/l' }, {}],
      ['update', 'ann@example.com', { roles: [first!.name] }, { roles: [second!.name] }],
      ['delete', 'ann@example.com', undefined, undefined],
    ],
  )
  const file = `${origin}/client/v4/accounts/${account}/audit_logs/export?resource.id=default`
  const csv = await (await fetch(file, { headers: { authorization: `Bearer ${owner.value}` } })).text()
  assert.match(csv, /resource_name,old_value,new_value\r\n/)
  assert.match(csv, /""rate_limiting_limit"":0.*""rate_limiting_limit"":5/)
})

test('values that could be secret, or are long, are in no entry; the names of their members are', () => {
  const call = { account, caller: { id: 'a' }, now: 0, address: '', ray: '' }
  const resource = { resourceKind: 'token', resource: 'x' } as const
  const before = {
    name: 'a',
    content: 'pass',
    expression: 'pass',
    client_secrets: ['pass'],
    unheard_of: 'pass',
  }
  const after = {
    name: 'b',
    content: 'word',
    expression: 'word',
    client_secrets: ['word'],
    unheard_of: 'word',
  }
  const { changed, values } = updateOf(call, resource, before, after)
  assert.deepEqual(changed, Object.keys(before))
  assert.deepEqual(values, { before: { name: 'a' }, after: { name: 'b' } })
  const long = { description: 'x'.repeat(1_990), name: 'y'.repeat(10), status: 'z' }
  const cut = updateOf(call, resource, {}, long)
  assert.deepEqual(cut.changed, Object.keys(long))
  assert.deepEqual(cut.values, { before: {}, after: { description: long.description, status: 'z' } })
  assert.equal(updateOf(call, resource, { content: 'a' }, { content: 'b' }).values, undefined)
})

test('a request that was refused, found nothing or changed nothing is not recorded', async t => {
  const { ask, lines, keepToken } = await startApi(t)
  const { value: reader } = await keepToken(['OAuth Clients Read', 'AI Gateway Read'])
  const { client_id } = (await ask('POST', '/oauth_clients', { body: bodyOfClient() })).json.result
  const client = `/oauth_clients/${client_id}`
  const none = '0'.repeat(32)
  const asks: [string, string, Ask, number][] = [
    ['POST', '/oauth_clients', { body: {} }, 400],
    ['POST', '/oauth_clients', { body: bodyOfClient(), token: reader }, 403],
    ['PATCH', client, { body: {} }, 200],
    ['PATCH', client, { body: { client_name: '' } }, 400],
    ['PATCH', client, { body: { client_name: 'x' }, headers: { 'if-match': '"9"' } }, 412],
    ['DELETE', `${client}/rotate_secret`, {}, 404],
    ['DELETE', `/oauth_clients/${none}`, {}, 404],
    ['POST', '/ai-gateway/gateways', { body: { id: 'default' } }, 409],
    ['DELETE', '/ai-gateway/gateways/none', {}, 404],
    ['DELETE', '/ai-gateway/gateways/none/logs', {}, 404],
    ['DELETE', '/ai-gateway/gateways/default/logs', {}, 200],
    ['DELETE', '/ai-gateway/gateways/default/logs?limit=0', {}, 400],
    ['DELETE', `/tokens/${none}`, {}, 404],
  ]
  for (const [method, path, options, status] of asks)
    assert.equal((await ask(method, path, options)).status, status, `${method} ${path}`)
  assert.equal((await ask('GET', '/audit_logs')).json.result_info.total_count, 1)
  assert.equal(lines.filter(({ msg }) => msg === 'audit').length, 1)
})

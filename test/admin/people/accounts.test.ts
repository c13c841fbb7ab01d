import assert from 'node:assert/strict'
import { test } from 'node:test'
import { permissionGroups } from '../../../src/permissions/permission-groups.ts'
import { roles } from '../../../src/permissions/roles.ts'
import { account, tokenWith } from '../../tokens/token-with.ts'
import { allowing, startApi } from '../api.ts'

const [second, third] = ['2'.repeat(32), '3'.repeat(32)]

async function start(t: Parameters<typeof startApi>[0]) {
  const api = await startApi(t)
  await api.kept.accounts.insert({ id: second, name: 'Second', createdAt: 1 })
  await api.kept.accounts.insert({ id: third, name: 'third', createdAt: 2 })
  const keep = async (...accounts: string[]) => {
    const made = tokenWith({ policies: [allowing(['AI Gateway Run'], accounts)] })
    await api.kept.tokens.insert(made.token)
    return made
  }
  return { ...api, keep }
}

test('a token sees the accounts in which it may do something', async t => {
  const { ask, keep } = await start(t)
  const names = async (token: string, query = '') => {
    const { json } = await ask('GET', `/client/v4/accounts${query}`, { token })
    return json.result.map(({ name }: { name: string }) => name)
  }
  const [everywhere, two, own] = [await keep('*'), await keep(account, third), await keep(account)]
  assert.deepEqual(await names(everywhere.value), ['first', 'Second', 'third'])
  assert.deepEqual(await names(two.value), ['first', 'third'])
  assert.deepEqual(await names(own.value), ['first'])
  assert.deepEqual(await names(everywhere.value, '?direction=desc'), ['third', 'Second', 'first'])
  assert.deepEqual(await names(everywhere.value, '?name=SEC'), ['Second'])
  assert.deepEqual(await names(everywhere.value, '?per_page=2&page=2'), ['third'])
})

test('a policy that only denies lets see no account', async t => {
  const { ask, kept } = await start(t)
  const denied = { ...allowing(['AI Gateway Run'], ['*']), effect: 'deny' as const }
  const { token, value } = tokenWith({ policies: [denied] })
  await kept.tokens.insert(token)
  const { json } = await ask('GET', '/client/v4/accounts', { token: value })
  assert.deepEqual([json.result.length, json.result_info.total_count], [1, 1])
})

test('an account is shown to tokens that reach it', async t => {
  const { ask, keep } = await start(t)
  assert.deepEqual((await ask('GET', '')).json.result, {
    id: account,
    name: 'first',
    type: 'standard',
    created_on: '1970-01-01T00:00:00.000Z',
    settings: { enforce_twofactor: false, allow_client_id_metadata_documents: false },
  })
  const elsewhere = async (token: string) =>
    (await ask('GET', `/client/v4/accounts/${second}`, { token })).status
  assert.equal(await elsewhere((await keep('*')).value), 200)
  assert.equal(await elsewhere((await keep(third)).value), 403)
})

test('an account is renamed, and may require a second factor', async t => {
  const { ask, kept, keepToken } = await start(t)
  const { result } = (await ask('GET', '')).json
  const wanted = {
    ...result,
    name: 'Shop',
    settings: { enforce_twofactor: true, allow_client_id_metadata_documents: true },
  }
  assert.deepEqual((await ask('PUT', '', { body: wanted })).json.result, wanted)
  assert.deepEqual((await ask('GET', '')).json.result, wanted)
  const { enforceTwoFactor, name } = (await kept.accounts.get(account))!
  assert.deepEqual([enforceTwoFactor, name], [true, 'Shop'])
  const { result: entries } = (await ask('GET', '/audit_logs')).json
  assert.deepEqual(entries[0].metadata.changed, ['name', 'settings'])
  assert.deepEqual(entries[0].resource, { id: account, type: 'account', name: 'Shop' })

  const bad = { ...wanted, id: second, name: '', type: 'enterprise', settings: { abuse_contact_email: 'x' } }
  const refused = await ask('PUT', '', { body: bad })
  assert.deepEqual(
    refused.json.errors.map(({ source }: { source: { pointer: string } }) => source.pointer).sort(),
    ['/id', '/name', '/settings/abuse_contact_email', '/type'],
  )
  const others = permissionGroups.map(({ name }) => name).filter(name => name !== 'Account Settings Write')
  for (const permissions of [['Members Write'] as const, others]) {
    const { value: token } = await keepToken(permissions)
    const undone = await ask('PUT', '', { token, body: { ...wanted, settings: {} } })
    assert.equal(undone.status, 403)
    assert.match(undone.json.errors[0].message, /Account Settings Write/)
  }
  assert.equal((await kept.accounts.get(account))?.enforceTwoFactor, true)
  const { value: token } = await keepToken(['Account Settings Write'])
  assert.equal((await ask('PUT', '', { token, body: { ...wanted, name: 'Mart' } })).status, 200)
})

test('roles are listed with what they permit', async t => {
  const { ask } = await start(t)
  const { json } = await ask('GET', '/roles')
  assert.deepEqual(
    json.result.map(({ id, name }: { id: string; name: string }) => [id, name]),
    roles.map(({ id, name }) => [id, name]),
  )
  const { id } = roles.find(({ name }) => name === 'AI Gateway Admin')!
  assert.deepEqual((await ask('GET', `/roles/${id}`)).json.result.permissions, {
    ai_gateway: { read: true, write: true, run: true },
  })
  const words = json.result[0].permissions
  const count = Object.values(words).reduce(
    (sum: number, verbs) => sum + Object.keys(verbs as object).length,
    0,
  )
  assert.equal(count, permissionGroups.length)
  assert.equal((await ask('GET', `/roles/${'0'.repeat(32)}`)).status, 404)
})

test('a token that may not read members may not read roles', async t => {
  const { ask, keepToken } = await start(t)
  const { value } = await keepToken(['API Tokens Write'])
  assert.equal((await ask('GET', '/roles', { token: value })).status, 403)
})

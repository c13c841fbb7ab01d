import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tokenWith } from '../../tokens/token-with.ts'
import { allowing, startApi } from '../api.ts'
import { faultsOf } from '../openapi/openapi-document.ts'
import { named, success } from '../../../src/admin/schema/schema.ts'
import { zoneTo } from '../../help/edge.ts'
import { zoneWith } from './zones.ts'

const other = '9'.repeat(32)

test('zones are listed by name, with those of each account that the token may see', async t => {
  const { ask, kept, keepToken, given } = await startApi(t)
  await kept.accounts.insert({ id: other, name: 'other', createdAt: 1 })
  given.configs.push(zoneWith({ name: 'theirs', account: other }), zoneWith({ name: 'a-shop' }))
  const names = async (query = '', token?: string) =>
    (await ask('GET', `/client/v4/zones${query}`, token === undefined ? {} : { token })).json.result.map(
      ({ name }: { name: string }) => name,
    )
  assert.deepEqual(await names(), ['a-shop', 'main'])
  assert.deepEqual(await names('?direction=desc&per_page=1'), ['main'])
  assert.deepEqual(await names('?name=SHOP'), ['a-shop'])
  assert.deepEqual(await names(`?account.id=${other}`), [])
  const everywhere = tokenWith({ policies: [allowing(['Zones Read'], ['*'])] })
  await kept.tokens.insert(everywhere.token)
  assert.deepEqual(await names('', everywhere.value), ['a-shop', 'main', 'theirs'])
  assert.deepEqual(await names(`?account.id=${other}`, everywhere.value), ['theirs'])
  const without = await keepToken(['Origins Read'])
  assert.deepEqual(await names('', without.value), [])
  assert.equal((await ask('GET', '/client/v4/zones/main', { token: without.value })).status, 403)
})

test('a zone is shown as it is configured, without the values of headers', async t => {
  const { ask, given } = await startApi(t)
  const value = '"Bearer secret-of-the-origin"'
  const [route] = zoneTo([]).routes
  const rewrite = { path: null, requestHeaders: [{ name: 'Authorization', value }], responseHeaders: [] }
  given.configs[0] = zoneWith({ routes: [{ ...route!, rewrite }], paused: true })
  const { status, json } = await ask('GET', '/client/v4/zones/main')
  assert.equal(status, 200)
  assert.equal(faultsOf(success(named('Zone')), json), '')
  const { account, paused, hosts, routes, id, access } = json.result
  assert.deepEqual([access.lists, access.has_geo], [['partners', 'scanners'], true])
  assert.deepEqual([account.name, paused, hosts, id], ['first', true, ['*.main.test', 'other.test'], 'main'])
  assert.deepEqual(routes[0].rewrite.request_headers, ['Authorization'])
  assert.ok(!JSON.stringify(json).includes('secret-of-the-origin'))
})

// Accounts beside each other: somebody who may do everything in one of them reads and changes nothing of another, by any operation of the API.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { permissionGroups } from '../../src/permissions/permission-groups.ts'
import { allowing, startApi } from '../admin/api.ts'
import { described } from '../admin/openapi/openapi-document.ts'
import { zoneOwner } from '../../src/store/records/zone-lists.ts'
import { auditQuery } from '../store/contract-specimens.ts'
import { account, tokenWith } from '../tokens/token-with.ts'
import { type Api, ask, send } from './openapi-asks.ts'
import { good } from './openapi-good-requests.ts'

/** Starts the API with another account, and makes a token that may do everything there. */
async function startTwo(t: Parameters<typeof startApi>[0]) {
  const api = await startApi(t)
  const other = await api.addAccount('Shop')
  const everything = allowing(
    permissionGroups.map(({ name }) => name),
    [other],
  )
  const { token, value } = tokenWith({ account: other, policies: [everything] })
  await api.kept.tokens.insert(token)
  // Its id is no secret: what is found under it in the other account would be of the first.
  await api.kept.gateways.remove(other, 'default')
  return { api, other, stranger: value }
}

/** Reads all that the first account has. */
async function stateOf({ kept }: Api): Promise<string> {
  const all: unknown[] = [await kept.accounts.get(account)]
  for (const kind of ['tokens', 'gateways', 'oauthClients', 'members', 'oauthGrants'] as const)
    for await (const some of kept[kind].walk(account)) all.push(kind, some)
  const logs = { filters: [], orderBy: 'created_at', descending: true, offset: 0, limit: 100 } as const
  all.push(await kept.logs.list(account, 'default', logs))
  for (const kind of ['errorRules', 'accessRules', 'errorPages'] as const)
    for await (const some of kept[kind].walk(zoneOwner)) all.push(kind, some)
  all.push((await kept.audit.list(account, auditQuery())).total)
  return JSON.stringify(all)
}

/** What every account has under the same id. */
const everybodys = new Set(['getRole', 'testProvider'])

test('whatever is asked of an account with a token of another is refused, and nothing of it is told or changed', async t => {
  const { api, other, stranger } = await startTwo(t)
  let refused = 0
  for (const { id, path, body, hasToken } of described.filter(({ hasToken }) => hasToken)) {
    assert.ok(hasToken)
    const request = { ...(await good[id]!(api)), ...(body && { body: body.examples[0] }), token: stranger }
    const before = await stateOf(api)
    const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name!)
    if (names.includes('account_id')) {
      assert.equal((await ask(api, id, request)).status, 403, id)
      refused++
    }
    if (names.includes('zone')) {
      assert.equal((await ask(api, id, request)).status, 404, id)
      refused++
    }
    // By the path of its own account, with the ids of what the first one has.
    if (names.includes('account_id') && names.length > 1 && !everybodys.has(id)) {
      const theirs = body && { body: JSON.parse(JSON.stringify(request.body).replaceAll(account, other)) }
      const own = { ...request, ...theirs, params: { ...request.params, account_id: other } }
      assert.equal((await ask(api, id, own)).status, 404, `${id} in its own account`)
    }
    assert.equal(await stateOf(api), before, id)
  }
  assert.ok(refused > 60, `${refused}`)
  assert.deepEqual(api.bugs, [])
})

test('the id of what another account has is refused in the same words as one that nobody has', async t => {
  const { api, other, stranger } = await startTwo(t)
  let compared = 0
  for (const { id, path, body, hasToken } of described) {
    const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name!)
    if (!hasToken || everybodys.has(id) || names.every(name => name === 'account_id')) continue
    const { params = {}, ...request } = await good[id]!(api)
    const theirs = { ...(names.includes('zone') && { zone: 'main' }), ...params }
    const nobodys = Object.fromEntries(Object.entries(theirs).map(([name, value]) => [name, unlike(value)]))
    const given = body && { body: JSON.parse(JSON.stringify(body.examples[0]).replaceAll(account, other)) }
    const refusalOf = async (ids: Record<string, string>, owner: string, headers: Record<string, string>) => {
      const params = { ...ids, account_id: owner }
      const response = await send(api, id, { ...request, ...given, headers, token: stranger, params })
      const fields = [...response.headers].filter(([name]) => !passing.has(name))
      const text = Object.entries(ids).reduce(
        (text, [name, id]) => text.replaceAll(id, name),
        await response.text(),
      )
      return { status: response.status, text, fields }
    }
    for (const headers of [{}, { 'if-match': '*' }] as Record<string, string>[]) {
      const refusal = await refusalOf(theirs, other, headers)
      assert.ok(refusal.status >= 400, id)
      assert.deepEqual(await refusalOf(nobodys, other, headers), refusal, `${id} ${Object.keys(headers)}`)
      compared++
    }
    assert.deepEqual(await refusalOf(nobodys, unlike(account), {}), await refusalOf(theirs, account, {}), id)
  }
  assert.ok(compared > 120, `${compared}`)
})

/** Returns another id of the same form. */
function unlike(id: string): string {
  return id.replace(/[0-9a-e]/g, digit => (digit === '9' ? '2' : digit === 'e' ? 'b' : next(digit)))
}

function next(character: string): string {
  return String.fromCharCode(character.charCodeAt(0) + 1)
}

/** Fields that differ from response to response. */
const passing = new Set(['date', 'svc-ray', 'ratelimit', 'ratelimit-policy'])

test('lists of an account have nothing of another, and neither does what is of no account', async t => {
  const { api, other, stranger } = await startTwo(t)
  // All that the first account can have.
  for (const make of Object.values(good)) await make(api)
  for (const { id, method, path } of described.filter(({ hasToken }) => hasToken)) {
    const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name!)
    if (method !== 'GET' || names.some(name => name !== 'account_id')) continue
    const { query } = await good[id]!(api)
    const asked = { token: stranger, params: { account_id: other }, ...(query && { query }) }
    const { status, json } = await ask(api, id, asked)
    assert.ok(!JSON.stringify(json).includes(account), id)
    if (names.length > 0) assert.equal(status, 200, id)
  }
  const names = async (id: string) =>
    (await ask(api, id, { token: stranger })).json.result.map(({ name }: { name: string }) => name)
  assert.deepEqual(await names('listAccounts'), ['Shop'])
  assert.deepEqual(await names('listZones'), [])
})

test('the metrics, which are those of all accounts, are for the oldest one', async t => {
  const { api, stranger } = await startTwo(t)
  const passedOn = { headers: { 'x-forwarded-for': '192.0.2.1' } }
  assert.equal((await ask(api, 'getMetrics', { ...passedOn, token: stranger })).status, 403)
  const { value } = await api.keepToken(['Metrics Read'])
  assert.equal((await ask(api, 'getMetrics', { ...passedOn, token: value })).status, 200)
})

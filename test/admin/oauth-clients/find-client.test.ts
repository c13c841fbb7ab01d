import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Api, Call } from '../../../src/admin/api/api-types.ts'
import {
  findClient,
  noClient,
  resourceOf,
  reviseClient,
} from '../../../src/admin/oauth-clients/find-client.ts'
import { auditOf } from '../../../src/store/records/audit-entry.ts'
import { success } from '../../../src/admin/http/envelope.ts'
import type { OAuthClient } from '../../../src/store/records/oauth-client.ts'
import { oauthClient } from '../../store/contract-specimens.ts'
import { account, tokenWith } from '../../tokens/token-with.ts'
import { startApi } from '../api.ts'

const caller = tokenWith().token
const callFor = (client_id: string, more: Partial<Call> = {}) =>
  ({ account, caller, params: { client_id }, now: 0, address: '', ray: '', ifMatch: null, ...more }) as Call

const renamed = (client: OAuthClient) => ({
  record: { ...client, name: 'New', revision: client.revision + 1 },
  audit: auditOf(callFor(client.id), 'update', resourceOf(client), ['client_name']),
})

async function startWithClient(t: Parameters<typeof startApi>[0]) {
  const { kept } = await startApi(t)
  const lines: unknown[] = []
  const api = { store: kept, log: { info: (...line: unknown[]) => lines.push(line) } } as unknown as Api
  const client = oauthClient({ account })
  await kept.oauthClients.insert(client)
  const record = async () => (await kept.oauthClients.get(account, client.id))!.record
  return { api, client, record, lines }
}

test('a client is found by the id of the path, in its own account only', async t => {
  const { api, client } = await startWithClient(t)
  assert.deepEqual((await findClient(callFor(client.id), api))?.record, client)
  assert.equal(await findClient(callFor(client.id, { account: '9'.repeat(32) }), api), null)
  assert.equal(await findClient(callFor('0'.repeat(32)), api), null)
})

test('a malformed id is not looked up', async t => {
  const { kept } = await startApi(t)
  kept.oauthClients.get = () => assert.fail('the store was asked')
  const api = { store: kept } as unknown as Api
  for (const id of ['', 'x', 'A'.repeat(32), '0'.repeat(33), `${'0'.repeat(31)}\n`]) {
    assert.equal(await findClient(callFor(id), api), null)
    assert.equal(await reviseClient(callFor(id), api, renamed), noClient)
  }
})

test('a change is stored, and recorded once', async t => {
  const { api, client, record, lines } = await startWithClient(t)
  const revised = await reviseClient(callFor(client.id), api, renamed)
  assert.ok('record' in revised)
  assert.deepEqual([revised.record.name, (await record()).name, lines.length], ['New', 'New', 1])
})

test('If-Match is checked before the change is made', async t => {
  const { api, client, record, lines } = await startWithClient(t)
  const refuse = () => assert.fail('the change was asked')
  for (const [ifMatch, status] of [
    [`"${client.revision + 1}"`, 412],
    ['7', 400],
  ] as const) {
    const response = await reviseClient(callFor(client.id, { ifMatch }), api, refuse)
    assert.equal('status' in response && response.status, status)
  }
  assert.deepEqual([await record(), lines], [client, []])
  const good = await reviseClient(callFor(client.id, { ifMatch: `"${client.revision}"` }), api, renamed)
  assert.ok('record' in good)
})

test('a response instead of a change is returned, and nothing is stored', async t => {
  const { api, client, record, lines } = await startWithClient(t)
  const response = success('no change')
  assert.equal(await reviseClient(callFor(client.id), api, () => response), response)
  assert.deepEqual([await record(), lines], [client, []])
})

test('a missing client is 404, whatever the change', async t => {
  const { api } = await startWithClient(t)
  const refuse = () => assert.fail('the change was asked')
  const response = await reviseClient(callFor('0'.repeat(32), { ifMatch: '"1"' }), api, refuse)
  assert.deepEqual([response, noClient.status], [noClient, 404])
})

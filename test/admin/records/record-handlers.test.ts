import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { auditOf } from '../../../src/store/records/audit-entry.ts'
import { type ApiResponse, failure } from '../../../src/admin/http/envelope.ts'
import type { Call } from '../../../src/admin/api/api-types.ts'
import {
  add,
  drop,
  isoTime,
  pageOf,
  put,
  revise,
  upsert,
} from '../../../src/admin/records/record-handlers.ts'
import { Parameters } from '../../../src/admin/http/query.ts'
import { createLogger } from '../../../src/log/log.ts'
import type { OAuthClient } from '../../../src/store/records/oauth-client.ts'
import { storedResponse, oauthClient } from '../../store/contract-specimens.ts'
import { account, tokenWith } from '../../tokens/token-with.ts'
import { startApi } from '../api.ts'
import { meet } from '../../help/meet.ts'

const call = { account, caller: tokenWith().token, now: 0, address: '', ray: '' } as Call
const auditFor = ({ id }: Pick<OAuthClient, 'id'>) =>
  auditOf(call, 'update', { resourceKind: 'oauth_client', resource: id })

async function start(t: TestContext, count = 0) {
  const { kept } = await startApi(t)
  const records = kept.oauthClients
  const lines: { resource: string }[] = []
  const log = createLogger('info', { write: line => lines.push(JSON.parse(line)) })
  const clients = Array.from({ length: count }, (_, i) =>
    oauthClient({ account, name: `n${i}`, createdAt: i }),
  )
  for (const client of clients) await records.insert(client)
  const told = async () => {
    const page = { since: null, before: null, descending: false, offset: 0, limit: 100 }
    const { items } = await kept.audit.list(account, page)
    assert.deepEqual(
      lines.map(({ resource }) => resource),
      items.map(({ resource }) => resource),
    )
    return lines.length
  }
  return { records, clients, log, told }
}

const byCreation = {
  createdAt: ({ createdAt }: OAuthClient) => createdAt,
  view: ({ name }: OAuthClient) => name,
}

/** Reads a response that lists names. */
const listIn = ({ body, rest = [] }: ApiResponse) =>
  JSON.parse([body, ...rest].join('')) as {
    readonly result: readonly string[]
    readonly result_info: { readonly total_count: number; readonly cursor?: string }
  }

test('pages follow each other by creation, and end', async t => {
  const { records } = await start(t, 5)
  const page = async (page: number) =>
    listIn(await pageOf(records, account, { page, perPage: 2, after: null }, byCreation))
  assert.deepEqual(
    [(await page(1)).result, (await page(3)).result, (await page(4)).result],
    [['n0', 'n1'], ['n4'], []],
  )
  assert.deepEqual((await page(3)).result_info, { page: 3, per_page: 2, count: 1, total_count: 5 })
})

test('pages of a filtered list contain only matches, however many there are', async t => {
  const { records } = await start(t, 501)
  const page = { page: 2, perPage: 2, after: null }
  const holds = ({ createdAt }: OAuthClient) => createdAt % 250 === 0
  const some = listIn(await pageOf(records, account, page, { ...byCreation, holds }))
  const info = { page: 2, per_page: 2, count: 1, total_count: 3 }
  assert.deepEqual([some.result, some.result_info], [['n500'], info])
  const turned = await pageOf(records, account, { ...page, page: 1 }, { ...byCreation, descending: true })
  assert.deepEqual(listIn(turned).result, ['n500', 'n499'])
})

for (const { name, ...order } of [
  { name: 'oldest first', descending: false },
  { name: 'newest first', descending: true },
  { name: 'filtered', descending: false, holds: ({ name }: OAuthClient) => name !== 'n7' },
])
  test(`a cursor leads to the rest, whatever was removed before it: ${name}`, async t => {
    const { records, clients } = await start(t, 40)
    const seen: string[] = []
    let query = new URLSearchParams()
    for (;;) {
      const page = new Parameters(query).page(3)
      const { result, result_info } = listIn(
        await pageOf(records, account, page, { ...byCreation, ...order }),
      )
      for (const name of result) {
        seen.push(name)
        await records.remove(account, clients[Number(name.slice(1))]!.id)
      }
      if (result_info.cursor === undefined) break
      query = new URLSearchParams({ cursor: result_info.cursor })
    }
    const all = clients.map(({ name }) => name).filter(name => !('holds' in order) || name !== 'n7')
    assert.deepEqual(seen, order.descending ? all.toReversed() : all)
  })

test('a list that is large comes in parts, and is whole', async t => {
  const { records } = await start(t, 3)
  const view = ({ name }: OAuthClient) => name.repeat(50_000)
  const page = { page: 1, perPage: 9, after: null }
  const response = await pageOf(records, account, page, { ...byCreation, view })
  assert.equal(response.rest?.length, 3)
  const { result } = listIn(response)
  assert.deepEqual(
    result.map(text => [text.length, text.slice(0, 2)]),
    [0, 1, 2].map(i => [100_000, `n${i}`]),
  )
})

test('audit entries exist exactly for the writes that were made', async t => {
  const { records, clients, log, told } = await start(t, 1)
  const [kept] = clients as [OAuthClient]
  const audit = auditFor(kept)
  assert.equal(await add(records, kept, { audit }, log), false)
  assert.equal(await put(records, { ...kept, name: 'late' }, 7, { audit }, log), false)
  assert.equal(await drop(records, audit, log, 7), false)
  assert.equal(await told(), 0)

  const { version } = (await records.get(account, kept.id))!
  assert.equal(await put(records, { ...kept, name: 'new' }, version, { audit }, log), true)
  assert.equal((await records.get(account, kept.id))?.record.name, 'new')
  const other = oauthClient({ account })
  assert.equal(await add(records, other, { audit: auditFor(other) }, log), true)
  assert.equal(await drop(records, auditFor(kept), log), true)
  assert.equal(await drop(records, auditFor(kept), log), false)
  assert.deepEqual([await records.get(account, kept.id), await told()], [null, 3])
})

test('nothing is written when the key of the response is taken', async t => {
  const { records, clients, log, told } = await start(t, 1)
  const [kept] = clients as [OAuthClient]
  const { version } = (await records.get(account, kept.id))!
  const response = storedResponse({ account, expiresAt: Date.UTC(2100, 0, 1) })
  const first = oauthClient({ account })
  assert.equal(await add(records, first, { audit: auditFor(first), response }, log), true)
  const second = oauthClient({ account })
  assert.equal(await add(records, second, { audit: auditFor(second), response }, log), false)
  assert.equal(
    await put(records, { ...kept, name: 'x' }, version, { audit: auditFor(kept), response }, log),
    false,
  )
  assert.deepEqual([await records.get(account, second.id), await told()], [null, 1])
  assert.deepEqual((await records.get(account, kept.id))?.record, kept)
})

test('a change is computed again on the result of a concurrent write', async t => {
  const { records, clients, log, told } = await start(t, 1)
  const [{ id }] = clients as [OAuthClient]
  const replace = records.replace.bind(records)
  let seen: string[] = []
  records.replace = async (record, version, together) => {
    records.replace = replace
    const { record: now, version: current } = (await records.get(account, id))!
    await replace({ ...now, name: 'between' }, current)
    return replace(record, version, together)
  }
  const revised = await revise(
    records,
    account,
    id,
    kept => {
      seen = [...seen, kept.name]
      return { record: { ...kept, policyUri: 'https://b.example/' }, audit: auditFor(kept) }
    },
    log,
  )
  assert.ok(revised && 'record' in revised)
  const { name, policyUri } = (await records.get(account, id))!.record
  assert.deepEqual([seen, name, policyUri], [['n0', 'between'], 'between', 'https://b.example/'])
  assert.equal(await told(), 1)
})

test('concurrent changes are all kept', async t => {
  const { records, clients, log, told } = await start(t, 1)
  const [{ id }] = clients as [OAuthClient]
  const raise = (kept: OAuthClient) => ({
    record: { ...kept, revision: kept.revision + 1 },
    audit: auditFor(kept),
  })
  meet(t, records, 'get', 20)
  await Promise.all(Array.from({ length: 20 }, () => revise(records, account, id, raise, log)))
  assert.deepEqual([(await records.get(account, id))?.record.revision, await told()], [21, 20])
})

test('nothing is changed where the record is missing, or where the change returns a response of its own', async t => {
  const { records, clients, log, told } = await start(t, 1)
  const [{ id }] = clients as [OAuthClient]
  const response = failure('no_secrets')
  assert.equal(await revise(records, account, id, () => response, log), response)
  const unasked = () => assert.fail('the change was asked')
  assert.equal(await revise(records, account, '0'.repeat(32), unasked, log), null)
  assert.equal(await told(), 0)
})

test('moments are written in UTC, always with ms', () => {
  assert.equal(isoTime(Date.UTC(2026, 0, 2, 3, 4, 5)), '2026-01-02T03:04:05.000Z')
  assert.equal(isoTime(Date.UTC(2026, 0, 2, 3, 4, 5, 60)), '2026-01-02T03:04:05.060Z')
})

test('of concurrent writes of a missing record, one creates it and the others update it', async t => {
  const { records, log, told } = await start(t)
  const client = oauthClient({ account, name: '' })
  const append = (mark: string) =>
    upsert(
      records,
      client,
      kept => ({ record: { ...client, name: `${kept?.name ?? 'new '}${mark}` }, audit: auditFor(client) }),
      log,
    )
  meet(t, records, 'get', 4)
  await Promise.all(['a', 'b', 'c', 'd'].map(append))
  const { record } = (await records.get(account, client.id))!
  assert.match(record.name, /^new /)
  assert.deepEqual([record.name.slice(4).split('').sort().join(''), await told()], ['abcd', 4])
  const gone = failure('no_such', 'thing')
  assert.equal(await upsert(records, client, () => gone, log), gone)
  assert.equal(await told(), 4)
})

test('a record that no account owns is removed, and recorded for the account of the entry', async t => {
  const { records, log, told } = await start(t)
  const theirs = oauthClient({ account: '1'.repeat(32) })
  await records.insert(theirs)
  assert.equal(await drop(records, auditFor(theirs), log), false)
  assert.equal(await drop(records, auditFor(theirs), log, undefined, theirs.account), true)
  assert.deepEqual([await records.get(theirs.account, theirs.id), await told()], [null, 1])
})

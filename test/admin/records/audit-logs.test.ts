import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandLine } from '../../../src/store/audit-entry.ts'
import { auditEntry } from '../../store/contract-specimens.ts'
import { account } from '../../tokens/token-with.ts'
import { startApi } from '../api.ts'
import { described, faultsOf } from '../openapi/openapi-document.ts'

const day = 86_400_000
const start = Date.UTC(2026, 0, 1)

async function startWithEntries(t: Parameters<typeof startApi>[0], count: number) {
  const api = await startApi(t)
  const entries = Array.from({ length: count }, (_, i) => auditEntry({ account, at: start + i * day }))
  for (const entry of entries) await api.kept.audit.append(entry)
  await api.kept.audit.append(auditEntry({ account: '9'.repeat(32), at: start }))
  const idsOf = async (query: string) => {
    const { json } = await api.ask('GET', `/audit_logs${query}`)
    return [
      json.result.map(({ id }: { id: string }) => entries.findIndex(entry => entry.id === id)),
      json.result_info.total_count,
    ]
  }
  return { ...api, entries, idsOf }
}

test('entries have the shape of the published client', async t => {
  const { ask, entries } = await startWithEntries(t, 1)
  const [entry] = entries
  const { result } = (await ask('GET', '/audit_logs')).json
  assert.deepEqual(result, [
    {
      id: entry!.id,
      action: { type: entry!.action, result: true },
      actor: { id: entry!.actor, type: 'user', ip: entry!.address },
      resource: { id: entry!.resource, type: entry!.resourceKind },
      when: '2026-01-01T00:00:00.000Z',
      metadata: { ray: entry!.ray, changed: entry!.changed },
      owner: { id: account },
      interface: 'API',
    },
  ])
})

test('changes by a command of the operator are recorded as such, without an address', async t => {
  const { ask, kept } = await startApi(t)
  await kept.audit.append(auditEntry({ account, actor: commandLine.id, address: '' }))
  const response = (await ask('GET', '/audit_logs')).json
  const [{ actor, interface: way }] = response.result
  assert.deepEqual([actor, way], [{ id: 'command line', type: 'admin' }, 'CLI'])
  const { responses } = described.find(({ id }) => id === 'listAuditLogs')!
  assert.equal(faultsOf(responses['200']!.content['application/json']!.schema, response), '')
})

test('they come by page, the newest first unless asked otherwise, and only those of the account', async t => {
  const { idsOf } = await startWithEntries(t, 5)
  assert.deepEqual(await idsOf(''), [[4, 3, 2, 1, 0], 5])
  assert.deepEqual(await idsOf('?direction=asc&per_page=2&page=2'), [[2, 3], 5])
  assert.deepEqual(await idsOf('?per_page=2&page=3'), [[0], 5])
})

test('they are cut by days and moments: since one, and before another', async t => {
  const { idsOf } = await startWithEntries(t, 5)
  assert.deepEqual(await idsOf('?since=2026-01-03'), [[4, 3, 2], 3])
  assert.deepEqual(await idsOf('?before=2026-01-03T00:00:00.000Z'), [[1, 0], 2])
  assert.deepEqual(await idsOf('?since=2026-01-01T23:00:00-01:00&before=2026-01-03T00:00:00.001Z'), [
    [2, 1],
    2,
  ])
})

test('invalid parameters are refused, all at once', async t => {
  const { ask } = await startApi(t)
  const { status, json } = await ask(
    'GET',
    '/audit_logs?since=yesterday&before=2026-13-01&direction=up&per_page=101',
  )
  assert.equal(status, 400)
  assert.deepEqual(
    json.errors.map(({ message }: { message: string }) => message.split(' ')[0]),
    ['per_page', 'since', 'before', 'direction'],
  )
  assert.equal((await ask('GET', '/audit_logs?actor.ip=192.0.2.1')).status, 400)
})

test('the log is visible only with the permission to read tokens', async t => {
  const { ask, keepToken } = await startApi(t)
  const { value: token } = await keepToken(['OAuth Clients Write', 'AI Gateway Edit'])
  assert.equal((await ask('GET', '/audit_logs', { token })).status, 403)
})

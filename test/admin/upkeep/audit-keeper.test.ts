// The audit trail within its bounds: who loses what, and what is told of that.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { commandLine, signingIn, strangerAt } from '../../../src/store/records/audit-entry.ts'
import { type AuditBounds, AuditKeeper, maxFailedSignIns } from '../../../src/admin/upkeep/audit-keeper.ts'
import { createLogger } from '../../../src/log/log.ts'
import { StoreUnreachable } from '../../../src/store/contract/store.ts'
import { auditEntry, auditQuery } from '../../store/contract-specimens.ts'
import { account } from '../../tokens/token-with.ts'
import { startApi } from '../api.ts'
import { described, faultsOf } from '../openapi/openapi-document.ts'

const day = 86_400_000

async function start(t: TestContext, bounds: Partial<AuditBounds> = {}) {
  const api = await startApi(t)
  const { kept: store, clock, lines } = api
  const log = createLogger('info', { write: line => lines.push(JSON.parse(line)) })
  const all = { retention: 400 * day, entriesPerToken: 10, ...bounds }
  const keeper = new AuditKeeper({ store, log, clock, bounds: all })
  t.after(() => keeper.close())
  const trail = async () => (await api.ask('GET', '/audit_logs?per_page=100&direction=asc')).json
  return { ...api, store, keeper, trail }
}

test('failed sign-ins with the address of a user push out only each other from the audit log', async t => {
  const { keeper, store, clock } = await start(t, { entriesPerToken: 100_000 })
  const [ada, bob] = ['a'.repeat(32), 'b'.repeat(32)]
  const at = clock.now()
  const keep = (actor: string, i = 0) => store.audit.append(auditEntry({ account, actor, at: at + i }))
  for (const actor of [ada, signingIn({ id: ada, email: '' }).id, strangerAt({ id: bob }).id])
    await keep(actor)
  const most = maxFailedSignIns + 3
  for (let i = 0; i < most; i++) await keep(strangerAt({ id: ada }).id, i)
  await keeper.trim()
  const { items, total } = await store.audit.list(account, auditQuery({ limit: 2_000 }))
  const of = (wanted: string) => items.filter(({ actor }) => actor === wanted).length
  assert.equal(of(strangerAt({ id: ada }).id), maxFailedSignIns)
  assert.equal(total, maxFailedSignIns + 4)
  const [told] = items.filter(({ action }) => action === 'drop')
  assert.deepEqual([told!.resource, told!.dropped?.count], [strangerAt({ id: ada }).id, 3])
})

test('a token that writes a lot drops only its own entries, and that is recorded', async t => {
  const { ask, keepToken, keeper, trail, clock, lines, store } = await start(t)
  await store.audit.append(auditEntry({ account, actor: commandLine.id, at: clock.now() - day }))
  const quiet = await keepToken(['AI Gateway Edit'])
  const busy = await keepToken(['AI Gateway Edit'])
  const make = (id: string, token: string) => {
    clock.advance(1_000)
    return ask('POST', '/ai-gateway/gateways', { token, body: { ...newGateway, id } })
  }
  const began = clock.now() + 1_000
  assert.equal((await make('quiet', quiet.value)).status, 200)
  for (let i = 0; i < 25; i++) assert.equal((await make(`busy-${i}`, busy.value)).status, 200)
  await keeper.trim()
  const response = await trail()
  const entries = response.result as {
    readonly actor: { readonly id: string }
    readonly resource: { readonly id: string }
  }[]
  assert.deepEqual(
    entries.map(({ actor }) => actor.id),
    [commandLine.id, quiet.token.id, ...Array(10).fill(busy.token.id), 'gatehouse'],
  )
  assert.equal(entries[2]!.resource.id, 'busy-15')
  const from = new Date(began + 1_000).toISOString()
  const to = new Date(began + 15_000).toISOString()
  assert.partialDeepStrictEqual(entries.at(-1), {
    action: { type: 'drop', result: true },
    actor: { id: 'gatehouse', type: 'system' },
    interface: 'System',
    resource: { id: busy.token.id, type: 'audit_entries' },
  })
  const { dropped } = (response.result.at(-1) as { metadata: { dropped: Record<string, string | number> } })
    .metadata
  assert.deepEqual(
    [dropped.count, Date.parse(String(dropped.from)), Date.parse(String(dropped.to))],
    [15, Date.parse(from), Date.parse(to)],
  )
  const { responses } = described.find(({ id }) => id === 'listAuditLogs')!
  assert.equal(faultsOf(responses['200']!.content['application/json']!.schema, response), '')
  assert.ok(lines.some(({ msg, resource }) => msg === 'audit entries dropped' && resource === busy.token.id))
})

test('entries stay as long as the retention says, by whole days, however many tokens write', async t => {
  const { keeper, trail, clock, store } = await start(t, { retention: 2 * day, entriesPerToken: 1_000 })
  const at = Math.floor(clock.now() / day) * day
  for (const age of [3, 2.5, 2, 1, 0])
    await store.audit.append(auditEntry({ account, actor: `of ${age}`, at: at - age * day }))
  await keeper.trim()
  const idsOf = async () =>
    (await trail()).result.map(({ actor, resource }: { actor: { id: string }; resource: { id: string } }) =>
      actor.id === 'gatehouse' ? `dropped ${resource.id}` : actor.id,
    )
  const left = await idsOf()
  assert.deepEqual(left.toSorted(), ['dropped of 2.5', 'dropped of 3', 'of 0', 'of 1', 'of 2'])
  clock.advance(10 * day)
  await keeper.trim()
  // What tells of dropped entries goes by age as they do, and leaves none behind.
  assert.deepEqual((await idsOf()).toSorted(), ['dropped of 0', 'dropped of 1', 'dropped of 2'])
})

test('it begins at once, tries again when the store was unreachable, and ends', async t => {
  const { store, lines } = await start(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let asked = 0
  const flaky = {
    ...store,
    accounts: {
      ...store.accounts,
      list: async () => {
        if (asked++ === 0) throw new StoreUnreachable()
        return []
      },
    },
  } as unknown as typeof store
  const log = createLogger('info', { write: line => lines.push(JSON.parse(line)) })
  const bounds = { retention: day, entriesPerToken: 1_000 }
  const keeper = new AuditKeeper({ store: flaky, log, bounds })
  keeper.start()
  await turns()
  t.mock.timers.tick(60_000)
  await turns()
  assert.equal(asked, 2)
  t.mock.timers.tick(3_599_000)
  assert.equal(asked, 2)
  t.mock.timers.tick(1_000)
  await turns()
  await keeper.close()
  t.mock.timers.tick(4_000_000)
  assert.deepEqual([asked, lines], [3, []])
})

/** Lets pass what waits for nothing but this process. */
async function turns(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise(setImmediate)
}

const newGateway = {
  cache_invalidate_on_update: false,
  cache_ttl: 0,
  collect_logs: true,
  rate_limiting_interval: 0,
  rate_limiting_limit: 0,
}

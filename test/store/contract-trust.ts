// The promises of a store about what identifies it, and what happens where it lacks what was seen in it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { movedIdentity } from '../../src/store/contract/mark.ts'
import type { Change, Store, StoreDegraded } from '../../src/store/contract/store.ts'
import type { BudgetStep } from '../../src/store/records/budget.ts'
import { batchOf } from '../../src/store/log-batch/batch.ts'
import { until } from '../help/until.ts'
import type { Place } from './contract.ts'
import {
  accessRuleList,
  account,
  auditEntry,
  auditQuery,
  credential,
  gateway,
  logEntries,
  token,
} from './contract-specimens.ts'

const other = 'f'.repeat(32)
const first = { offset: 0, limit: 10 }

function budgetStep(owner: string): BudgetStep {
  const window = { kind: 'fixed', until: 4_000_000_000_000 } as const
  const line = { bucket: 'b', window, limit: 9, share: 's', total: 5, confirmed: 0, keep: 2, ifLost: 1 }
  return { account: owner, sequence: 1, lease: 600_000, lines: [{ ...line, need: 0, want: 0 }] }
}

export function trustContract(name: string, place: Place): void {
  test(`${name}: all who open a store find one identity, and it stays`, async t => {
    const open = await place(t)
    const [one, another] = await Promise.all([open(), open()])
    const [a, b] = await Promise.all([one.adopt(), another.adopt()])
    assert.match(a.identity, /^[0-9a-f]{32}$/)
    assert.equal(a.identity, b.identity)
    await one.tokens.insert(token())
    assert.equal((await another.adopt()).identity, a.identity)
    assert.equal((await (await open()).mark())?.identity, a.identity)
  })

  test(`${name}: each change of a record raises the generation by one, and nothing else does`, async t => {
    const open = await place(t)
    const store = await open()
    await store.adopt()
    const owner = account()
    await store.accounts.insert(owner)
    const [aToken, aGateway] = [token({ account: owner.id }), gateway({ account: owner.id })]
    const raised = async (work: () => Promise<unknown>) => {
      const before = (await store.mark())!.generation
      await work()
      return (await store.mark())!.generation - before
    }
    const versionOf = async () => (await store.tokens.get(owner.id, aToken.id))!.version
    assert.equal(await raised(() => store.tokens.insert(aToken, { audit: auditEntry() })), 1)
    assert.equal(await raised(() => store.tokens.insert(aToken)), 0)
    assert.equal(await raised(async () => store.tokens.replace(aToken, await versionOf())), 1)
    assert.equal(await raised(() => store.tokens.replace(aToken, 1_234_567)), 0)
    assert.equal(await raised(() => store.accounts.update(owner.id, { name: 'New' })), 1)
    assert.equal(await raised(() => store.accessRules.insert(accessRuleList())), 1)
    assert.equal(await raised(() => store.gateways.insert(aGateway)), 1)
    const session = credential('session')
    const batch = batchOf(logEntries(aGateway, 2))
    const limit = { maxEntries: 10, strategy: 'DELETE_OLDEST' } as const
    const window = { kind: 'sliding', period: 60_000 } as const
    for (const work of [
      () => store.credentials.put(session),
      () => store.credentials.remove('session', session.digest),
      () => store.logs.append(owner.id, aGateway.id, batch, limit),
      () => store.counters.spend({ key: '0', window, limit: 1, done: 0, wanted: 1 }),
      () => store.budgets.step(budgetStep(owner.id)),
      () => store.tokens.noteUses([{ account: owner.id, id: aToken.id, at: 1 }]),
      () => store.audit.append(auditEntry()),
    ])
      assert.equal(await raised(work), 0, String(work))
    assert.equal(await raised(() => store.tokens.remove(owner.id, aToken.id)), 1)
  })

  test(`${name}: a store that lacks what was seen is neither read nor changed, and no change is reported`, async t => {
    const open = await place(t)
    const [store, writer] = await Promise.all([open(), open()])
    const mark = await store.adopt()
    const kept = token()
    await writer.tokens.insert(kept)
    const session = credential('session')
    await writer.credentials.put(session)
    const spending = budgetStep(kept.account)
    await writer.budgets.step(spending)
    const told: Change[] = []
    store.changes.follow(change => told.push(change))
    const lacks = { ...mark, generation: (await store.mark())!.generation + 3 }
    store.trust.expect(lacks)
    await until(() => told.some(({ kind }) => kind === 'everything') || store.trust.isDoubted)
    const refused: Readonly<Record<string, (store: Store) => unknown>> = {
      get: ({ tokens }) => tokens.get(kept.account, kept.id),
      list: ({ tokens }) => tokens.list(kept.account, first),
      walk: ({ tokens }) => Array.fromAsync(tokens.walk(kept.account)),
      findByDigest: async ({ tokens }) => tokens.findByDigest(kept.digest),
      accounts: ({ accounts }) => accounts.list(),
      oldest: ({ accounts }) => accounts.oldest(),
      session: async ({ credentials }) => credentials.get('session', session.digest),
      audit: ({ audit }) => audit.list(kept.account, auditQuery()),
      insert: ({ gateways }) => gateways.insert(gateway()),
      remove: ({ tokens }) => tokens.remove(kept.account, kept.id),
      put: ({ credentials }) => credentials.put(credential('session')),
      spend: ({ budgets }) => budgets.step({ ...spending, sequence: 2 }),
      'what is spent': ({ budgets }) => budgets.read(spending.account, spending.lines),
      'all that is spent': ({ budgets }) => Array.fromAsync(budgets.entries(spending.account)),
      reset: ({ budgets }) => budgets.reset(spending.account, spending.lines[0]!),
    }
    for (const [what, ask] of Object.entries(refused))
      await assert.rejects(
        async () => ask(store),
        (error: StoreDegraded) => {
          assert.equal(error.name, 'StoreDegraded', `${what}: ${error}`)
          assert.match(error.message, /: the last 3 changes are missing$/)
          return true
        },
        what,
      )
    assert.equal(store.degradation.reasons[0]?.code, 'store_older')
    told.length = 0
    const { knownUntil } = store.changes
    // Fewer than are missing: it still lacks what was seen, also at the next looks.
    await writer.tokens.insert(token())
    await setTimeout(1_200)
    assert.deepEqual([told, store.changes.knownUntil], [[], knownUntil])
    assert.equal(store.isUnreachable, false)

    // As an operator accepts it.
    store.trust.expect(await writer.adopt())
    await until(() => told.some(({ kind }) => kind === 'everything'))
    assert.deepEqual((await store.tokens.get(kept.account, kept.id))?.record, kept)
    assert.deepEqual(store.degradation.reasons, [])
    assert.equal(await store.gateways.insert(gateway()), true)
    const [sum] = await store.budgets.read(spending.account, spending.lines)
    assert.deepEqual(sum, { bucket: 'b', spent: 5, leased: 2 })
  })

  test(`${name}: a store that lost changes stays in doubt when others were made instead, until the very last one is there`, async t => {
    const open = await place(t)
    const [store, writer] = await Promise.all([open(), open()])
    const mark = await store.adopt()
    store.trust.expect({ ...mark, generation: 2, last: 'gone' })
    await assert.rejects(store.accounts.list(), { name: 'StoreDegraded' })
    for (let i = 0; i < 5; i++) await writer.tokens.insert(token())
    await assert.rejects(store.accounts.list(), {
      message: 'the store has lost changes: changes up to generation 2 were lost, and others were made since',
    })
    const { generation, last } = (await store.mark())!
    store.trust.join({ identity: mark.identity, generation, last, isBehind: false })
    assert.deepEqual(await store.accounts.list(), [])
    assert.equal(store.trust.isDoubted, false)
  })

  test(`${name}: another store is not used, and a copy that goes on as it is`, async t => {
    const open = await place(t)
    const store = await open()
    await store.adopt()
    store.trust.expect({ identity: other, generation: 40, last: '', isBehind: false })
    await assert.rejects(store.accounts.list(), { name: 'StoreDegraded' })
    const copier = await open()
    await copier.tokens.insert(token())
    await assert.rejects(store.accounts.list(), {
      message: /^the store is another one than this machine has seen: [0-9a-f]{8} instead of ffffffff$/,
    })
    assert.equal(store.degradation.reasons[0]?.code, 'store_other')
    await copier.continueAs({ identity: other, generation: 41, last: '', isBehind: false })
    assert.deepEqual(await store.accounts.list(), [])
    assert.deepEqual(store.degradation.reasons, [])
    assert.equal(store.trust.seen?.generation, 41)
  })

  test(`${name}: a store whose records are moved confirms nothing to whoever has seen it before, until it is accepted again`, async t => {
    const open = await place(t)
    const [store, mover] = await Promise.all([open(), open()])
    const owner = account()
    await store.accounts.insert(owner)
    const seen = await store.adopt()
    store.trust.expect(seen)
    // At once: nothing of it was read since.
    const moved = movedIdentity(seen.identity)
    await mover.continueAs({ ...seen, identity: moved })
    const refused = { name: 'StoreDegraded', message: /^the records of the store were moved to another one/ }
    await assert.rejects(store.credentials.put(credential('session')), refused)
    await assert.rejects(store.budgets.step(budgetStep(owner.id)), refused)
    await assert.rejects(store.tokens.insert(token({ account: owner.id })), refused)
    await assert.rejects(store.accounts.list(), refused)
    assert.deepEqual(
      store.degradation.reasons.map(({ code }) => code),
      ['store_moved'],
    )
    await mover.continueAs(seen, movedIdentity(seen.identity))
    await assert.rejects(store.accounts.list(), refused, 'another move has begun')
    await mover.continueAs(seen, moved)
    assert.equal((await store.accounts.list()).length, 1)
    assert.equal(await store.credentials.put(credential('session')), true)
    assert.deepEqual(store.degradation.reasons, [])
  })
}

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { copyStore, inWords } from '../../src/store/copy.ts'
import { batchOf } from '../../src/store/log-batch/writer.ts'
import { openStore } from '../../src/store/open.ts'
import { zoneOwner } from '../../src/store/zone-lists.ts'
import type { Store } from '../../src/store/store.ts'
import {
  accessRuleList,
  account,
  auditEntry,
  auditQuery,
  errorPage,
  errorRuleList,
  gateway,
  keptAnswer,
  logEntries,
  oauthClient,
  token,
  verification,
} from './contract-specimens.ts'
import { temporaryFile } from './sqlite/temporary-file.ts'

async function empty(t: TestContext): Promise<Store> {
  const store = await openStore('sqlite::memory:', { commandTimeout: 500 })
  t.after(() => store.close())
  return store
}

/** Fills a store with two accounts of 120 tokens, OAuth clients and audit entries and two gateways each, one with 700 log entries; and rules and pages of nine zones. */
async function filled(t: TestContext): Promise<Store> {
  const store = await empty(t)
  for (const owner of [account({ createdAt: 1 }), account({ createdAt: 2 })]) {
    await store.accounts.insert(owner)
    for (let i = 0; i < 120; i++) {
      await store.tokens.insert(token({ account: owner.id, issuedOn: i }))
      const audit = auditEntry({ account: owner.id, at: 120 - i })
      await store.oauthClients.insert(oauthClient({ account: owner.id, createdAt: i % 50 }), { audit })
    }
    for (const id of ['default', 'quiet']) await store.gateways.insert(gateway({ account: owner.id, id }))
    const entries = logEntries(gateway({ account: owner.id }), 700, i => (i % 2 ? { request: null } : {}))
    await store.logs.append(owner.id, 'default', batchOf(entries), { most: 1000, strategy: 'DELETE_OLDEST' })
  }
  for (let i = 0; i < 9; i++) {
    await store.errorRules.insert(errorRuleList({ id: `${i}.example` }))
    await store.accessRules.insert(accessRuleList({ id: `${i}.example`, createdAt: 9 - i }))
    await store.errorPages.insert(errorPage({ zone: `${i}.example`, html: 'x'.repeat(i) }))
  }
  return store
}

/** Gives all that a store holds. */
async function everything(store: Store) {
  const { accounts, gateways, tokens, oauthClients, logs, audit } = store
  const owners = await accounts.list()
  const held = owners.map(async ({ id }) => ({
    gateways: await gateways.list(id, { offset: 0, limit: 1000 }),
    tokens: await tokens.list(id, { offset: 0, limit: 1000 }),
    oauthClients: await oauthClients.list(id, { offset: 0, limit: 1000 }),
    audit: await audit.list(id, auditQuery({ limit: 1000 })),
    entries: (await Array.fromAsync(logs.entries(id, 'default'))).flat(),
    quiet: await logs.count(id, 'quiet'),
  }))
  const page = { offset: 0, limit: 1000 }
  const zones = await Promise.all(
    [store.errorRules, store.accessRules, store.errorPages].map(records => records.list(zoneOwner, page)),
  )
  return { owners, held: await Promise.all(held), zones }
}

test('everything of a store is copied to an empty one', async t => {
  const [from, to] = [await filled(t), await empty(t)]
  assert.deepEqual(await copyStore(from, to), {
    ...{ accounts: 2, gateways: 4, tokens: 240, oauthClients: 240 },
    ...{ logEntries: 1400, auditEntries: 240, ruleLists: 18, errorPages: 9 },
  })
  assert.deepEqual(await everything(to), await everything(from))
})

test('a domain that was being verified goes on being verified, and answers stay behind', async t => {
  const [from, to] = [await empty(t), await empty(t)]
  const owner = account()
  await from.accounts.insert(owner)
  const nextCheckAt = Date.now() - 1000
  const waiting = oauthClient({ account: owner.id, verification: verification({ nextCheckAt }) })
  const over = oauthClient({ account: owner.id })
  const answer = keptAnswer({ account: owner.id })
  await from.oauthClients.insert(waiting, { answer })
  await from.oauthClients.insert(over)
  assert.equal((await from.oauthClients.claimDue(10, 60_000)).length, 1)
  await copyStore(from, to)
  const due = await to.oauthClients.claimDue(10, 60_000)
  assert.deepEqual(
    due.map(({ record }) => record),
    [waiting],
  )
  assert.equal(await to.answers.get(owner.id, answer.key), null)
})

test('a store without an account is not copied from', async t => {
  await assert.rejects(copyStore(await empty(t), await empty(t)), {
    message: 'nothing was copied: sqlite::memory: has no account',
  })
})

test('a store that holds an account is not copied to', async t => {
  const [from, to] = [await filled(t), await empty(t)]
  await to.accounts.insert(account())
  await assert.rejects(copyStore(from, to), {
    message: 'nothing was copied: sqlite::memory: already has an account: the target must be an empty store',
  })
  assert.equal((await to.accounts.list()).length, 1)
})

test('a copy that fails says what was copied, and why not all', async t => {
  const [from, to] = [await filled(t), await empty(t)]
  const [, second] = await from.accounts.list()
  await to.gateways.insert(gateway({ account: second!.id, id: 'quiet' }))
  await assert.rejects(copyStore(from, to), {
    message:
      'the copy to sqlite::memory: is incomplete: the gateway quiet already exists. Copied so far: 2 accounts, 3 gateways, 240 tokens, 240 OAuth clients, 1400 log entries, 120 audit entries, 0 rule lists and 0 error pages. Empty it and copy again',
  })
})

test('a copy that fails names the store that failed, be it read or written', async t => {
  const away = () => openStore('redis://user:SECRET@127.0.0.1:1', { commandTimeout: 500 })
  const [full, none, down] = [await filled(t), await empty(t), await away()]
  t.after(() => down.close())
  const message = 'nothing was copied: redis://127.0.0.1:1: store unreachable (ECONNREFUSED)'
  await assert.rejects(copyStore(down, none), { message })
  await assert.rejects(copyStore(full, down), { message })
})

test('a source that fails on the way is named, and what was copied before', async t => {
  for (const [part, copied] of [
    ['tokens', '1 account, 0 gateways, 0 tokens, 0 OAuth clients, 0 log entries, 0 audit entries'],
    ['clients', '1 account, 0 gateways, 120 tokens, 0 OAuth clients, 0 log entries, 0 audit entries'],
    ['logs', '1 account, 1 gateway, 120 tokens, 120 OAuth clients, 0 log entries, 0 audit entries'],
    ['audit', '1 account, 2 gateways, 120 tokens, 120 OAuth clients, 700 log entries, 0 audit entries'],
  ] as const) {
    const [from, to] = [
      await filled(t),
      await openStore(`sqlite:${temporaryFile(t)}`, { commandTimeout: 500 }),
    ]
    t.after(() => to.close())
    const broken = async () => {
      throw new Error('it is broken')
    }
    const brokenOnTheWay = async function* () {
      yield await broken()
    }
    if (part === 'tokens') from.tokens.walk = brokenOnTheWay
    if (part === 'clients') from.oauthClients.walk = brokenOnTheWay
    if (part === 'audit') from.audit.list = broken
    if (part === 'logs') from.logs.entries = brokenOnTheWay
    await assert.rejects(copyStore(from, to), {
      message: `the copy to ${to.location} is incomplete: sqlite::memory:: it is broken. Copied so far: ${copied}, 0 rule lists and 0 error pages. Empty it and copy again`,
    })
  }
})

test('rules of zones that are there already are not written over', async t => {
  const [from, to] = [await filled(t), await empty(t)]
  await to.errorRules.insert(errorRuleList({ id: '3.example', rules: [] }))
  await assert.rejects(
    copyStore(from, to),
    /: the list of error rules 3.example already exists\. .* 3 rule lists/,
  )
  assert.deepEqual((await to.errorRules.get(zoneOwner, '3.example'))?.record.rules, [])
})

test('what was copied is reported in words', () => {
  const none = { accounts: 0, gateways: 0, tokens: 0, oauthClients: 0, logEntries: 0, auditEntries: 0 }
  assert.equal(
    inWords({
      ...none,
      accounts: 1,
      gateways: 2,
      oauthClients: 1,
      logEntries: 1,
      auditEntries: 2,
      ruleLists: 1,
      errorPages: 2,
    }),
    '1 account, 2 gateways, 0 tokens, 1 OAuth client, 1 log entry, 2 audit entries, 1 rule list and 2 error pages',
  )
  assert.match(
    inWords({ ...none, auditEntries: 1, ruleLists: 0, errorPages: 1 }),
    /, 0 OAuth clients, 0 log entries, 1 audit entry, 0 rule lists and 1 error page$/,
  )
})

test('a copy whose gateway is deleted meanwhile, and its log with it, is none', async t => {
  const [from, to] = [await filled(t), await empty(t)]
  const append = to.logs.append.bind(to.logs)
  t.mock.method(to.logs, 'append', async (...args: Parameters<typeof append>) => {
    await to.gateways.remove(args[0], args[1])
    return append(...args)
  })
  await assert.rejects(copyStore(from, to), /incomplete: the gateway default was deleted during the copy\. /)
})

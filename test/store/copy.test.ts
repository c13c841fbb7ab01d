import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { copyStore, inWords } from '../../src/store/copy.ts'
import { batchOf } from '../../src/store/log-batch-writer.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import {
  account,
  auditEntry,
  auditQuery,
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

/** Fills a store with two accounts of 120 tokens, OAuth clients and audit entries and two gateways each, one with 700 log entries. */
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
  return store
}

/** Gives all that a store holds. */
async function everything({ accounts, gateways, tokens, oauthClients, logs, audit }: Store) {
  const owners = await accounts.list()
  const held = owners.map(async ({ id }) => ({
    gateways: await gateways.list(id, { offset: 0, limit: 1000 }),
    tokens: await tokens.list(id, { offset: 0, limit: 1000 }),
    oauthClients: await oauthClients.list(id, { offset: 0, limit: 1000 }),
    audit: await audit.list(id, auditQuery({ limit: 1000 })),
    entries: (await Array.fromAsync(logs.entries(id, 'default'))).flat(),
    quiet: await logs.count(id, 'quiet'),
  }))
  return { owners, held: await Promise.all(held) }
}

test('everything of a store is copied to an empty one', async t => {
  const [from, to] = [await filled(t), await empty(t)]
  assert.deepEqual(await copyStore(from, to), {
    ...{ accounts: 2, gateways: 4, tokens: 240, oauthClients: 240 },
    ...{ logEntries: 1400, auditEntries: 240 },
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
    message: 'nothing was copied: sqlite::memory: holds no account',
  })
})

test('a store that holds an account is not copied to', async t => {
  const [from, to] = [await filled(t), await empty(t)]
  await to.accounts.insert(account())
  await assert.rejects(copyStore(from, to), {
    message: 'nothing was copied: sqlite::memory: holds an account already: name an empty store to copy to',
  })
  assert.equal((await to.accounts.list()).length, 1)
})

test('a copy that fails says what was copied, and why not all', async t => {
  const [from, to] = [await filled(t), await empty(t)]
  const [, second] = await from.accounts.list()
  await to.gateways.insert(gateway({ account: second!.id, id: 'quiet' }))
  await assert.rejects(copyStore(from, to), {
    message:
      'the copy to sqlite::memory: is not whole: the gateway quiet is there already. Copied were 2 accounts, 3 gateways, 240 tokens, 240 OAuth clients, 1400 log entries and 120 audit entries. Empty it and copy again',
  })
})

test('a copy that fails names the store that failed, be it read or written', async t => {
  const away = () => openStore('redis://user:SECRET@127.0.0.1:1', { commandTimeout: 500 })
  const [full, none, down] = [await filled(t), await empty(t), await away()]
  t.after(() => down.close())
  const message = 'nothing was copied: redis://127.0.0.1:1: the store is away (ECONNREFUSED)'
  await assert.rejects(copyStore(down, none), { message })
  await assert.rejects(copyStore(full, down), { message })
})

test('a source that fails on the way is named, and what was copied before', async t => {
  for (const [part, copied] of [
    ['tokens', '1 account, 0 gateways, 0 tokens, 0 OAuth clients, 0 log entries and 0 audit entries'],
    ['clients', '1 account, 0 gateways, 120 tokens, 0 OAuth clients, 0 log entries and 0 audit entries'],
    ['logs', '1 account, 1 gateway, 120 tokens, 120 OAuth clients, 0 log entries and 0 audit entries'],
    ['audit', '1 account, 2 gateways, 120 tokens, 120 OAuth clients, 700 log entries and 0 audit entries'],
  ] as const) {
    const [from, to] = [
      await filled(t),
      await openStore(`sqlite:${temporaryFile(t)}`, { commandTimeout: 500 }),
    ]
    t.after(() => to.close())
    const broken = async () => {
      throw new Error('it is broken')
    }
    if (part === 'tokens') from.tokens.list = broken
    if (part === 'clients') from.oauthClients.list = broken
    if (part === 'audit') from.audit.list = broken
    if (part === 'logs')
      from.logs.entries = async function* () {
        yield await broken()
      }
    await assert.rejects(copyStore(from, to), {
      message: `the copy to ${to.location} is not whole: sqlite::memory:: it is broken. Copied were ${copied}. Empty it and copy again`,
    })
  }
})

test('what was copied is told in words', () => {
  assert.equal(
    inWords({ accounts: 1, gateways: 2, tokens: 0, oauthClients: 1, logEntries: 1, auditEntries: 2 }),
    '1 account, 2 gateways, 0 tokens, 1 OAuth client, 1 log entry and 2 audit entries',
  )
  assert.match(
    inWords({ accounts: 1, gateways: 2, tokens: 0, oauthClients: 0, logEntries: 0, auditEntries: 1 }),
    /, 0 OAuth clients, 0 log entries and 1 audit entry$/,
  )
})

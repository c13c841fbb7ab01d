// Documents that nobody uses: they are looked at every hour, and end what they were good for.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createLogger } from '../../../src/log/log.ts'
import type { DocumentFault } from '../../../src/oauth/clients/document-fault.ts'
import { documentIdOf } from '../../../src/oauth/clients/document-url.ts'
import { DocumentKeeper } from '../../../src/oauth/documents/document-keeper.ts'
import { StoreUnreachable } from '../../../src/store/contract/store.ts'
import { openStore } from '../../../src/store/open.ts'
import type { OAuthClient } from '../../../src/store/records/oauth-client.ts'
import { everybody } from '../../../src/store/records/people.ts'
import { ManualClock } from '../../help/clock.ts'
import { turnsUntil } from '../../help/until.ts'
import { oauthGrant } from '../../store/contract-specimens.ts'
import { clientWith } from '../clients/client-with.ts'

const minute = 60_000
const hour = 60 * minute
const url = 'https://app.example/client.json'

/** Has a keeper of one client, whose document was fetched when the clock begins; `answer` is what comes of a fetch. */
async function start(t: TestContext, hosts: readonly string[] = ['app.example']) {
  const store = await openStore('sqlite::memory:', { commandTimeout: 500 })
  t.after(() => store.close())
  const clock = new ManualClock()
  const document = { url, scope: null, keys: [], fetchedAt: clock.now(), expiresAt: clock.now() + 300_000 }
  const client = clientWith({ account: everybody, id: documentIdOf(url), document })
  await store.oauthClients.insert(client)
  const grant = oauthGrant({ account: everybody, client: client.id, clientAccount: everybody })
  await store.oauthGrants.insert(grant)
  const ended: string[] = []
  let renewals = 0
  const site = {
    answer: null as DocumentFault | 'ended' | null,
    /** What comes before each answer. */
    before: async () => {},
    whenEnded: async () => {},
  }
  const documents = {
    renew: async (one: OAuthClient) => {
      renewals++
      await site.before()
      return site.answer === 'ended' ? null : (site.answer ?? one)
    },
    end: (_: OAuthClient, reason: string) => {
      ended.push(reason)
      return site.whenEnded()
    },
  }
  const lines: string[] = []
  const log = createLogger('error', { write: line => lines.push(line) })
  const keeper = new DocumentKeeper({ store, documents, hosts, log, clock })
  t.after(() => keeper.close())
  const sweepAfter = async (ms: number) => {
    clock.advance(ms)
    await keeper.sweep()
    return renewals
  }
  const withdraw = () => store.oauthGrants.remove(everybody, grant.id)
  return { store, site, ended, sweepAfter, withdraw, keeper, clock, lines, renewals: () => renewals }
}

test('a document is fetched again after an hour, and ends its client where it is gone', async t => {
  const { site, ended, sweepAfter } = await start(t)
  assert.equal(await sweepAfter(hour - 1), 0)
  assert.equal(await sweepAfter(1), 1)
  assert.deepEqual(ended, [])
  site.answer = { fault: 'gone', reason: 'gone' }
  await sweepAfter(0)
  assert.deepEqual(ended, ['gone'])
})

test('one that is broken or unreachable ends its client after a day of that alone', async t => {
  const { site, ended, sweepAfter } = await start(t)
  site.answer = { fault: 'invalid', reason: 'broken' }
  await sweepAfter(hour)
  await sweepAfter(23 * hour)
  site.answer = null
  await sweepAfter(0)
  site.answer = { fault: 'unreachable', reason: 'away' }
  await sweepAfter(hour)
  await sweepAfter(24 * hour - 1)
  assert.deepEqual(ended, [])
  await sweepAfter(1)
  assert.deepEqual(ended, ['away'])
  await sweepAfter(hour)
  assert.deepEqual(ended, ['away'], 'another client of the document has its day, too')
})

test('a client that has ended meanwhile is no failure, and one that cannot be ended is', async t => {
  const { site, ended, sweepAfter } = await start(t)
  site.answer = { fault: 'invalid', reason: 'broken' }
  await sweepAfter(hour)
  site.answer = 'ended'
  await sweepAfter(hour)
  site.answer = { fault: 'invalid', reason: 'broken' }
  await sweepAfter(23 * hour)
  assert.deepEqual(ended, [])
  site.answer = { fault: 'gone', reason: 'gone' }
  site.whenEnded = () => Promise.reject(new StoreUnreachable())
  await assert.rejects(sweepAfter(0), StoreUnreachable)
})

test('all documents are looked at every five minutes, and failures are told unless they are of the store', async t => {
  const { site, keeper, clock, lines, renewals } = await start(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  clock.advance(hour)
  keeper.start()
  const failures = [null, new Error('no'), new StoreUnreachable(), new Error('no')]
  for (const [i, failure] of failures.entries()) {
    site.before = async () => {
      if (failure !== null) throw failure
    }
    t.mock.timers.tick(5 * minute - 1)
    await turn()
    assert.equal(renewals(), i)
    t.mock.timers.tick(1)
    await turnsUntil(() => renewals() === i + 1)
    // The next round is waited for from the end of this one.
    for (let j = 0; j < 10; j++) await turn()
  }
  assert.equal(lines.length, 2)
  await keeper.close()
  t.mock.timers.tick(5 * minute)
  for (let j = 0; j < 10; j++) await turn()
  assert.equal(renewals(), 4)
})

test('closing waits for the document that is fetched, and leaves the others', async t => {
  const { site, keeper, clock, renewals, store } = await start(t)
  const other = 'https://app.example/other.json'
  const { record } = (await store.oauthClients.get(everybody, documentIdOf(url)))!
  const client = { ...record, id: documentIdOf(other), document: { ...record.document!, url: other } }
  await store.oauthClients.insert(client)
  await store.oauthGrants.insert(oauthGrant({ client: client.id, clientAccount: everybody }))
  t.mock.timers.enable({ apis: ['setTimeout'] })
  clock.advance(hour)
  const fetching = Promise.withResolvers<void>()
  site.before = () => fetching.promise
  keeper.start()
  t.mock.timers.tick(5 * minute)
  await turnsUntil(() => renewals() === 1)
  let isClosed = false
  const closing = keeper.close().then(() => {
    isClosed = true
  })
  for (let i = 0; i < 5; i++) await turn()
  assert.equal(isClosed, false)
  fetching.resolve()
  await closing
  t.mock.timers.tick(10 * minute)
  for (let i = 0; i < 10; i++) await turn()
  assert.equal(renewals(), 1)
})

test('a client that nobody allows anything any more is removed', async t => {
  const { ended, sweepAfter, withdraw } = await start(t)
  await withdraw()
  assert.equal(await sweepAfter(hour), 0)
  assert.deepEqual(ended, ['nobody allows it anything'])
})

test('a host that is no longer allowed ends its clients without a fetch', async t => {
  const { ended, sweepAfter } = await start(t, [])
  assert.equal(await sweepAfter(0), 0)
  assert.deepEqual(ended, ['its host is no longer allowed'])
})

// Documents that nobody uses: they are looked at every hour, and end what they were good for.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createLogger } from '../../../src/log/log.ts'
import type { DocumentFault } from '../../../src/oauth/clients/document-fault.ts'
import { documentIdOf } from '../../../src/oauth/clients/document-url.ts'
import { DocumentKeeper } from '../../../src/oauth/documents/document-keeper.ts'
import { openStore } from '../../../src/store/open.ts'
import type { OAuthClient } from '../../../src/store/records/oauth-client.ts'
import { everybody } from '../../../src/store/records/people.ts'
import { ManualClock } from '../../help/clock.ts'
import { oauthGrant } from '../../store/contract-specimens.ts'
import { clientWith } from '../clients/client-with.ts'

const hour = 3_600_000
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
  const site = { answer: null as DocumentFault | null }
  const documents = {
    renew: async (one: OAuthClient) => {
      renewals++
      return site.answer ?? one
    },
    end: async (_: OAuthClient, reason: string) => void ended.push(reason),
  }
  const log = createLogger('error', { write: () => {} })
  const keeper = new DocumentKeeper({ store, documents, hosts, log, clock })
  const sweepAfter = async (ms: number) => {
    clock.advance(ms)
    await keeper.sweep()
    return renewals
  }
  const withdraw = () => store.oauthGrants.remove(everybody, grant.id)
  return { site, ended, sweepAfter, withdraw }
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

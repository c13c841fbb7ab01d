import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ClientDirectory } from '../../../src/oauth/clients/client-directory.ts'
import { documentIdOf } from '../../../src/oauth/clients/document-url.ts'
import { openStore } from '../../../src/store/open.ts'
import type { OAuthClient } from '../../../src/store/records/oauth-client.ts'
import { everybody } from '../../../src/store/records/people.ts'
import { account as accountWith } from '../../store/contract-specimens.ts'
import { account, clientWith } from './client-with.ts'

const url = 'https://app.example/client.json'
const document = { url, scope: null, keys: [], fetchedAt: 0, expiresAt: 1 }
const described = clientWith({ account: everybody, id: documentIdOf(url), document })

/** Has a directory of a registered client and of documents, and the queries that it makes. */
async function start(t: TestContext) {
  const store = await openStore('sqlite::memory:', { commandTimeout: 500 })
  t.after(() => store.close())
  await store.accounts.insert(accountWith({ id: account }))
  const registered = clientWith()
  await store.oauthClients.insert(registered)
  const queries = [
    t.mock.method(store.oauthClients, 'find'),
    t.mock.method(store.oauthClients, 'get'),
  ] as const
  const cached = new Map<string, OAuthClient>()
  const told: unknown[] = []
  const documents = {
    cached: (url: string) => cached.get(url) ?? null,
    current: async (url: string, sender: string | null) => {
      told.push(['current', url, sender])
      return described
    },
    keep: async (client: OAuthClient, user: string) => {
      told.push(['keep', client.id, user])
      return false
    },
  }
  const count = () => queries.reduce((sum, { mock }) => sum + mock.callCount(), 0)
  return {
    store,
    registered,
    cached,
    told,
    documents,
    count,
    directory: new ClientDirectory(store, documents),
  }
}

test('a registered client is found by its id, with one query until it changes', async t => {
  const { store, registered, directory, count, told } = await start(t)
  const other = clientWith()
  await store.oauthClients.insert(other)
  assert.deepEqual(await directory.find(registered.id), registered)
  assert.deepEqual(await directory.current(registered.id, '192.0.2.1'), registered)
  await directory.find(other.id)
  assert.equal(count(), 2)
  const renamed = { ...registered, name: 'Another name' }
  const { version } = (await store.oauthClients.get(account, registered.id))!
  await store.oauthClients.replace(renamed, version)
  const before = count()
  assert.deepEqual(await directory.find(registered.id), renamed)
  assert.deepEqual(await directory.find(other.id), other)
  assert.equal(count(), before + 1, 'the other one is cached as it was')
  assert.deepEqual(told, [])
})

test('an id that is none costs no query, and one that nobody has costs one', async t => {
  const { directory, count } = await start(t)
  for (const id of ['', 'x', 'F'.repeat(32), `${'f'.repeat(32)}0`, 'http://app.example/client.json', 'url-x'])
    assert.equal(await directory.find(id), null, id)
  assert.equal(count(), 0)
  for (const id of ['f'.repeat(32), documentIdOf(url)])
    for (let i = 0; i < 2; i++) assert.equal(await directory.find(id), null)
  assert.equal(count(), 2)
})

test('a client is found by the URL of its document: as this process has it, or as it is stored', async t => {
  const { store, directory, cached, count } = await start(t)
  cached.set(url, described)
  assert.equal(await directory.find(url), described)
  assert.equal(count(), 0)
  cached.clear()
  assert.equal(await directory.find(url), null)
  await store.oauthClients.insert(described)
  assert.deepEqual(await directory.find(url), described)
  assert.deepEqual(await directory.find(described.id), described)
})

test('documents are fetched and stored for clients that have one alone', async t => {
  const { directory, told, registered } = await start(t)
  assert.equal(await directory.current(url, '192.0.2.1'), described)
  assert.equal(await directory.keep(described, 'ada'), false)
  assert.equal(await directory.keep(registered, 'ada'), true)
  assert.deepEqual(told, [
    ['current', url, '192.0.2.1'],
    ['keep', described.id, 'ada'],
  ])
})

test('without documents, no client is known by one, though it is stored', async t => {
  const { store, registered } = await start(t)
  await store.oauthClients.insert(described)
  const directory = new ClientDirectory(store)
  assert.deepEqual(await directory.find(registered.id), registered)
  for (const id of [url, described.id]) {
    assert.equal(await directory.find(id), null)
    assert.equal(await directory.current(id, null), null)
  }
  assert.equal(await directory.keep(described, 'ada'), true)
})

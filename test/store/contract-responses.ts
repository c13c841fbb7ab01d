// The promises of a store about responses that are kept for a time, to be given again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Place } from './contract.ts'
import { ContractClock } from './contract-clock.ts'
import { auditEntry, auditQuery, hex, storedResponse, oauthClient } from './contract-specimens.ts'

export function responsesContract(name: string, place: Place): void {
  test(`${name}: a response is found by its account and key, and by no other`, async t => {
    const { responses, oauthClients } = await (await place(t))()
    const kept = storedResponse()
    assert.equal(await responses.get(kept.account, kept.key), null)
    await oauthClients.insert(oauthClient({ account: kept.account }), { response: kept })
    assert.deepEqual(await responses.get(kept.account, kept.key), kept)
    assert.equal(await responses.get(hex(16), kept.key), null)
    assert.equal(await responses.get(kept.account, hex(32)), null)
  })

  test(`${name}: the same key is another response in another account`, async t => {
    const { responses, oauthClients } = await (await place(t))()
    const ours = storedResponse()
    const theirs = storedResponse({ key: ours.key })
    for (const response of [ours, theirs])
      assert.equal(await oauthClients.insert(oauthClient({ account: response.account }), { response }), true)
    for (const response of [ours, theirs])
      assert.deepEqual(await responses.get(response.account, response.key), response)
  })

  test(`${name}: a response that has expired is not there, and makes room for another`, async t => {
    const clock = new ContractClock()
    const store = await (await place(t))(clock)
    const { responses, oauthClients } = store
    const account = hex(16)
    const first = storedResponse({ account, expiresAt: clock.now() + 86_400_000 })
    const next = { ...storedResponse({ account, expiresAt: clock.now() + 2 * 86_400_000 }), key: first.key }
    const write = (response: typeof first) =>
      oauthClients.insert(oauthClient({ account }), { response, audit: auditEntry({ account }) })
    assert.equal(await write(first), true)
    clock.advance(86_390_000)
    assert.deepEqual(await responses.get(account, first.key), first)
    assert.equal(await write(next), false)
    clock.advance(11_000)
    assert.equal(await responses.get(account, first.key), null)
    assert.equal(await write(next), true)
    assert.deepEqual(await responses.get(account, first.key), next)
    assert.equal((await store.audit.list(account, auditQuery())).total, 2)
  })

  test(`${name}: of parallel writes with one key, one is kept, with its record`, async t => {
    const open = await place(t)
    const stores = await Promise.all([open(), open(), open()])
    const { account, key } = storedResponse()
    const tries = Array.from({ length: 20 }, (_, at) => ({
      client: oauthClient({ account }),
      together: { response: storedResponse({ account, key }), audit: auditEntry({ account, at }) },
    }))
    const kept = await Promise.all(
      tries.map(({ client, together }, i) => stores[i % 3]!.oauthClients.insert(client, together)),
    )
    assert.equal(kept.filter(Boolean).length, 1)
    const { client, together } = tries[kept.indexOf(true)]!
    const { oauthClients, responses, audit } = stores[0]!
    assert.deepEqual(await oauthClients.list(account, { offset: 0, limit: 9 }), { items: [client], total: 1 })
    assert.deepEqual(await responses.get(account, key), together.response)
    assert.deepEqual(await audit.list(account, auditQuery()), { items: [together.audit], total: 1 })
  })
}

// The promises of a store about OAuth clients whose next look at DNS is due: who is given one, when, and when again.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { OAuthClient } from '../../src/store/records/oauth-client.ts'
import type { Store } from '../../src/store/contract/store.ts'
import type { Place } from './contract.ts'
import { ContractClock } from './contract-clock.ts'
import { oauthClient, verification } from './contract-specimens.ts'
import { until } from '../help/until.ts'

const lease = 60_000

/** Opens a store whose clock the test moves. */
async function setUp(place: Place, t: TestContext) {
  const open = await place(t)
  const clock = new ContractClock()
  const store = await open(clock)
  return { clock, store, clients: store.oauthClients, open: () => open(clock), began: clock.now() }
}

export function dueContract(name: string, place: Place): void {
  test(`${name}: a client is given once its next check is over, as it is kept`, async t => {
    const { clock, clients, began } = await setUp(place, t)
    const kept = checkedAt(began + 60_000)
    await clients.insert(kept)
    assert.deepEqual(await clients.claimDue(10, lease), [])
    clock.advance(61_000)
    const claimed = await clients.claimDue(10, lease)
    assert.deepEqual(claimed, [await clients.get(kept.account, kept.id)])
    assert.equal(await clients.replace({ ...kept, name: 'Changed' }, claimed[0]!.version), true)
  })

  test(`${name}: a client with nothing to check is never given`, async t => {
    const { clock, clients } = await setUp(place, t)
    await clients.insert(oauthClient({ verification: null }))
    await clients.insert(checkedAt(null))
    clock.advance(365 * 86_400_000)
    assert.deepEqual(await clients.claimDue(10, lease), [])
  })

  test(`${name}: what is due the longest is given first, up to the limit`, async t => {
    const { clients, began } = await setUp(place, t)
    const [third, first, fourth, second] = [2_000, 90_000, 1_000, 7_000].map(ago => checkedAt(began - ago))
    for (const one of [third!, first!, fourth!, second!]) await clients.insert(one)
    assert.deepEqual(await clients.claimDue(0, lease), [])
    assert.deepEqual(idsOf(await clients.claimDue(3, lease)), [first!.id, second!.id, third!.id])
    assert.deepEqual(idsOf(await clients.claimDue(3, lease)), [fourth!.id])
    assert.deepEqual(await clients.claimDue(3, lease), [])
  })

  test(`${name}: of many who ask at once, each due client is given to one`, async t => {
    const { store, open, began } = await setUp(place, t)
    const stores = [store, ...(await Promise.all([open(), open(), open()]))]
    const due = Array.from({ length: 30 }, (_, i) => checkedAt(began - 1_000 - i))
    for (const one of due) await store.oauthClients.insert(one)
    const claims = await Promise.all(
      Array.from({ length: 40 }, (_, i) => stores[i % stores.length]!.oauthClients.claimDue(3, lease)),
    )
    assert.ok(claims.every(({ length }) => length <= 3))
    assert.deepEqual(idsOf(claims.flat()).toSorted(), due.map(({ id }) => id).toSorted())
  })

  test(`${name}: a client is given again after the lease, to whoever asks then, and not before`, async t => {
    const { clock, store, clients, open, began } = await setUp(place, t)
    const other = (await open()).oauthClients
    const kept = checkedAt(began - 1_000)
    await clients.insert(kept)
    assert.equal((await clients.claimDue(10, lease)).length, 1)
    await store.close()
    clock.advance(lease - 10_000)
    assert.deepEqual(await other.claimDue(10, lease), [])
    clock.advance(11_000)
    assert.deepEqual(idsOf(await other.claimDue(10, lease)), [kept.id])
    assert.deepEqual(await other.claimDue(10, lease), [])
  })

  test(`${name}: a lease that is renewed lasts from then on, for what is due as it was`, async t => {
    const { clock, clients, began } = await setUp(place, t)
    const [held, changed, gone] = [3_000, 2_000, 1_000].map(ago => checkedAt(began - ago))
    for (const one of [held!, changed!, gone!]) await clients.insert(one)
    assert.equal((await clients.claimDue(10, lease)).length, 3)
    await change(clients, changed!, { verification: verification({ nextCheckAt: began - 500 }) })
    await clients.remove(gone!.account, gone!.id)
    clock.advance(lease - 10_000)
    await clients.renewLeases([held!, changed!, gone!], lease)
    await clients.renewLeases([], lease)
    assert.deepEqual(idsOf(await clients.claimDue(10, lease)), [changed!.id])
    clock.advance(lease - 10_000)
    assert.deepEqual(await clients.claimDue(10, lease), [])
    clock.advance(20_000)
    assert.deepEqual(idsOf(await clients.claimDue(10, lease)).toSorted(), [held!.id, changed!.id].toSorted())
  })

  test(`${name}: a next check that was changed counts at once, lease or not`, async t => {
    const { clock, clients, began } = await setUp(place, t)
    const kept = checkedAt(began - 1_000)
    await clients.insert(kept)
    await clients.claimDue(10, lease)
    await change(clients, kept, { verification: verification({ nextCheckAt: began + 20_000 }) })
    assert.deepEqual(await clients.claimDue(10, lease), [])
    clock.advance(21_000)
    assert.deepEqual(idsOf(await clients.claimDue(10, lease)), [kept.id])
    await change(clients, kept, { verification: verification({ nextCheckAt: began }) })
    assert.deepEqual(idsOf(await clients.claimDue(10, lease)), [kept.id])
  })

  test(`${name}: who changes something else gives the errand to nobody else`, async t => {
    const { clock, clients, began } = await setUp(place, t)
    const kept = checkedAt(began - 1_000)
    await clients.insert(kept)
    await clients.claimDue(10, lease)
    await change(clients, kept, { name: 'Changed' })
    assert.deepEqual(await clients.claimDue(10, lease), [])
    clock.advance(lease + 1_000)
    const [claimed] = await clients.claimDue(10, lease)
    assert.equal(claimed?.record.name, 'Changed')
  })

  test(`${name}: who changes something else takes no errand away`, async t => {
    const { clock, clients, began } = await setUp(place, t)
    const [due, later] = [checkedAt(began - 1_000), checkedAt(began + 60_000)]
    for (const one of [due, later]) {
      await clients.insert(one)
      await change(clients, one, { name: 'Changed' })
    }
    assert.deepEqual(idsOf(await clients.claimDue(10, lease)), [due.id])
    clock.advance(61_000)
    assert.ok(idsOf(await clients.claimDue(10, lease)).includes(later.id))
  })

  test(`${name}: a client whose verification is over is not given, until it starts again`, async t => {
    const { clock, clients, began } = await setUp(place, t)
    const [over, gone] = [checkedAt(began - 2_000), checkedAt(began - 1_000)]
    for (const one of [over, gone]) await clients.insert(one)
    await change(clients, over, { verification: verification({ status: 'verified', nextCheckAt: null }) })
    await change(clients, gone, { clientUri: null, verification: null })
    clock.advance(lease + 1_000)
    assert.deepEqual(await clients.claimDue(10, lease), [])
    await change(clients, over, { verification: over.verification })
    await change(clients, gone, { verification: gone.verification })
    assert.deepEqual(idsOf(await clients.claimDue(10, lease)), [over.id, gone.id])
  })

  test(`${name}: a verification that ends while it is leased is not given after the lease`, async t => {
    const { clock, clients, began } = await setUp(place, t)
    const kept = checkedAt(began - 1_000)
    await clients.insert(kept)
    await clients.claimDue(10, lease)
    await change(clients, kept, { verification: verification({ status: 'verified', nextCheckAt: null }) })
    clock.advance(lease + 1_000)
    assert.deepEqual(await clients.claimDue(10, lease), [])
  })

  test(`${name}: a client that was removed is not given, nor the one that took its id`, async t => {
    const { clock, clients, began } = await setUp(place, t)
    const kept = checkedAt(began - 1_000)
    await clients.insert(kept)
    await clients.remove(kept.account, kept.id)
    assert.deepEqual(await clients.claimDue(10, lease), [])
    await clients.insert({ ...kept, verification: null })
    clock.advance(lease + 1_000)
    assert.deepEqual(await clients.claimDue(10, lease), [])
  })

  test(`${name}: the lease of a client that was removed does not hold for the one that took its id`, async t => {
    const { clients, began } = await setUp(place, t)
    const kept = checkedAt(began - 1_000)
    await clients.insert(kept)
    await clients.claimDue(10, lease)
    await clients.remove(kept.account, kept.id)
    await clients.insert(kept)
    assert.deepEqual(idsOf(await clients.claimDue(10, lease)), [kept.id])
  })

  test(`${name}: a write that is refused changes nothing of when a client is due`, async t => {
    const { clock, clients, began } = await setUp(place, t)
    const kept = checkedAt(began + 60_000)
    await clients.insert(kept)
    const { version } = (await clients.get(kept.account, kept.id))!
    const due = { ...kept, verification: verification({ nextCheckAt: began - 1_000 }) }
    assert.equal(await clients.insert(due), false)
    await change(clients, kept, { name: 'Changed' })
    assert.equal(await clients.replace(due, version), false)
    assert.deepEqual(await clients.claimDue(10, lease), [])
    clock.advance(61_000)
    assert.deepEqual(idsOf(await clients.claimDue(10, lease)), [kept.id])
  })

  test(`${name}: a claim changes nothing that others see`, async t => {
    const { clients, store, began } = await setUp(place, t)
    const kept = checkedAt(began - 1_000)
    await clients.insert(kept)
    const before = await clients.get(kept.account, kept.id)
    await allTold(store)
    const told: unknown[] = []
    store.changes.follow(change => told.push(change))
    assert.equal((await clients.claimDue(10, lease)).length, 1)
    await allTold(store)
    assert.deepEqual(told, [])
    assert.deepEqual(await clients.get(kept.account, kept.id), before)
  })
}

function checkedAt(nextCheckAt: number | null): OAuthClient {
  return oauthClient({ verification: verification({ nextCheckAt }) })
}

function idsOf(claimed: readonly { readonly record: OAuthClient }[]): readonly string[] {
  return claimed.map(({ record }) => record.id)
}

/** Changes members of a client as it is kept. */
async function change(
  clients: Store['oauthClients'],
  { account, id }: OAuthClient,
  to: Partial<OAuthClient>,
) {
  const { record, version } = (await clients.get(account, id))!
  assert.equal(await clients.replace({ ...record, ...to }, version), true)
}

/** Waits until what was written before has been told. */
async function allTold({ changes }: Store): Promise<void> {
  const now = performance.now()
  await until(() => changes.knownUntil >= now)
}

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Lease, LeaseLost } from '../../../src/certificates/acme/lease.ts'
import { acmeOwner } from '../../../src/store/records/acme.ts'
import { openStore } from '../../../src/store/open.ts'
import { hostCertificate } from '../../store/contract-specimens.ts'

const id = 'site.test'

/** Opens the records with that of one host, and a way to take it as it is now. */
async function opened(t: TestContext) {
  const store = await openStore('sqlite::memory:', { commandTimeout: 1_000 })
  t.after(() => store.close())
  const { certificates: records } = store
  await records.insert(hostCertificate({ id, order: null, lease: null, failures: 0 }))
  const read = async () => (await records.get(acmeOwner, id))!
  const take = async (holder: string) => Lease.take(records, await read(), holder)
  return { records, read, take }
}

test('of two holders that take the same version of a record, one gets the lease', async t => {
  const { records, read } = await opened(t)
  const seen = await read()
  const taken = await Promise.all(['a', 'b'].map(holder => Lease.take(records, seen, holder)))
  const held = taken.filter(lease => lease !== null)
  assert.equal(held.length, 1)
  await held[0]!.release({ failures: 3 })
  assert.deepEqual([(await read()).record.failures, (await read()).record.lease], [3, null])
})

test('a lease whose taking reached the store twice is held', async t => {
  const { records, read } = await opened(t)
  const replace: typeof records.replace = async (...all) => {
    await records.replace(...all)
    return records.replace(...all)
  }
  const twice = { get: records.get.bind(records), replace } as typeof records
  const lease = await Lease.take(twice, await read(), 'first')
  assert.equal((await read()).record.lease?.holder, 'first')
  await lease!.write({ failures: 4 })
  assert.equal((await read()).record.failures, 4)
  lease!.abandon()
})

test('a lease that another process took over can no longer write', async t => {
  const { read, take } = await opened(t)
  const first = (await take('first'))!
  await first.write({ failures: 1 })
  const second = (await take('second'))!
  await assert.rejects(first.write({ failures: 7 }), LeaseLost)
  await assert.rejects(first.release({ failures: 8 }), LeaseLost)
  assert.deepEqual([(await read()).record.failures, (await read()).record.lease?.holder], [1, 'second'])
  await second.release({ failures: 2 })
  assert.equal((await read()).record.failures, 2)
  first.abandon()
})

test('a released lease can no longer write', async t => {
  const { read, take } = await opened(t)
  const lease = (await take('first'))!
  await lease.release()
  await assert.rejects(lease.write({ failures: 9 }), LeaseLost)
  assert.equal((await read()).record.failures, 0)
})

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Degradation } from '../../../src/store/contract/degradation.ts'
import { openStore } from '../../../src/store/open.ts'
import { StoreDegraded } from '../../../src/store/contract/store.ts'
import { startRedis } from '../../help/redis.ts'
import { credential, firstStart, gateway, token } from '../contract-specimens.ts'

test('a reason begins, changes and ends once, and listeners hear of each', () => {
  const degradation = new Degradation()
  const heard: string[] = []
  const unfollow = degradation.follow(() =>
    heard.push(degradation.reasons.map(({ message }) => message).join(', ')),
  )
  const remedy = 'Restore it'
  degradation.set('store_older', null)
  degradation.set('store_older', { message: '1 change is missing', remedy })
  degradation.set('store_older', { message: '1 change is missing', remedy })
  degradation.set('file_replaced', { message: 'the file was replaced', remedy })
  degradation.set('store_older', { message: '2 changes are missing', remedy })
  degradation.set('store_older', null)
  unfollow()
  degradation.set('file_replaced', null)
  assert.deepEqual(heard, [
    '1 change is missing',
    '1 change is missing, the file was replaced',
    '2 changes are missing, the file was replaced',
    'the file was replaced',
  ])
  assert.deepEqual(degradation.reasons, [])
})

const urls = {
  SQLite: async () => 'sqlite::memory:',
  Redis: async (t: TestContext) => (await startRedis(t)).url,
}

for (const [name, urlOf] of Object.entries(urls))
  test(`${name}: while the store is not trusted, changes reject and nothing is written`, async t => {
    const store = await openStore(await urlOf(t), { commandTimeout: 4_000 })
    t.after(() => store.close())
    const owned = token()
    await store.tokens.insert(owned)
    const { version } = (await store.tokens.get(owned.account, owned.id))!
    const message = 'the file of the store was replaced'
    store.degradation.set('file_replaced', { message, remedy: 'Restart' })
    const session = credential('session')
    const refused = [
      () => store.bootstrap(firstStart()),
      () => store.gateways.insert(gateway()),
      () => store.tokens.replace({ ...owned, name: 'changed' }, version),
      () => store.tokens.remove(owned.account, owned.id),
      () => store.accounts.insert(firstStart().account),
      () => store.credentials.put(session),
    ]
    for (const write of refused)
      await assert.rejects(write, (error: StoreDegraded) => {
        assert.ok(error instanceof StoreDegraded)
        assert.deepEqual([error.message, error.remedy, error.isUndone], [message, 'Restart', true])
        return true
      })
    store.degradation.set('file_replaced', null)
    assert.deepEqual((await store.tokens.get(owned.account, owned.id))?.record, owned)
    assert.deepEqual(await store.accounts.list(), [])
    assert.equal(await store.credentials.get('session', session.digest), null)
    assert.equal(await store.tokens.replace({ ...owned, name: 'changed' }, version), true)
  })

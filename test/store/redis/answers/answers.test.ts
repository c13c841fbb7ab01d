import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { StoreUnreachable } from '../../../../src/store/contract/store.ts'
import { partSize } from '../../../../src/store/answers/answer.ts'
import { boundsWithin, owned } from '../../answer-bounds.ts'
import { startRedis } from '../../../help/redis.ts'
import { until } from '../../../help/until.ts'
import { account, gateway, hex } from '../../contract-specimens.ts'
import { openRedis } from '../open.ts'

const far = 4_000_000_000_000
const mebibyte = 1024 * 1024
const wide = boundsWithin({ bytes: 512 * mebibyte, entries: 1_000 }, 10 * mebibyte)
const at = (key: string, owner = 'a') => ({ account: owner, gateway: 'default', key })

test('a Redis whose memory is full refuses answers and claims, says so, and stores again once there is room', async t => {
  const server = await startRedis(t, { args: ['--maxmemory', '24mb'] })
  const store = await openRedis(t, server.url)
  const refused = (error: Error) => error instanceof StoreUnreachable && error.reason === 'OOM'
  const fill = async () => {
    for (let i = 0; i < 40; i++) await store.answers.write(at(`k${i}`), randomBytes(mebibyte), far, wide)
  }
  await assert.rejects(fill(), refused)
  await server.ask('CONFIG', 'SET', 'maxmemory', '1mb')
  const claim = { ...at('c'), fingerprint: 'f', holder: 'h', lease: 60_000, expiresAt: far, note: '' }
  await assert.rejects(store.claims.claim({ ...claim, ...owned }), StoreUnreachable)
  assert.equal((await store.answers.read(at('k0')))!.length, mebibyte, 'reads go on')
  await store.answers.eraseAccount('a')
  await server.ask('CONFIG', 'SET', 'maxmemory', '24mb')
  await until(async () => (await store.claims.claim({ ...claim, ...owned }).catch(() => null)) !== null)
  assert.deepEqual(await store.claims.claim({ ...claim, ...owned }), { outcome: 'new' })
  assert.equal(await store.answers.write(at('k'), Buffer.alloc(9), far, wide), true)
})

test('a store that comes back empty makes no claim again, until it is accepted', async t => {
  const server = await startRedis(t)
  const store = await openRedis(t, server.url)
  const owner = account()
  await store.accounts.insert(owner)
  await store.gateways.insert(gateway({ account: owner.id }))
  store.trust.expect(await store.adopt())
  const claim = {
    ...at('c', owner.id),
    fingerprint: 'f',
    holder: 'h',
    lease: 60_000,
    expiresAt: far,
    note: '',
  }
  assert.deepEqual(await store.claims.claim({ ...claim, ...owned }), { outcome: 'new' })
  await server.ask('FLUSHALL')
  await assert.rejects(store.claims.claim({ ...claim, holder: 'other', ...owned }), StoreUnreachable)
  await assert.rejects(store.claims.look(claim), StoreUnreachable)
})

test('claims that were confirmed survive kill -9 of Redis, and so does who holds them', async t => {
  const server = await startRedis(t, { aof: 'always' })
  const store = await openRedis(t, server.url)
  const claim = (key: string, holder: string) =>
    store.claims.claim({
      ...{ ...at(key), fingerprint: 'f', holder, lease: 60_000, expiresAt: far, note: '', ...owned },
    })
  const confirmed: string[] = []
  const claiming = Promise.allSettled(
    Array.from({ length: 8 }, async (_, i) => {
      for (let n = 0; ; n++) {
        await claim(`${i}-${n}`, 'first')
        confirmed.push(`${i}-${n}`)
      }
    }),
  )
  await until(() => confirmed.length > 100)
  await server.kill()
  await claiming
  await server.restart()
  await until(() => !store.isUnreachable)
  for (const key of confirmed) assert.equal((await claim(key, 'second')).outcome, 'taken', key)
})

test('parts that nobody published go by themselves, and count for nothing', async t => {
  const server = await startRedis(t)
  const store = await openRedis(t, server.url)
  const owner = hex(16)
  const writing = store.answers.write(at('k', owner), randomBytes(40 * partSize), far, wide)
  const parts = async () => (await server.ask('KEYS', `*${owner}*`)) as string[]
  await until(async () => (await parts()).length > 0)
  const [part] = await parts()
  const isRefused = assert.rejects(writing, StoreUnreachable)
  await store.close()
  await isRefused
  const again = await openRedis(t, server.url)
  assert.deepEqual(await again.answers.sum(owner), { bytes: 0, entries: 0 })
  assert.equal(await again.answers.read(at('k', owner)), null)
  const left = Number(await server.ask('PTTL', part!))
  assert.ok(left > 0 && left <= 60_000)
})

// The promises of a store, kept by Redis: one server with an append-only file, and a database of it for each test.
import { after, before, type TestContext } from 'node:test'
import { RedisStore } from '../../../src/store/redis/redis-store.ts'
import { type RedisServer, startRedis } from '../../help/redis.ts'
import { storeContract } from '../contract.ts'

const endings: (() => unknown)[] = []
const databases = 300
let server: RedisServer
let used = 0

before(async () => {
  const suite = { after: (end: () => unknown) => void endings.push(end) } as TestContext
  server = await startRedis(suite, { args: ['--databases', String(databases)] })
})
after(async () => {
  for (const end of endings) await end()
})

storeContract('Redis', t => {
  const url = `${server.url}/${used++}`
  return async clock => {
    const store = await RedisStore.open(url, { commandTimeout: 10_000, ...(clock && { clock }) })
    t.after(() => store.close())
    return store
  }
})

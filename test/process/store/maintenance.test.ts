import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger } from '../../../src/log/log.ts'
import type { FirstStart } from '../../../src/process/store/first-start.ts'
import { maintainStore } from '../../../src/process/store/maintenance.ts'
import { StoreUnreachable } from '../../../src/store/contract/store.ts'
import { openStore } from '../../../src/store/open.ts'
import { startRedis } from '../../help/redis.ts'
import { until } from '../../help/until.ts'

const period = 5

test('an empty store is filled, and the log has one line when it becomes unreachable and one when it is back', async t => {
  const server = await startRedis(t)
  const store = await openStore(server.url, { commandTimeout: 5_000 })
  t.after(() => store.close())
  const lines: string[] = []
  const log = createLogger('info', { write: line => lines.push(JSON.parse(line).msg) })
  const about = () => lines.filter(line => /^store (un)?reachable/.test(line))
  const list = store.accounts.list.bind(store.accounts)
  let looks = 0
  store.accounts.list = () => {
    looks++
    return list()
  }
  const filled: FirstStart[] = []
  maintainStore(store, log, { firstToken: null, filled: first => filled.push(first), period })
  await until(() => filled.length > 0)
  for (let outage = 0; outage < 2; outage++) {
    lines.length = looks = 0
    await server.kill()
    await until(() => looks >= 5)
    assert.deepEqual(about(), ['store unreachable'])
    await server.start()
    await until(() => !store.isUnreachable && about().length > 1)
    assert.deepEqual(about(), ['store unreachable', 'store reachable again'])
  }
  assert.equal(filled.length, 1)
})

test('a store that did not confirm what it was filled with is not called unreachable', async t => {
  const store = await openStore('sqlite::memory:', { commandTimeout: 5_000 })
  t.after(() => store.close())
  const lines: unknown[][] = []
  const write = (line: string) => {
    const { msg, reason } = JSON.parse(line)
    lines.push([msg, reason])
  }
  const list = t.mock.method(store.accounts, 'list', () =>
    Promise.reject(new StoreUnreachable({ code: 'UNCONFIRMED' })),
  )
  const { promise, resolve } = Promise.withResolvers<FirstStart>()
  maintainStore(store, createLogger('info', { write }), { firstToken: null, filled: resolve, period })
  await until(() => lines.length > 0)
  assert.deepEqual(lines[0], ['store did not confirm', 'UNCONFIRMED'])
  list.mock.restore()
  await promise
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger } from '../../../src/log/log.ts'
import type { FirstStart } from '../../../src/process/store/first-start.ts'
import { maintainStore } from '../../../src/process/store/maintenance.ts'
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

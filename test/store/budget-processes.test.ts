// Four processes that spend from one bucket at the same time, each on a connection of its own.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openStore } from '../../src/store/open.ts'
import { startRedis } from '../help/redis.ts'
import { until } from '../help/until.ts'
import { bucket, type Grants, kill, messageOf, sharesEach, startSpenders } from './budget-spending.ts'
import { hex } from './contract-specimens.ts'
import { temporaryFile } from './sqlite/temporary-file.ts'

const stores: Readonly<Record<string, (t: TestContext) => Promise<string>>> = {
  Redis: async t => (await startRedis(t)).url,
  SQLite: async t => `sqlite:${temporaryFile(t)}`,
}
const processes = 4
const limit = 600

for (const [name, place] of Object.entries(stores))
  test(`${name}: processes spend from one bucket`, async t => {
    const url = await place(t)
    const children = await startSpenders(t, url, processes)

    await t.test('in a race they are granted the limit, each part of it once', async t => {
      const account = hex(16)
      for (const child of children) child.send({ kind: 'take', account, limit })
      const grants = (await Promise.all(children.map(messageOf))) as Grants[]
      const inOrder = grants
        .flatMap((after, of) => after.map(place => ({ place, of })))
        .toSorted((one, other) => one.place - other.place)
      assert.deepEqual(
        inOrder.map(({ place }) => place),
        Array.from({ length: limit }, (_, i) => i + 1),
      )
      const turns = inOrder.filter(({ of }, i) => i > 0 && of !== inOrder[i - 1]!.of).length
      t.diagnostic(`granted ${grants.map(({ length }) => length).join(', ')} in ${turns} turns`)
      assert.ok(turns > processes * 2, `they met: ${turns} turns`)
      const { spent, leased } = await sumIn(t, url, account)
      assert.equal(spent + leased, limit)
    })

    await t.test('what was confirmed to them outlives their kill -9', async t => {
      const account = hex(16)
      let confirmed = 0
      for (const child of children) {
        child.on('message', () => confirmed++)
        child.send({ kind: 'report', account, limit })
      }
      await until(() => confirmed >= 400)
      await Promise.all(children.map(kill))
      const { spent } = await sumIn(t, url, account)
      assert.ok(confirmed <= spent, `${spent} of ${confirmed} confirmed`)
      // Of each share, one step may have been under way, or confirmed without a word.
      assert.ok(spent <= confirmed + processes * sharesEach, `${spent}, and ${confirmed} confirmed`)
    })
  })

async function sumIn(t: TestContext, url: string, account: string) {
  const store = await openStore(url, { commandTimeout: 4_000 })
  t.after(() => store.close())
  return (await store.budgets.read(account, [bucket]))[0]!
}

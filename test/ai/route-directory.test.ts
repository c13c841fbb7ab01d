import { equal, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { RouteNode } from '../../src/ai/failover/model-route.ts'
import { RouteDirectory } from '../../src/ai/route-directory.ts'
import { type Change, StoreUnreachable } from '../../src/store/contract/store.ts'
import type { ModelRoute } from '../../src/store/records/model-route.ts'
import { ManualClock } from '../help/clock.ts'
import { modelRoute } from '../store/contract-specimens.ts'
import { account } from '../tokens/token-with.ts'

const grace = 600_000
const gateway = { account, id: 'default' }
const model = 'dynamic/Support 1'

/** Makes a directory over a store that a test steers. */
function setUp() {
  const clock = new ManualClock()
  const store = {
    route: modelRoute({ account: `${account}/default`, name: 'Support 1' }) as ModelRoute | null,
    isAway: false,
    asked: 0,
  }
  const listeners = new Set<(change: Change) => void>()
  const directory = new RouteDirectory({
    store: {
      modelRoutes: {
        find: async (owner: string, name: string) => {
          store.asked++
          if (store.isAway) throw new StoreUnreachable()
          const { route } = store
          return route?.account === owner && route.name === name ? { record: route, version: 1 } : null
        },
      } as never,
      changes: {
        knownUntil: Number.NEGATIVE_INFINITY,
        follow: listener => {
          listeners.add(listener)
          return () => listeners.delete(listener)
        },
      },
    },
    grace,
    clock,
  })
  const tell = (kind: 'model_route' | 'gateway', owner: string, id: string) => {
    for (const listener of listeners) listener({ kind, account: owner, id })
  }
  return { clock, store, directory, tell }
}

test('a route is looked up once, and only for a name with its prefix', async () => {
  const { directory, store } = setUp()
  const route = (await directory.find(gateway, model)) as RouteNode
  equal(route.type, 'model')
  equal(directory.find(gateway, model), route)
  equal(directory.find(gateway, 'Support 1'), null)
  equal(store.asked, 1)
  equal(await directory.find({ account, id: 'other' }, model), null)
})

test('a change of the route or its gateway is seen as soon as it is reported, and no other is', async () => {
  const { directory, store, tell } = setUp()
  const route = await directory.find(gateway, model)
  tell('model_route', `${account}/other`, 'x')
  tell('gateway', account, 'other')
  equal(directory.find(gateway, model), route)
  tell('model_route', `${account}/default`, store.route!.id)
  const next = await directory.find(gateway, model)
  notEqual(next, route)
  store.route = null
  tell('gateway', account, 'default')
  equal(await directory.find(gateway, model), null)
})

test('without the store, a known route is found for the grace, and an unknown one cannot be', async () => {
  const { clock, directory, store } = setUp()
  const route = await directory.find(gateway, model)
  store.isAway = true
  clock.advance(grace - 1)
  equal(await directory.find(gateway, model), route)
  equal(await directory.find(gateway, 'dynamic/other'), 'store_unreachable')
  clock.advance(2_000)
  equal(await directory.find(gateway, model), 'store_unreachable')
})

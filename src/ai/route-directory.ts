// Finds the dynamic route that a call names; a route once found stays usable for the grace while the store is
// unreachable.

import { type Clock, systemClock } from '../base/clock.ts'
import { ReadThrough } from '../store/cache/read-through.ts'
import { type Store, StoreUnreachable } from '../store/contract/store.ts'
import { routeOwner, versionInEffect } from '../store/records/model-route.ts'
import type { RouteNode } from './failover/model-route.ts'
import { compileElements } from './failover/route-elements.ts'

interface RouteDirectoryOptions {
  readonly store: Pick<Store, 'modelRoutes' | 'changes'>
  /** How long a route stays usable while the store is unreachable, in ms. */
  readonly grace: number
  readonly clock?: Clock
}

/** A route, compiled from the version in effect. */
interface DeployedRoute {
  readonly owner: string
  readonly start: RouteNode
}

type Lookup = RouteNode | null | 'store_unreachable'

const prefix = 'dynamic/'
const size = 1_000
const maxNames = 1_000
const missLife = 5_000

export class RouteDirectory {
  readonly #store: RouteDirectoryOptions['store']
  readonly #routes: ReadThrough<DeployedRoute>

  constructor({ store, grace, clock = systemClock }: RouteDirectoryOptions) {
    this.#store = store
    this.#routes = new ReadThrough({
      load: async key => {
        const [account, gateway] = key.split('/', 2) as [string, string]
        const owner = routeOwner({ account, id: gateway })
        const row = await store.modelRoutes.find(owner, key.slice(owner.length + 1))
        if (row === null) return null
        const { record } = row
        const start = compileElements(versionInEffect(record).elements, `${owner}/${record.id}`)!
        return { owner, start }
      },
      changes: store.changes,
      kinds: ['model_route', 'gateway'],
      concerns: ({ kind, account, id }, { owner }) =>
        owner === (kind === 'gateway' ? routeOwner({ account, id }) : account),
      size,
      missLife,
      grace,
      now: () => clock.monotonic(),
    })
  }

  /** Returns the routes of a gateway, as calls name them; none while the store is unreachable. */
  async names(gateway: { readonly account: string; readonly id: string }): Promise<readonly string[]> {
    try {
      const { items } = await this.#store.modelRoutes.list(routeOwner(gateway), {
        offset: 0,
        limit: maxNames,
      })
      return items.map(({ name }) => prefix + name)
    } catch (error) {
      unlessUnreachable(error)
      return []
    }
  }

  /** Returns the start of the route that a model names as dynamic/NAME; at once if it is cached. */
  find(gateway: { readonly account: string; readonly id: string }, model: string): Lookup | Promise<Lookup> {
    if (!model.startsWith(prefix)) return null
    const route = this.#routes.get(`${routeOwner(gateway)}/${model.slice(prefix.length)}`)
    return route instanceof Promise ? route.then(startOf).catch(unlessUnreachable) : startOf(route)
  }
}

function startOf(route: DeployedRoute | null): RouteNode | null {
  return route?.start ?? null
}

function unlessUnreachable(error: unknown): 'store_unreachable' {
  if (error instanceof StoreUnreachable) return 'store_unreachable'
  throw error
}

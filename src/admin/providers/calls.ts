// Recent calls of an account to its providers, from the logs of its AI gateways.

import { pause } from '../../base/turns/turns.ts'
import { isoTime } from '../records/record-handlers.ts'
import type { Api } from '../api/api-types.ts'

const day = 86_400_000
const days = 7
/** Ms after which no more gateways are read: the rest is read at another time. */
const timeout = 40
/** Maximum of listed models per provider: callers choose their names. */
const maxModels = 50

export interface CallsOfProvider {
  readonly since: string
  readonly count: number
  readonly errors: number
  readonly last_at: string | null
  readonly models: readonly { readonly model: string; readonly count: number; readonly last_at: string }[]
}

interface Sum {
  count: number
  errors: number
  latest: number
}

export async function callsOf(account: string, { store, logSeries }: Api, now: number) {
  const since = Math.floor(now / day) * day - (days - 1) * day
  const windows = { since, width: day, count: days }
  const sums = new Map<string, { all: Sum; models: Map<string, Sum> }>()
  const until = performance.now() + timeout
  let isComplete = true
  walk: for await (const gateways of store.gateways.walk(account))
    for (const { id } of gateways) {
      if (performance.now() > until) {
        isComplete = false
        break walk
      }
      const series = await logSeries.read([account, id], windows, [])
      isComplete &&= series.completeSince <= since
      for (const cells of series.windows) {
        await pause()
        for (const { kind, latest, sum } of cells.all()) {
          let ofProvider = sums.get(kind.provider)
          if (ofProvider === undefined)
            sums.set(kind.provider, (ofProvider = { all: nothing(), models: new Map() }))
          add(ofProvider.all, sum, latest)
          if (kind.model === null) continue
          let model = ofProvider.models.get(kind.model)
          if (model === undefined) ofProvider.models.set(kind.model, (model = nothing()))
          add(model, sum, latest)
        }
      }
    }
  const byProvider = new Map([...sums].map(([name, { all, models }]) => [name, view(all, models, since)]))
  return { byProvider, isComplete, none: view(nothing(), new Map(), since) }
}

function nothing(): Sum {
  return { count: 0, errors: 0, latest: 0 }
}

function add(to: Sum, { count, errors }: Pick<Sum, 'count' | 'errors'>, latest: number): void {
  to.count += count
  to.errors += errors
  to.latest = Math.max(to.latest, latest)
}

function view(all: Sum, models: ReadonlyMap<string, Sum>, since: number): CallsOfProvider {
  const listed = [...models].toSorted(([, a], [, b]) => b.latest - a.latest).slice(0, maxModels)
  return {
    since: isoTime(since),
    count: all.count,
    errors: all.errors,
    last_at: all.latest === 0 ? null : isoTime(all.latest),
    models: listed.map(([model, { count, latest }]) => ({ model, count, last_at: isoTime(latest) })),
  }
}

// Handlers of the errors of the last day, by zone or AI gateway and code.

import { mapInTurns } from '../../base/turns/map-in-turns.ts'
import { sortInTurns } from '../../base/turns/sort-in-turns.ts'
import { type ErrorName, errorRows } from '../../errors/catalogue/catalogue.ts'
import type { Store } from '../../store/contract/store.ts'
import { type Occurrence, slotOf, type TallySum, tallyKinds } from '../../store/records/tally.ts'
import { gatewaysScope, noGateway, noZone, readError, zoneScope } from '../../activity/tally-scopes.ts'
import { type ApiResponse, failures, listInTurns } from '../http/envelope.ts'
import { isoTime } from '../records/record-handlers.ts'
import { Parameters } from '../http/query.ts'
import type { Api, Call, ZoneCall } from '../api/api-types.ts'
import { oldestOf } from '../api/zone-owner.ts'

export const errorParameters = ['page', 'per_page', 'code', 'since', 'order', 'ray'] as const
export const errorOrders = ['last', 'count'] as const

interface Place {
  readonly scope: string
  readonly zone: string | null
  readonly kind: 'zone' | 'ai_gateway' | 'ai_host' | 'unknown_host'
}

interface Happened {
  readonly place: Place
  readonly sum: TallySum
  readonly count: number
}

const maxConcurrent = 20

export async function listZoneErrors({ zone, query, now }: ZoneCall, { store }: Api): Promise<ApiResponse> {
  return respond([placeOf(zone.name)], query, now, store)
}

/** Those outside of any zone or gateway belong to the oldest account. */
export async function listAccountErrors(
  { account, query, now }: Call,
  { store, zones }: Api,
): Promise<ApiResponse> {
  const isOldest = account === (await oldestOf(store.accounts))
  const own = zones.all().filter(zone => (zone.account ?? (isOldest ? account : null)) === account)
  const places: Place[] = [
    ...own.map(({ name }) => placeOf(name)),
    { scope: gatewaysScope(account), zone: null, kind: 'ai_gateway' },
  ]
  if (isOldest) places.push(outside(noGateway, 'ai_host'), outside(noZone, 'unknown_host'))
  return respond(places, query, now, store)
}

function placeOf(zone: string): Place {
  return { scope: zoneScope(zone), zone, kind: 'zone' }
}

function outside(scope: string, kind: Place['kind']): Place {
  return { scope, zone: null, kind }
}

async function respond(
  places: readonly Place[],
  query: URLSearchParams,
  now: number,
  { tallies }: Store,
): Promise<ApiResponse> {
  const parameters = new Parameters(query)
  const page = parameters.page()
  const order = parameters.choice('order', errorOrders)
  const since = Math.max(parameters.time('since') ?? 0, now - tallyKinds.error.retention)
  const code = parameters.wholeNumber('code', 1, 9_999, null)
  const ray = parameters.text('ray')
  if (ray !== null && !/^[0-9a-f]{16}$/.test(ray)) parameters.refuse('ray', 'must be 16 hex digits')
  if (parameters.faults.length > 0) return failures(parameters.faults)
  const errors: Happened[] = []
  for (let from = 0; from < places.length; from += maxConcurrent) {
    const some = places.slice(from, from + maxConcurrent)
    const sums = await Promise.all(
      some.map(({ scope }) => tallies.list('error', scope, slotOf('error', since))),
    )
    for (const [i, ofPlace] of sums.entries())
      for (const sum of ofPlace) {
        if (code !== null && readError(sum.name).code !== code) continue
        errors.push({ place: some[i]!, sum, count: sum.slots.reduce((total, [, count]) => total + count, 0) })
      }
  }
  if (ray !== null) return respondWithRay(errors, ray, page, tallies)
  const ordered = await sortInTurns(
    errors,
    order === 'count' ? (a, b) => b.count - a.count : (a, b) => b.sum.last - a.sum.last,
  )
  const first = (page.page - 1) * page.perPage
  const shown = ordered.slice(first, first + page.perPage)
  const occurrences = new Map<Happened, readonly Occurrence[]>()
  await mapInTurns(shown, async one =>
    occurrences.set(one, await tallies.occurrences('error', one.place.scope, one.sum.name)),
  )
  const window = { page: page.page, perPage: page.perPage, total: errors.length }
  return listInTurns(shown, one => view(one, occurrences.get(one)!), window)
}

async function respondWithRay(
  errors: readonly Happened[],
  ray: string,
  { page, perPage }: { readonly page: number; readonly perPage: number },
  tallies: Store['tallies'],
): Promise<ApiResponse> {
  const hits: ReturnType<typeof view>[] = []
  await mapInTurns(errors, async one => {
    const all = await tallies.occurrences('error', one.place.scope, one.sum.name)
    const own = all.filter(occurrence => occurrence.ray === ray)
    if (own.length > 0) hits.push(view(one, own))
  })
  const shown = hits.slice((page - 1) * perPage, page * perPage)
  return listInTurns(shown, one => one, { page, perPage, total: hits.length })
}

function view({ place, sum, count }: Happened, occurrences: readonly Occurrence[]) {
  const { code, gateway } = readError(sum.name)
  const entry = byCode.get(code)
  return {
    place: place.kind,
    zone: place.zone,
    gateway_id: gateway,
    code,
    name: entry?.name ?? null,
    title: entry?.title ?? null,
    count,
    last_at: isoTime(sum.last),
    hours: sum.slots.map(([slot, count]) => ({ since: isoTime(slot), count })),
    occurrences: occurrences.map(({ at, ...occurrence }) => ({ at: isoTime(at), ...occurrence })),
  }
}

const byCode = new Map(
  Object.entries(errorRows).map(([name, { code, title }]) => [
    code as number,
    { name: name as ErrorName, title },
  ]),
)

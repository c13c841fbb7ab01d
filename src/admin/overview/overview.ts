// The overview of an account, which contains only what the token may see elsewhere.

import type { ZoneConfig } from '../../config/model/config.ts'
import type { RequestWindow } from '../../activity/request-history.ts'
import { permits } from '../../permissions/permit.ts'
import type { Store } from '../../store/contract/store.ts'
import { type ApiResponse, success } from '../http/envelope.ts'
import { isoTime } from '../records/record-handlers.ts'
import type { Api, Call } from '../api/api-types.ts'
import { viewAiTraffic } from './ai-traffic.ts'
import { zonesOf } from '../api/zone-owner.ts'
import { type OriginState, originStates } from '../facts/zone-facts.ts'

export async function getOverview({ account, caller, now }: Call, api: Api): Promise<ApiResponse> {
  const { store, instance, zones } = api
  const may = (permission: Parameters<typeof permits>[1]) => permits(caller, permission, account)
  const own = await zonesOf(account, zones.all(), store.accounts)
  await instance.requests.sample()
  const requests = may('Zones Read') && viewRequests(api, own)
  const origins = may('Origins Read') && countStates(own, await zones.allOrigins())
  const ai = may('AI Gateway Read') && (await viewAiTraffic(account, api, now))
  const isAdministrator = may('Metrics Read')
  return success({
    at: isoTime(now),
    ...(requests && { requests }),
    ...(origins && { origins }),
    ...(ai && { ai }),
    ...(isAdministrator && { store: await viewStore(store, api), process: viewProcess(api) }),
    ...(isAdministrator && viewLogExport(api)),
  })
}

function viewRequests({ instance }: Api, zones: readonly ZoneConfig[]) {
  const names = zones.map(({ name }) => name)
  const view = (windows: readonly RequestWindow[]) =>
    windows.map(({ at, zones }) => ({
      at: isoTime(at),
      zones: names.flatMap(zone => {
        const classes = zones.get(zone)
        return classes === undefined ? [] : [{ zone, classes }]
      }),
    }))
  return {
    since: isoTime(instance.startedAt),
    minutes: view(instance.requests.minutes()),
    hours: view(instance.requests.hours()),
  }
}

function countStates(zones: readonly ZoneConfig[], all: Awaited<ReturnType<Api['zones']['allOrigins']>>) {
  return zones.map(({ name }) => {
    const origins = (all.get(name) ?? []).flatMap(({ origins }) => origins)
    const count = (state: OriginState['state']) => origins.filter(origin => origin.state === state).length
    return { zone: name, ...Object.fromEntries(originStates.map(state => [state, count(state)])) }
  })
}

async function viewStore(store: Store, { instance }: Api) {
  const { location, isUnreachable, refusal } = store
  const [losses, size] = await Promise.all([store.durability(), store.size()])
  return {
    backend: location.startsWith('sqlite:') ? 'sqlite' : 'redis',
    location,
    is_reachable: !isUnreachable,
    refuses_writes: refusal,
    is_durable: losses.length === 0,
    losses,
    size,
    queued_log_entries: instance.requests.queuedLogs,
  }
}

function viewLogExport({ logExport }: Api) {
  const state = logExport?.state ?? null
  if (state === null) return {}
  const { waiting, failure } = state
  return {
    log_export: {
      waiting: waiting && {
        entries: waiting.entries,
        bytes: waiting.bytes,
        oldest_at: waiting.oldest === null ? null : isoTime(waiting.oldest),
      },
      failure: failure && {
        since: isoTime(failure.since),
        message: failure.message,
        needs_change: failure.isPermanent,
      },
    },
  }
}

function viewProcess({ instance: { version, startedAt, workers } }: Api) {
  return { version, started_at: isoTime(startedAt), workers }
}

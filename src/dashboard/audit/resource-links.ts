// Finds which resources of entries still exist, and have a page that the viewer may see.

import { mapInTurns } from '../../base/turns/map-in-turns.ts'
import { apiPath } from '../page/api-client.ts'
import type { PageRequest } from '../page/page-request.ts'
import { paths } from '../page/paths.ts'
import type { AuditEntry } from './entry.ts'

/** Returns the page of a resource by its kind and id; null if it has none, is deleted or may not be seen. */
export type PageOf = (kind: string, id: string) => string | null

/** A page, and the API resource that must exist for it. */
interface Place {
  readonly page: string
  /** The path in the API; null if nothing needs to exist. */
  readonly source: string | null
  /** Among the items of that list. */
  readonly item?: string
}

/** Looks up everything that entries name, without duplicates. */
export async function pagesIn(request: PageRequest, entries: readonly AuditEntry[]): Promise<PageOf> {
  const places = new Map<string, Place>()
  for (const [kind, id] of entries.flatMap(thingsIn)) {
    const place = placeOf(request, kind, id)
    if (place !== null) places.set(`${kind} ${id}`, place)
  }
  const sources = [...new Set([...places.values()].flatMap(({ source }) => source ?? []))]
  const responses = new Map(
    await mapInTurns(sources, async source => [source, await request.api.tryGet(source)] as const),
  )
  return (kind, id) => {
    const place = places.get(`${kind} ${id}`)
    if (place === undefined) return null
    return place.source === null || holds(responses.get(place.source), place.item) ? place.page : null
  }
}

/** Lists the names in an entry: the resource, and the actor. */
function thingsIn({
  actor,
  resource,
  metadata,
}: AuditEntry): readonly (readonly [kind: string, id: string])[] {
  const things: [string, string][] = [[resource.type, resource.id]]
  if (actor.type === 'user' && actor.email === undefined) things.push(['token', actor.id])
  if (metadata.oauth_client_id !== undefined) things.push(['oauth_client', metadata.oauth_client_id])
  return things
}

function holds(
  response: Awaited<ReturnType<PageRequest['api']['tryGet']>> | undefined,
  item: string | undefined,
): boolean {
  if (response === undefined || !response.ok) return false
  return (
    item === undefined ||
    (response.result as readonly { readonly id: string }[]).some(({ id }) => id === item)
  )
}

function placeOf({ account: { id: account }, may }: PageRequest, kind: string, id: string): Place | null {
  const own = (...steps: readonly string[]) => apiPath('accounts', account, ...steps)
  const [zone = '', part] = id.split('/')
  switch (kind) {
    case 'oauth_client':
      return may('OAuth Clients Read')
        ? { page: paths.client(account, id), source: own('oauth_clients', id) }
        : null
    case 'token':
      return may('API Tokens Read') ? { page: paths.token(account, id), source: own('tokens', id) } : null
    case 'gateway':
      return may('AI Gateway Read')
        ? { page: paths.gateway(account, id), source: own('ai-gateway', 'gateways', id) }
        : null
    case 'policies': {
      const [gateway = ''] = id.split('/')
      return may('AI Gateway Read')
        ? { page: paths.gateway(account, gateway), source: own('ai-gateway', 'gateways', gateway) }
        : null
    }
    case 'custom_provider':
      return may('AI Gateway Read')
        ? { page: paths.customProviders(account), source: own('ai-gateway', 'custom-providers', id) }
        : null
    case 'member':
      return may('Members Read') ? { page: paths.member(account, id), source: own('members', id) } : null
    case 'account':
      return id === account ? { page: paths.home(account), source: null } : null
    case 'access_rules': {
      if (!may('Access Rules Read')) return null
      const source = apiPath('zones', zone, 'access_rules')
      // The page of one rule is a form.
      return part !== undefined && may('Access Rules Write')
        ? { page: paths.accessRule(account, zone, part), source, item: part }
        : { page: paths.accessRules(account, zone), source, ...(part !== undefined && { item: part }) }
    }
    case 'error_rules': {
      if (!may('Custom Errors Read')) return null
      const source = apiPath('zones', zone, 'error_rules')
      return part === undefined
        ? { page: paths.errorZone(account, zone), source }
        : { page: paths.errorRule(account, zone, part), source, item: part }
    }
    case 'error_page':
      return part !== undefined && may('Custom Errors Read')
        ? { page: paths.errorPage(account, zone, part), source: apiPath('zones', zone, 'error_pages') }
        : null
    default:
      return null
  }
}

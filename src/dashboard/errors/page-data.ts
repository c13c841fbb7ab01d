// The requests of the error pages to the management API, and their common headings.

import { type Api, apiPath, missing, Refusal } from '../page/api-client.ts'
import type { PageRequest, Crumb } from '../page/page-request.ts'
import { paths } from '../page/paths.ts'

export interface Zone {
  readonly id: string
  readonly account: { readonly id: string }
  readonly hosts: readonly string[]
  readonly errors: { readonly file_rules: number; readonly file_pages: readonly string[] }
}

/** A rule as listed: those of the API have ids, and are evaluated before those of the file. */
export interface RankedRule {
  readonly id: string
  readonly source: 'api' | 'zone_file' | 'all_zones_file'
  /** Its number in the file; null for one of the API. */
  readonly number: number | null
  readonly expression: string
  readonly content_type: string
  readonly status_code: number | null
  readonly description: string | null
  readonly hits: number
  readonly last_hit_at: string | null
}

export interface Rule {
  readonly id: string
  readonly expression: string
  readonly content: string
  readonly content_type: string
  readonly status_code: number | null
  readonly description: string | null
}

export interface ErrorPage {
  readonly type: string
  readonly size: number
  readonly modified_at: string
  /** Only if one page is read. */
  readonly html?: string
}

export interface Preview {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly source: keyof typeof sourcesInWords
  readonly rule_id?: string
}

export const sourcesInWords = {
  draft_rule: 'this rule',
  draft_page: 'this page',
  zone_rule: 'a rule of the zone',
  account_rule: 'a rule for all zones',
  zone_page: 'a page of the zone',
  account_page: 'a page for all zones',
  default: 'the page of Gatehouse',
} as const

/** The maximum page size of the API. */
const maxZones = 100

/** Finds the zone of a path; one of another account counts as missing. */
export function findZone(request: PageRequest) {
  return zoneNamed(request, request.params.zone!)
}

/** Finds a zone of the account. */
export async function zoneNamed({ api, account }: PageRequest, name: string) {
  const response = await api.tryGet<Zone>(apiPath('zones', name))
  const isOthers = response.ok ? response.result.account.id !== account.id : response.status === 403
  if (isOthers) missing()
  if (!response.ok) throw new Refusal(response)
  return response
}

/** Lists the zones of the account, by name; empty if the person may not see them. */
export async function zonesOf({ api, account, may }: PageRequest): Promise<readonly Zone[]> {
  if (!may('Zones Read')) return []
  const response = await api.tryGet<Zone[]>('/zones', { 'account.id': account.id, per_page: maxZones })
  return response.ok ? response.result : []
}

/** Returns what a client would get for an error in a zone. */
export function previewOf(api: Api, zone: string, body: object) {
  return api.post<Preview>(apiPath('zones', zone, 'error_preview'), body)
}

export function errorCrumbs({ account }: PageRequest): readonly Crumb[] {
  return [{ title: 'Errors', path: paths.errors(account.id) }]
}

export function zoneCrumbs(request: PageRequest): readonly Crumb[] {
  const zone = request.params.zone!
  return [...errorCrumbs(request), { title: zone, path: paths.errorZone(request.account.id, zone) }]
}

// Handlers of the rules of a zone in order, with their hits in the last day.

import type { AccessRule } from '../../../config/model/access-config.ts'
import type { ErrorRule } from '../../../config/model/custom-errors-config.ts'
import { ruleIdOf } from '../../../config/model/rule-id.ts'
import { type TallyKind, tallyKinds, type TallySum } from '../../../store/records/tally.ts'
import { zoneOwner } from '../../../store/records/zone-lists.ts'
import { banHits, defaultHits, zoneScope } from '../../../activity/tally-scopes.ts'
import { type ApiResponse, listInTurns } from '../../http/envelope.ts'
import { isoTime } from '../../records/record-handlers.ts'
import type { Api, ZoneCall } from '../../api/api-types.ts'
import { viewAccessRule } from './access-rule-body.ts'

/** The source of a rule: the API, the zone in the configuration file, or the settings for all zones there. */
export const ruleSources = ['api', 'zone_file', 'all_zones_file'] as const

interface Ruled<Rule> {
  readonly source: (typeof ruleSources)[number]
  readonly rule: Rule
  readonly number: number | null
}

interface Decider {
  readonly name: string
  readonly view: object
}

export async function listAccessRuleHits(call: ZoneCall, { store, zones }: Api): Promise<ApiResponse> {
  const { zone } = call
  const current = await store.accessRules.get(zoneOwner, zone.name)
  const { access } = zones.ofAll()
  const ofFile = fromFile(zone.access.rules, 'zone_file')
  const rules: Ruled<AccessRule>[] = [
    ...fromFile(access.rules, 'all_zones_file'),
    ...ofFile.filter(({ rule }) => rule.action === 'legal'),
    ...fromApi(current?.record.rules ?? []),
    ...ofFile.filter(({ rule }) => rule.action !== 'legal'),
  ]
  const deciders: Decider[] = rules.map(({ source, rule, number }) => {
    const { id, ...view } = viewAccessRule({ ...rule, id: ruleIdOf(rule) })
    return { name: id, view: { decides: 'rule', id, source, number, ...view } }
  })
  if (access.ban !== null || zone.access.ban !== null)
    deciders.unshift({ name: banHits, view: beside('ban', 'deny') })
  deciders.push({ name: defaultHits, view: beside('default', zone.access.otherwise) })
  return respond(call, 'access_rule', deciders, store)
}

export async function listErrorRuleHits(call: ZoneCall, { store, zones }: Api): Promise<ApiResponse> {
  const { zone } = call
  const current = await store.errorRules.get(zoneOwner, zone.name)
  const rules: Ruled<ErrorRule>[] = [
    ...fromApi(current?.record.rules ?? []),
    ...fromFile(zone.errors.rules, 'zone_file'),
    ...fromFile(zones.ofAll().errors.rules, 'all_zones_file'),
  ]
  const deciders = rules.map(({ source, rule, number }): Decider => {
    const { expression, contentType: content_type, status: status_code, description } = rule
    const id = ruleIdOf(rule)
    return { name: id, view: { id, source, number, expression, content_type, status_code, description } }
  })
  return respond(call, 'error_rule', deciders, store)
}

async function respond(
  { zone, now }: ZoneCall,
  kind: TallyKind,
  deciders: readonly Decider[],
  { tallies }: Api['store'],
): Promise<ApiResponse> {
  const sums = await tallies.list(kind, zoneScope(zone.name), now - tallyKinds[kind].retention)
  const byName = new Map(sums.map(sum => [sum.name, sum]))
  const window = { page: 1, perPage: Math.max(1, deciders.length), total: deciders.length }
  return listInTurns(deciders, ({ name, view }) => ({ ...view, ...viewHits(byName.get(name)) }), window)
}

function viewHits({ slots, last }: Pick<TallySum, 'slots' | 'last'> = { slots: [], last: 0 }) {
  return {
    hits: slots.reduce((sum, [, count]) => sum + count, 0),
    last_hit_at: slots.length === 0 ? null : isoTime(last),
    hours: slots.map(([slot, count]) => ({ since: isoTime(slot), count })),
  }
}

function beside(decides: 'ban' | 'default', action: 'allow' | 'deny') {
  return { decides, id: null, source: null, number: null, action, description: null }
}

function fromApi<Rule>(rules: readonly Rule[]): Ruled<Rule>[] {
  return rules.map(rule => ({ source: 'api', rule, number: null }))
}

function fromFile<Rule>(rules: readonly Rule[], source: Ruled<Rule>['source']): Ruled<Rule>[] {
  return rules.map((rule, i) => ({ source, rule, number: i + 1 }))
}

// Handlers of the API-managed rules of a zone: the first that matches wins.

import { hash } from 'node:crypto'
import { newId } from '../../../base/ids/id.ts'
import { nextTurn } from '../../../base/turns/turns.ts'
import type { Fault } from '../../../errors/catalogue/refusal.ts'
import { auditOf, type Resource } from '../../../store/records/audit-entry.ts'
import type { AuditEntry } from '../../../store/records/records.ts'
import type { Records, Store } from '../../../store/contract/store.ts'
import { type RuleList, zoneOwner } from '../../../store/records/zone-lists.ts'
import { membersSet, updateOf } from '../../records/audit.ts'
import { type ApiResponse, failure, failures, listInTurns, success } from '../../http/envelope.ts'
import { Field } from '../../http/field.ts'
import type { Api, ZoneCall } from '../../api/api-types.ts'
import { type Revised, upsert } from '../../records/record-handlers.ts'
import { etagOf, unmet } from '../../http/precondition.ts'
import { maxRules, placeAmong, type ReadRule, readPosition, workFault } from './rule-members.ts'
import { orderFaults, readOrder } from './rule-order.ts'
import type { Zones } from '../../facts/zone-facts.ts'

interface RuleKind<Rule extends Described> {
  readonly resourceKind: 'error_rules' | 'access_rules'
  readonly recordsOf: (store: Store) => Records<RuleList<WithId<Rule>>>
  readonly read: (body: Field, zones: Zones) => ReadRule<Rule>
  readonly view: (rule: WithId<Rule>) => object
  /** The steps of a rule for a typical request, and the maximum for all of a zone: see `base/work.ts`. */
  readonly work: (rule: Rule) => number
  readonly maxWork: number
}

export interface Described {
  readonly description: string | null
}

type WithId<Rule> = Rule & { readonly id: string }

type Change<Rule> = { readonly rules: readonly WithId<Rule>[]; readonly audit: AuditEntry } | ApiResponse

export class ZoneRules<Rule extends Described> {
  readonly #kind: RuleKind<Rule>

  constructor(kind: RuleKind<Rule>) {
    this.#kind = kind
  }

  async list({ zone }: ZoneCall, { store }: Api): Promise<ApiResponse> {
    const current = await this.#kind.recordsOf(store).get(zoneOwner, zone.name)
    // They may be large together: reading them is one step, comparing them another.
    await nextTurn()
    return this.#showAll(current?.record.rules ?? [])
  }

  async create(call: ZoneCall, api: Api): Promise<ApiResponse> {
    const faults: Fault[] = []
    const { rule, id, position } = this.#kind.read(new Field(call.body, faults), api.zones)
    if (id.value !== undefined) id.refuse('is set by the server', 'owned')
    const place = readPosition(position)
    if (faults.length > 0) return failures(faults)
    const made = { ...rule, id: newId() }
    const audit = auditOf(call, 'create', this.#resource(call, made), membersSet(call.body))
    const rules = await this.#revise(call, api, rules => {
      if (rules.length >= maxRules) return full
      const at = placeAmong(rules, place)
      return typeof at === 'number' ? { rules: rules.toSpliced(at, 0, made), audit } : failures([at])
    })
    return 'status' in rules ? rules : success(this.#kind.view(made), tagOf(rules))
  }

  async replace(call: ZoneCall, api: Api): Promise<ApiResponse> {
    const faults: Fault[] = []
    const ruleId = call.params.rule_id!
    const { view, read } = this.#kind
    const { rule, id, position } = read(new Field(call.body, faults), api.zones)
    id.mustBe(ruleId)
    if (position.value !== undefined)
      position.refuse('is only for new rules: use the order endpoint to move a rule')
    if (faults.length > 0) return failures(faults)
    const next = { ...rule, id: ruleId }
    const rules = await this.#revise(call, api, rules => {
      const at = rules.findIndex(({ id }) => id === ruleId)
      if (at < 0) return noRule
      const audit = updateOf(call, this.#resource(call, next), view(rules[at]!), view(next))
      return { rules: rules.with(at, next), audit }
    })
    return 'status' in rules ? rules : success(view(next), tagOf(rules))
  }

  async remove(call: ZoneCall, api: Api): Promise<ApiResponse> {
    const ruleId = call.params.rule_id!
    const rules = await this.#revise(call, api, rules => {
      const rule = rules.find(({ id }) => id === ruleId)
      if (rule === undefined) return noRule
      const audit = auditOf(call, 'delete', this.#resource(call, rule))
      return { rules: rules.filter(one => one !== rule), audit }
    })
    return 'status' in rules ? rules : success({ id: ruleId }, tagOf(rules))
  }

  async reorder(call: ZoneCall, api: Api): Promise<ApiResponse> {
    const faults: Fault[] = []
    const ids = readOrder(call.body, faults)
    if (faults.length > 0) return failures(faults)
    const audit = auditOf(call, 'reorder', this.#resource(call), ['ids'])
    const rules = await this.#revise(call, api, rules => {
      const faults = orderFaults(ids, rules)
      if (faults.length > 0) return failures(faults)
      const byId = new Map(rules.map(rule => [rule.id, rule]))
      return { rules: ids.map(id => byId.get(id)!), audit }
    })
    return 'status' in rules ? rules : this.#showAll(rules)
  }

  /** Changes the current list, also after concurrent writes, if If-Match permits. */
  async #revise(
    { zone, now, ifMatch }: ZoneCall,
    { store, log }: Api,
    change: (rules: readonly WithId<Rule>[]) => Change<Rule>,
  ): Promise<readonly WithId<Rule>[] | ApiResponse> {
    const name = { account: zoneOwner, id: zone.name }
    const make = (current: RuleList<WithId<Rule>> | null): Revised<RuleList<WithId<Rule>>> => {
      const list = current ?? { ...name, rules: [], createdAt: now, modifiedAt: now }
      const changed = unmet(ifMatch, revisionOf(list.rules)) ?? change(list.rules)
      if ('status' in changed) return changed
      const fault = workFault(this.#workOf(list.rules), this.#workOf(changed.rules), this.#kind.maxWork)
      if (fault !== null) return failures([fault])
      return { record: { ...list, rules: changed.rules, modifiedAt: now }, audit: changed.audit }
    }
    const revised = await upsert(this.#kind.recordsOf(store), name, make, log)
    return 'record' in revised ? revised.record.rules : revised
  }

  #workOf(rules: readonly Rule[]): number {
    return rules.reduce((sum, rule) => sum + this.#kind.work(rule), 0)
  }

  async #showAll(rules: readonly WithId<Rule>[]): Promise<ApiResponse> {
    const window = { page: 1, perPage: maxRules, total: rules.length }
    const tag = tagOf(rules)
    await nextTurn()
    return listInTurns(rules, this.#kind.view, window, tag)
  }

  #resource({ zone }: ZoneCall, rule?: WithId<Rule>): Resource {
    const { resourceKind } = this.#kind
    if (rule === undefined) return { resourceKind, resource: zone.name }
    const { description } = rule
    return {
      resourceKind,
      resource: `${zone.name}/${rule.id}`,
      ...(description && { resourceName: description }),
    }
  }
}

const noRule = failure('no_such', 'Rule')

const full = failure('too_many_rules', maxRules)

function tagOf(rules: readonly object[]): ApiResponse['headers'] {
  return etagOf(revisionOf(rules))
}

function revisionOf(rules: readonly object[]) {
  return { revision: hash('sha256', JSON.stringify(rules)).slice(0, 32) }
}

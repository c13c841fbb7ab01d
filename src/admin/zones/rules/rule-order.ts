// The body that reorders the rules of a zone: all their ids.

import { isId } from '../../../base/ids/id.ts'
import { faultAt } from '../../../errors/catalogue/api-faults.ts'
import type { Fault } from '../../../errors/catalogue/refusal.ts'
import { Field } from '../../http/field.ts'
import { maxRules } from './rule-members.ts'

export function readOrder(body: unknown, faults: Fault[]): readonly string[] {
  const { ids } = new Field(body, faults).members(['ids'])
  return ids.items(0, maxRules).map(item => item.ruled(idFault) ?? '')
}

export function orderFaults(
  ids: readonly string[],
  rules: readonly { readonly id: string }[],
): readonly Fault[] {
  const knownIds = new Set(rules.map(({ id }) => id))
  const faults = ids.flatMap((id, i) => {
    const first = ids.indexOf(id)
    if (!knownIds.has(id)) return wrong(`ids[${i}]`, 'must be the id of a rule in this list', `/ids/${i}`)
    return first < i ? wrong(`ids[${i}]`, `duplicates ids[${first}]`, `/ids/${i}`) : []
  })
  const left = [...knownIds.difference(new Set(ids))]
  return left.length === 0
    ? faults
    : [...faults, wrong('ids', `must list every rule; missing: ${left.join(', ')}`, '/ids')]
}

function idFault(id: string): string | null {
  return isId(id) ? null : 'must be the id of a rule: 32 hex digits'
}

function wrong(place: string, rule: string, pointer: string): Fault {
  return faultAt(pointer, 'invalid', place, rule)
}

// The members that rules of all kinds have in requests.

import { faultAt } from '../../../errors/catalogue/api-faults.ts'
import { compileExpression, describeFlaw, type Scope } from '../../../expression/expression.ts'
import type { Fault } from '../../../errors/catalogue/refusal.ts'
import type { Field } from '../../http/field.ts'

export const maxRules = 100

export const besideRule = ['id', 'position'] as const

export interface ReadRule<Rule> {
  readonly rule: Rule
  readonly id: Field
  readonly position: Field
}

type Position = { readonly before: string } | { readonly after: string } | { readonly index: number } | null

/** Reads a condition in CEL; empty if invalid, or if it requires data without a database. */
export function readExpression(field: Field, scope: Scope, hasGeo: boolean): string {
  const faultOf = (text: string) => {
    const compiled = compileExpression(text, scope, 'bool')
    if ('line' in compiled) return describeFlaw(compiled)
    return compiled.needsGeo && !hasGeo ? needsGeo : null
  }
  return field.ruled(faultOf) ?? ''
}

/** Null if the work is within the bound, or less than before. */
export function workFault(before: number, after: number, maxWork: number): Fault | null {
  if (after <= maxWork || after <= before) return null
  const rule = `could take too many steps for one request: ${Math.ceil(after)}, of at most ${maxWork}`
  return faultAt('', 'invalid', 'The rules of the zone', rule)
}

export const needsGeo = 'needs geo.databases in the configuration to look up countries and networks'

export function readDescription(field: Field): string | null {
  return field.value === null ? null : field.text(500)
}

export function readPosition(field: Field): Position {
  const { before, after, index } = field.members([], ['before', 'after', 'index'])
  if (field.value === undefined) return null
  const isSet = [before, after, index].filter(({ value }) => value !== undefined)
  if (isSet.length !== 1) field.refuse('must have exactly one of before, after or index')
  if (index.value !== undefined) return { index: index.integer(1, maxRules) ?? 1 }
  return before.value !== undefined ? { before: before.text(100) ?? '' } : { after: after.text(100) ?? '' }
}

export function placeAmong(rules: readonly { readonly id: string }[], position: Position): number | Fault {
  if (position === null) return rules.length
  if ('index' in position)
    return position.index <= rules.length + 1
      ? position.index - 1
      : misplaced('index', `must be at most ${rules.length + 1}, the end of the list`)
  const [name, neighbour] = Object.entries(position)[0] as ['before' | 'after', string]
  const at = rules.findIndex(({ id }) => id === neighbour)
  if (at < 0) return misplaced(name, 'must be the id of a rule in this list')
  return name === 'before' ? at : at + 1
}

function misplaced(name: string, rule: string): Fault {
  return faultAt(`/position/${name}`, 'invalid', `position.${name}`, rule)
}

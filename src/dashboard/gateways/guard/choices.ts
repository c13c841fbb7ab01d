// The policies of a guard as one choice for each pattern and check, and back.

import { everyPattern, patternNames } from '../../../guard/patterns.ts'
import type { Guard, GuardAction, GuardCheck, GuardPolicy } from '../gateway.ts'

/** What happens to matches of a pattern in requests or responses; empty if nothing of its own does. */
export type Choice = GuardAction | ''
/** Choices by the names of their fields. */
type Choices = Readonly<Record<string, Choice>>

export const checks = ['REQUEST', 'RESPONSE'] as const satisfies readonly GuardCheck[]
/** From the least strict to the strictest, which counts. */
export const actions = ['FLAG', 'REDACT', 'BLOCK'] as const satisfies readonly GuardAction[]
/** All patterns together, and then each of them. */
export const rows: readonly string[] = [everyPattern, ...patternNames]

/** Returns the name of the field of a choice, such as `request.card_number`. */
export function fieldOf(check: GuardCheck, pattern: string): string {
  return `${check.toLowerCase()}.${pattern === everyPattern ? 'all' : pattern}`
}

/** Whether a choice counts beside that for all patterns, or does nothing. */
export function isStricter(choice: Choice, than: Choice): boolean {
  return strictness(choice) > strictness(than)
}

/** Returns what a guard does; a pattern has a choice of its own if that is stricter than the one for all. */
export function choicesOf(guard: Guard | null): Choices {
  const policies = guard?.policies.filter(({ enabled }) => enabled) ?? []
  const choices: Record<string, Choice> = {}
  for (const check of checks) {
    const looking = policies.filter(policy => policy.check.includes(check))
    const all = strictestOf(looking, everyPattern)
    for (const pattern of rows) {
      const own = pattern === everyPattern ? all : strictestOf(looking, pattern)
      choices[fieldOf(check, pattern)] = pattern === everyPattern || isStricter(own, all) ? own : ''
    }
  }
  return choices
}

/**
 * Returns policies that do what was chosen: those of before if they do. Otherwise, disabled ones are
 * retained, and so is the id of one with the same action and checks.
 */
export function policiesOf(choices: Choices, before: Guard | null): readonly GuardPolicy[] {
  const policies = before?.policies ?? []
  const current = choicesOf(before)
  if (Object.keys(current).every(field => current[field] === (choices[field] ?? ''))) return policies
  const disabled = policies.filter(({ enabled }) => !enabled)
  const taken = new Set(disabled.map(({ id }) => id))
  const made = shapes.flatMap(({ action, check }): GuardPolicy[] => {
    const others = checks.filter(other => !check.includes(other))
    const profiles = rows.filter(
      pattern =>
        check.every(own => choices[fieldOf(own, pattern)] === action) &&
        others.every(other => choices[fieldOf(other, pattern)] !== action),
    )
    if (profiles.length === 0) return []
    const same = policies.find(
      policy =>
        policy.enabled &&
        policy.action === action &&
        policy.check.length === check.length &&
        check.every(own => policy.check.includes(own)) &&
        !taken.has(policy.id),
    )
    const id =
      same?.id ?? freeId([action, ...(others.length > 0 ? check : [])].join('-').toLowerCase(), taken)
    taken.add(id)
    return [{ id, enabled: true, action, check, profiles }]
  })
  return [...made, ...disabled]
}

const shapes = actions
  .toReversed()
  .flatMap(action => [checks, ...checks.map(check => [check])].map(check => ({ action, check })))

function freeId(name: string, taken: ReadonlySet<string>): string {
  let id = name
  for (let i = 2; taken.has(id); i++) id = `${name}-${i}`
  return id
}

function strictestOf(policies: readonly GuardPolicy[], pattern: string): Choice {
  return policies
    .filter(({ profiles }) => profiles.includes(pattern))
    .reduce<Choice>((strictest, { action }) => (isStricter(action, strictest) ? action : strictest), '')
}

function strictness(choice: Choice): number {
  return choice === '' ? -1 : actions.indexOf(choice)
}

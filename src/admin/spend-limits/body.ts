// Reads the spend limits of a gateway or a token, in the shape of the published client of gateways.

import { hash } from 'node:crypto'
import type {
  BudgetUnit,
  CalendarPeriod,
  Criterion,
  SpendLimits,
  SpendRule,
} from '../../store/records/budget-rule.ts'
import { type Field, unprintable } from '../http/field.ts'

/** Whose limits they are. Those of a token have no partitions: it has a budget of its own by itself. */
export type SpendOwner = 'gateway' | 'token'

export const maxRules = { gateway: 20, token: 5 } as const satisfies Record<SpendOwner, number>
export const units = ['cost', 'tokens', 'concurrency'] as const satisfies readonly BudgetUnit[]
export const periods = ['day', 'week', 'month'] as const satisfies readonly CalendarPeriod[]
/** USD, tokens and calls. In nanodollars, the largest cost leaves room for sums. */
export const maxOf = {
  cost: 1_000_000,
  tokens: 1_000_000_000_000,
  concurrency: 100_000,
} as const satisfies Record<BudgetUnit, number>
/** Seconds: a minute, and 366 days. */
export const shortestWindow = 60
export const longestWindow = 366 * 86_400
export const maxValues = 50
export const maxValueLength = 256
/** As many as a call may have. */
export const maxNames = 5
const maxNameLength = 100
export const idPattern = /^[A-Za-z0-9_-]{1,64}$/
export const zonePattern = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/

/** What calls are told apart by, besides their metadata. */
export const criteriaOf = {
  gateway: ['model', 'provider', 'token', 'app', 'person'],
  token: ['model', 'provider'],
} as const satisfies Record<SpendOwner, readonly string[]>

/** Reads limits; null if there are none, or after a fault. */
export function readSpendLimits(field: Field, owner: SpendOwner): SpendLimits | null {
  if (field.value === undefined || field.value === null) return null
  const { enabled, rules } = field.members([], ['enabled', 'rules'])
  const isEnabled = enabled.flag() ?? true
  const fields = rules.items(0, maxRules[owner])
  const read = fields.map(rule => readRule(rule, owner))
  const taken = new Set<string>()
  for (const { id, idField } of read) {
    if (id !== null && taken.has(id)) idField.refuse('duplicates the id of an earlier rule', 'repeated')
    if (id !== null) taken.add(id)
  }
  return { isEnabled, rules: read.map(({ id, rule }) => ({ id: id ?? generatedId(rule, taken), ...rule })) }
}

/**
 * Reads an amount of USD with up to 9 decimals, above 0; null if absent or at fault. Nothing costs
 * nothing: that is what a limit is for.
 */
export function readDollars(field: Field, max: number): number | null {
  const { value } = field
  if (value === undefined) return null
  if (typeof value === 'number' && value > 0 && value <= max && Number(value.toFixed(9)) === value)
    return value
  return field.refuse(`must be a number of USD above 0, up to ${max}, with at most 9 decimals`)
}

type WithoutId = Omit<SpendRule, 'id'>

function readRule(field: Field, owner: SpendOwner) {
  const members = field.members(
    ['limit', 'limitType'],
    [
      ...([
        'id',
        'enabled',
        'window',
        'time_zone',
        'technique',
        'metadata',
        'when_store_unreachable',
      ] as const),
      ...criteriaOf[owner],
    ],
  ) as Readonly<Record<Name, Field | undefined>> & Readonly<Record<Always, Field>>
  const unit = members.limitType.oneOf(units) ?? 'cost'
  const idFlaw = 'must be 1 to 64 letters, digits, hyphens and underscores'
  const isFilterOnly = owner === 'token'
  const criteria = criteriaOf[owner].flatMap(name => {
    const criterion = readCriterion(members[name]!, isFilterOnly)
    return criterion === null ? [] : [[name, criterion] as const]
  })
  const metadata = readMetadata(members.metadata, isFilterOnly)
  const rule: WithoutId = {
    isEnabled: members.enabled.flag() ?? true,
    unit,
    limit: readLimit(members.limit, unit) ?? 1,
    ...readWindow(members, unit),
    ...(Object.fromEntries(criteria) as Partial<Record<(typeof criteria)[number][0], Criterion>>),
    ...(metadata && { metadata }),
    whenUnreachable: orUsual(members.when_store_unreachable)?.oneOf(['closed', 'open']) ?? 'closed',
  }
  const id = orUsual(members.id)?.ruled(text => (idPattern.test(text) ? null : idFlaw)) ?? null
  return { id, idField: members.id, rule }
}

type Always =
  | 'limit'
  | 'limitType'
  | 'id'
  | 'enabled'
  | 'window'
  | 'time_zone'
  | 'technique'
  | 'metadata'
  | 'when_store_unreachable'
type Name = (typeof criteriaOf)[SpendOwner][number]

function readLimit(limit: Field, unit: BudgetUnit): number | null {
  return unit === 'cost' ? readDollars(limit, maxOf.cost) : limit.integer(1, maxOf[unit])
}

function readWindow(
  { window, time_zone, technique }: Readonly<Record<'window' | 'time_zone' | 'technique', Field>>,
  unit: BudgetUnit,
): Pick<SpendRule, 'window' | 'timeZone' | 'technique'> {
  if (unit === 'concurrency') {
    for (const field of [window, time_zone, technique])
      if (orUsual(field)?.value !== undefined) field.refuse('must be left out for calls at a time')
    return { window: null, technique: 'fixed' }
  }
  const kind = orUsual(technique)?.oneOf(['fixed', 'sliding']) ?? 'fixed'
  const zone = orUsual(time_zone)?.ruled(text => (isTimeZone(text) ? null : zoneFlaw)) ?? undefined
  if (window.value === undefined || window.value === null) {
    window.refuse('is required', 'missing')
    return { window: shortestWindow, technique: kind }
  }
  if (typeof window.value === 'string') {
    const period = window.ruled(text => (periods.some(period => period === text) ? null : windowFlaw))
    if (kind === 'sliding') technique.refuse(`must be fixed or be left out, since window is ${window.value}`)
    return {
      window: (period as CalendarPeriod | null) ?? 'day',
      timeZone: zone ?? 'UTC',
      technique: 'fixed',
    }
  }
  if (zone !== undefined) time_zone.refuse('must be left out, since window is in seconds')
  const seconds = window.value
  const isWithin =
    Number.isInteger(seconds) && (seconds as number) >= shortestWindow && (seconds as number) <= longestWindow
  if (!isWithin) window.refuse(windowFlaw)
  return { window: isWithin ? (seconds as number) : shortestWindow, technique: kind }
}

const windowFlaw = `must be a whole number of seconds from ${shortestWindow} to ${longestWindow}, or ${periods.join(', ')}`
export const zoneFlaw = 'must be the name of a time zone, such as Europe/Berlin or UTC'

export function isTimeZone(text: string): boolean {
  if (!zonePattern.test(text)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: text })
    return true
  } catch {
    return false
  }
}

function readMetadata(field: Field, isFilterOnly: boolean): Readonly<Record<string, Criterion>> | null {
  const object = orUsual(field)?.object() ?? null
  if (object === null) return null
  const names = Object.keys(object).sort()
  if (names.length > maxNames || !names.every(isName)) {
    field.refuse(
      `must have at most ${maxNames} members, with names of 1 to ${maxNameLength} printable characters`,
    )
    return null
  }
  const members = field.members([], names)
  return Object.fromEntries(
    names.flatMap(name => {
      const criterion = readCriterion(members[name]!, isFilterOnly)
      return criterion === null ? [] : [[name, criterion]]
    }),
  )
}

function isName(name: string): boolean {
  return name !== '' && name.length <= maxNameLength && !unprintable.test(name)
}

function readCriterion(field: Field, isFilterOnly: boolean): Criterion | null {
  if (field.value === undefined || field.value === null) return null
  const { mode, values } = field.members(['mode'], ['values'])
  const kind = mode.oneOf(isFilterOnly ? ['filter'] : ['partition', 'filter'])
  if (kind === 'partition') {
    if (values.value !== undefined) values.refuse('must be left out, since mode is partition')
    return { mode: kind }
  }
  if (kind === 'filter' && values.value === undefined) values.refuse('is required', 'missing')
  return { mode: 'filter', values: readValues(values) }
}

function readValues(field: Field): readonly string[] {
  const values = new Set<string>()
  for (const item of field.items(1, maxValues)) {
    const text = item.text(maxValueLength)
    if (text !== null && values.has(text)) item.refuse('duplicates an earlier item', 'repeated')
    if (text !== null) values.add(text)
  }
  return [...values]
}

/** The same for a rule that counts the same, so that a body without ids can be sent again. */
function generatedId(
  { limit, isEnabled, whenUnreachable, ...counted }: WithoutId,
  taken: Set<string>,
): string {
  for (let i = 0; ; i++) {
    const id = hash('sha256', JSON.stringify([counted, i])).slice(0, 32)
    if (taken.has(id)) continue
    taken.add(id)
    return id
  }
}

function orUsual(field: Field): Field | null {
  return field.value === null ? null : field
}

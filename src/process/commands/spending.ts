// The options that limit what calls may spend, and the spend limits that they stand for, as the API has them.

import { visible } from '../../base/text/visible.ts'
import { text, texts, type Values } from './options.ts'

/** Rules for all calls together; the API has more kinds. */
export const spending = {
  spend: texts(
    'USD/PERIOD',
    'what calls may cost in a minute, hour, day, week or month: 0.10/day; repeatable',
  ),
  'tokens-per-minute': text('NUMBER', 'how many tokens calls may use in a minute'),
  'concurrent-calls': text('NUMBER', 'how many calls may be under way at a time'),
}

export type Spending = Values<typeof spending>

/** A rule as the API has it; one for some calls, or told apart by anything, has more members. */
export interface WireRule {
  readonly id?: string
  readonly enabled?: boolean
  readonly limit: number
  readonly limitType: string
  readonly window?: number | string
  readonly technique?: string
}

export interface WireLimits {
  readonly enabled?: boolean
  readonly rules: readonly WireRule[]
}

/** Reads the rules that options stand for; a text says what is wrong, and null that there are none. */
export function rulesOf(input: Spending): readonly WireRule[] | string | null {
  const rules: WireRule[] = []
  for (const text of (input.spend ?? []).filter(text => text !== off)) {
    const [, amount, period] = /^(\d{1,9}(?:\.\d{1,9})?)\/([a-z]+)$/.exec(text) ?? []
    const window = windows.get(period ?? '')
    if (window === undefined || Number(amount) === 0)
      return `--spend must be USD in a ${periods.slice(0, -1).join(', ')} or ${periods.at(-1)}, such as 0.10/day, not '${visible(text)}'`
    if (rules.some(rule => rule.window === window)) return `--spend has two limits for a ${period}`
    rules.push({ limit: Number(amount), limitType: 'cost', window })
  }
  for (const [option, limitType] of counted) {
    const number = input[option]
    if (number === undefined || number === off) continue
    if (!/^[1-9]\d{0,11}$/.test(number)) return `--${option} must be a whole number above 0`
    const window = limitType === 'tokens' ? { window: 60 } : {}
    rules.push({ limit: Number(number), limitType, ...window })
  }
  return namedBy(input).length === 0 ? null : rules
}

/**
 * Replaces, of each kind that the options name, the rules for all calls together; `off` removes them. A rule
 * with the same window keeps its id, and with it what was spent.
 */
export function withRules(
  limits: WireLimits | null,
  rules: readonly WireRule[],
  input: Spending,
): WireLimits | null {
  const named = namedBy(input)
  const old = limits?.rules ?? []
  const replaced = old.filter(rule => named.includes(rule.limitType) && isPlain(rule))
  const added = rules.map(rule => {
    const before = replaced.find(one => one.limitType === rule.limitType && one.window === rule.window)
    return before === undefined ? rule : { ...before, limit: rule.limit, enabled: true }
  })
  const all = [...old.filter(rule => !replaced.includes(rule)), ...added]
  return all.length === 0 ? null : { enabled: added.length > 0 || (limits?.enabled ?? true), rules: all }
}

/** Describes each rule in a few words. */
export function inWords({ enabled = true, rules }: WireLimits): string {
  if (!enabled) return 'off'
  const words = rules.map(rule => {
    const { limit, limitType, window, enabled: isOn = true } = rule
    const amount = `${limit} ${unitNames.get(limitType) ?? limitType}`
    const period = typeof window === 'number' ? `in ${window} s` : window === undefined ? '' : `a ${window}`
    const criteria = Object.entries(rule).flatMap(criterionInWords)
    return [amount, period, ...criteria, ...(isOn ? [] : ['(off)'])].filter(word => word !== '').join(' ')
  })
  return words.length === 0 ? '-' : words.join('; ')
}

export const off = 'off'

const windows: ReadonlyMap<string, number | string> = new Map<string, number | string>([
  ['minute', 60],
  ['hour', 3600],
  ['day', 'day'],
  ['week', 'week'],
  ['month', 'month'],
])
const periods = [...windows.keys()]

const counted = [
  ['tokens-per-minute', 'tokens'],
  ['concurrent-calls', 'concurrency'],
] as const

const unitNames: ReadonlyMap<string, string> = new Map([
  ['cost', 'USD'],
  ['tokens', 'tokens'],
  ['concurrency', 'calls at a time'],
])

/** Lists the kinds of rules that the options are about. */
function namedBy(input: Spending): readonly string[] {
  const others = counted.filter(([option]) => input[option] !== undefined).map(([, limitType]) => limitType)
  return [...(input.spend === undefined ? [] : ['cost']), ...others]
}

const plainMembers: ReadonlySet<string> = new Set([
  ...['id', 'enabled', 'limit', 'limitType', 'window', 'time_zone', 'technique', 'when_store_unreachable'],
])

/** Whether a rule is for all calls together. */
function isPlain(rule: WireRule): boolean {
  return rule.technique !== 'sliding' && Object.keys(rule).every(name => plainMembers.has(name))
}

function criterionInWords([name, value]: readonly [string, unknown]): readonly string[] {
  if (plainMembers.has(name)) return []
  if (name === 'metadata')
    return Object.entries(value as object).flatMap(([name, one]) =>
      criterionInWords([`metadata.${name}`, one]),
    )
  const { mode, values = [] } = value as { readonly mode: string; readonly values?: readonly string[] }
  return mode === 'partition' ? [`for each ${name}`] : [`for ${name} ${values.join(' or ')}`]
}

// Conditions of access rules, compiled.

import { memoizeLast } from '../../base/memo.ts'
import { AddressTable, type Found } from '../../net/address/address-table.ts'
import { compileExpression, type Expression } from '../../expression/expression.ts'
import { holdsForAll, holdsForAny } from '../../expression/readings.ts'
import { Glob } from '../../base/text/glob.ts'
import { HostNames } from '../../net/address/host-names.ts'
import { leads } from '../../base/path/path.ts'
import type { AccessCondition, AccessRule } from '../../config/model/access-config.ts'
import { pathWork } from '../../config/shape/rule-cost.ts'
import type { Geo } from '../files/geo.ts'
import type { AddressList, Lists } from '../files/lists.ts'
import type { RuleInput } from './access-request.ts'

/** Null if unknown: a failed expression, a broken database, too many readings, or too little work left. */
export type Condition = (input: RuleInput) => boolean | null

export interface AccessSources {
  readonly lists: Lists
  readonly geo: Geo | null
  /** By default a new table each time. */
  readonly tableOf?: (networks: readonly string[]) => AddressTable
}

/** A rule that denies matches if any reading of the path does, one that allows only if all do. */
type ConditionOfRule = Pick<AccessRule, 'action' | 'condition'>

/** Compiles a validated condition; throws for an invalid one. */
export function compileCondition(
  { action, condition }: ConditionOfRule,
  { lists, geo, tableOf = AddressTable.of }: AccessSources,
): Condition {
  switch (condition.kind) {
    case 'ip':
      return isIn(tableOf(condition.networks))
    case 'list':
      return isOnList(lists.get(condition.name))
    case 'country':
      return isOfCountry(new Set(condition.countries), geo)
    case 'asn':
      return isOfNetwork(new Set(condition.numbers), geo)
    case 'user_agent':
      return hasUserAgent(condition.patterns.map(pattern => new Glob(pattern)))
    case 'referer':
      return comesFrom(new HostNames(condition.hosts))
    case 'referer_not':
      return comesFromElsewhere(new HostNames(condition.hosts))
    case 'path':
      return isUnder(condition.prefixes, action === 'allow')
    case 'expression':
      return holds(condition.text, action === 'allow' ? holdsForAll : holdsForAny, geo)
  }
}

export function readsPath(condition: AccessCondition): boolean {
  if (condition.kind === 'path') return true
  return condition.kind === 'expression' && compiled(condition.text).readsPath
}

function isIn(table: AddressTable): Condition {
  let reading = -1
  let result: Found = 'nothing'
  return input => {
    const { address } = input
    if (address === null) return false
    if (address.readings !== reading) {
      reading = address.readings
      result = table.find(address)
    }
    input.lookup = result
    return result !== 'nothing'
  }
}

/** Caches nothing, since the list may be replaced at any time. */
function isOnList(list: AddressList): Condition {
  return ({ address }) => address !== null && list.find(address) !== 'nothing'
}

function isOfCountry(countries: ReadonlySet<string>, geo: Geo | null): Condition {
  needGeo(geo)
  const isListed = memoizeLast((country: string) => countries.has(country))
  return ({ country }) => (country === null ? null : isListed(country))
}

function isOfNetwork(numbers: ReadonlySet<number>, geo: Geo | null): Condition {
  needGeo(geo)
  return ({ network }) => (network === null ? null : numbers.has(network))
}

function hasUserAgent(patterns: readonly Glob[]): Condition {
  const isMatch = memoizeLast((userAgent: string) => patterns.some(pattern => pattern.matches(userAgent)))
  const workFor = (length: number) => patterns.reduce((sum, pattern) => sum + pattern.workFor(length), 0)
  const minWork = workFor(0)
  const perCharacter = workFor(1) - minWork
  return ({ userAgent, work }) =>
    work.take(minWork + perCharacter * userAgent.length) ? isMatch(userAgent) : null
}

function comesFrom(hosts: HostNames): Condition {
  return ({ refererHost }) => hosts.has(refererHost)
}

/** A request without Referer does not match; one with an unreadable Referer does. */
function comesFromElsewhere(hosts: HostNames): Condition {
  return input => input.referer !== '' && !hosts.has(input.refererHost)
}

/** Matches if any origin may see a path under a prefix, or with `mustAll` if every origin does. */
function isUnder(prefixes: readonly string[], mustAll: boolean): Condition {
  const steps = pathWork(prefixes)
  return ({ request: { paths }, work }) => {
    if (paths === null || !work.take(paths.length * steps)) return null
    for (let i = 0; i < paths.length; i++) if (isUnderOne(prefixes, paths[i]!) !== mustAll) return !mustAll
    return mustAll
  }
}

function isUnderOne(prefixes: readonly string[], path: string): boolean {
  for (const prefix of prefixes) if (leads(prefix, path)) return true
  return false
}

function holds(text: string, evaluateAll: typeof holdsForAny, geo: Geo | null): Condition {
  const expression = compiled(text)
  const evaluate: Condition = ({ request }) => evaluateAll(expression, request.facts, request)
  if (!expression.needsGeo) return evaluate
  needGeo(geo)
  // Otherwise an expression would mistake an address in a broken database for an unknown one.
  return input => (input.country === null || input.network === null ? null : evaluate(input))
}

function compiled(text: string): Expression<boolean> {
  const expression = compileExpression(text, 'request', 'bool')
  if ('message' in expression) throw new TypeError(expression.message)
  return expression
}

function needGeo(geo: Geo | null): void {
  if (geo === null) throw new TypeError('geo.databases is not configured')
}

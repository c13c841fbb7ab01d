// An API token in the form of the management API, and its permissions in words.

import type { SpendLimits } from '../budgets/rule.ts'
import { permissionGroups } from '../../permissions/permission-groups.ts'

export interface Token {
  readonly id: string
  readonly name: string
  readonly status: 'active' | 'disabled' | 'expired'
  readonly policies: readonly Policy[]
  /** The person whose own token it is; absent for the others. */
  readonly person?: { readonly id: string; readonly email: string }
  readonly condition?: {
    readonly request_ip: { readonly in?: readonly string[]; readonly not_in?: readonly string[] }
  }
  readonly gateways?: readonly string[]
  readonly models?: readonly string[]
  readonly spend_limits?: SpendLimits
  readonly expires_on?: string
  readonly not_before?: string
  readonly issued_on: string
  readonly modified_on: string
  /** To the hour; absent if no use is known. */
  readonly last_used_on?: string
}

interface Policy {
  readonly effect: 'allow' | 'deny'
  readonly permission_groups: readonly { readonly id: string; readonly name: string }[]
}

export interface PermissionGroup {
  readonly id: string
  readonly name: string
  readonly category: string
  readonly description: string
  readonly is_selectable: boolean
}

/**
 * Describes policies, as `AI Gateway Run and API Tokens Read, but never Members Read`; the first
 * `maxWords` of them.
 */
export function policiesInWords(policies: readonly Policy[], maxWords = Number.POSITIVE_INFINITY): string {
  const allowed = permissionsOf(policies, 'allow')
  const denied = permissionsOf(policies, 'deny')
  if (allowed.length === 0) return 'Nothing'
  const more = allowed.length - maxWords
  const words = more > 0 ? [...allowed.slice(0, maxWords), `${more} more`] : allowed
  return denied.length === 0
    ? joined(words, 'and')
    : `${joined(words, 'and')}, but never ${joined(denied, 'or')}`
}

/** Returns from where a token may be used, in words. */
export function addressesInWords({ condition }: Pick<Token, 'condition'>): string {
  const { in: allowed = [], not_in: denied = [] } = condition?.request_ip ?? {}
  const from = allowed.length === 0 ? 'Anywhere' : joined(allowed, 'and')
  return denied.length === 0 ? from : `${from}, except ${joined(denied, 'and')}`
}

/** Returns the gateways and models that a token is limited to, in words; null for all. */
export function callsInWords({ gateways, models }: Pick<Token, 'gateways' | 'models'>): string | null {
  const which = models && `Models ${joined(models, 'and')}`
  const where = gateways && `gateways ${joined(gateways, 'and')}`
  if (which === undefined) return where === undefined ? null : `Models of all providers, on the ${where}`
  return where === undefined ? which : `${which}, on the ${where}`
}

/** Lists permissions in the usual order; a read permission is part of its write counterpart. */
function permissionsOf(policies: readonly Policy[], effect: Policy['effect']): readonly string[] {
  const groups = policies
    .filter(policy => policy.effect === effect)
    .flatMap(policy => policy.permission_groups)
  const given = new Set(groups.map(({ name }) => name))
  const isPart = (name: string) =>
    effect === 'allow' &&
    [' Write', ' Edit'].some(ending => given.has(name.replace(/ Read$/, ending)) && / Read$/.test(name))
  return permissionGroups.map(({ name }) => name).filter(name => given.has(name) && !isPart(name))
}

function joined(words: readonly string[], word: 'and' | 'or'): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} ${word} ${words.at(-1)}`
}

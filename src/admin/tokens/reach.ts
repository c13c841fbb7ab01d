// Checks whether a token would exceed the caller's own: callers can neither create nor change such a token.

import type { Fault } from '../../errors/catalogue/refusal.ts'
import { faultAt } from '../../errors/catalogue/api-faults.ts'
import { AddressSet, parseNetwork } from '../../net/address/address.ts'
import { Glob } from '../../base/text/glob.ts'
import type { Policy, Token, TokenLimits } from '../../store/records/records.ts'
import { permissionGroups } from '../../permissions/permission-groups.ts'
import { permits } from '../../permissions/permit.ts'
import { isoTime } from '../records/record-handlers.ts'

type Policies = readonly Omit<Policy, 'id'>[]
type Limits = Pick<Token, 'expiresOn' | 'addressesIn' | 'addressesNotIn'> & TokenLimits

export function reachBeyond(token: Limits & { readonly policies: Policies }, caller: Token): Fault[] {
  return [
    ...powersBeyond(token.policies, caller),
    ...lifeBeyond(token, caller),
    ...addressesBeyond(token, caller),
    ...patternsBeyond('gateways', token, caller),
    ...patternsBeyond('models', token, caller),
    ...spendingBeyond(token.policies, caller),
  ]
}

/** By the names of the permissions. */
export function powersBeyond(policies: Policies, caller: Token): Fault[] {
  return policies.flatMap((policy, i) =>
    policy.permissionGroups.flatMap((group, j) => {
      const alone = { ...caller, policies: [{ ...policy, id: '', permissionGroups: [group] }] }
      const isBeyond = ({ name }: (typeof permissionGroups)[number]) =>
        policy.accounts.some(account => permits(alone, name, account) && !permits(caller, name, account))
      return permissionGroups
        .filter(isBeyond)
        .map(({ name }) =>
          forbidden(
            `your token does not have ${name}, so it cannot grant it or change a token that has it`,
            `/policies/${i}/permission_groups/${j}`,
          ),
        )
    }),
  )
}

/** A not-before needs no rule: a token that can make requests is past it. */
function lifeBeyond({ expiresOn }: Limits, { expiresOn: end }: Token): Fault[] {
  if (end === null || (expiresOn !== null && expiresOn <= end)) return []
  const rule = `expires_on must be set, and not be later than that of your token, ${isoTime(end)}`
  return [forbidden(rule, '/expires_on')]
}

function addressesBeyond(
  { addressesIn, addressesNotIn }: Limits,
  { addressesIn: allowed, addressesNotIn: denied }: Token,
): Fault[] {
  const mistakes: Fault[] = []
  if (allowed.length > 0 && (addressesIn.length === 0 || !areWithin(addressesIn, allowed))) {
    const rule = `condition.request_ip.in must be set, with every entry within one of your token's: ${allowed.join(', ')}`
    mistakes.push(forbidden(rule, '/condition/request_ip/in'))
  }
  if (!areWithin(denied, addressesNotIn)) {
    const rule = `condition.request_ip.not_in must cover every entry of your token's: ${denied.join(', ')}`
    mistakes.push(forbidden(rule, '/condition/request_ip/not_in'))
  }
  return mistakes
}

/** A pattern is within another that matches its text: that one's star covers each of its own. */
function patternsBeyond(name: keyof TokenLimits, token: Limits, caller: Limits): Fault[] {
  const allowed = caller[name]?.map(pattern => new Glob(pattern, { isExact: true }))
  if (allowed === undefined) return []
  const isWithinOne = (text: string) => allowed.some(pattern => pattern.matches(text))
  if (token[name]?.every(isWithinOne)) return []
  const rule = `${name} must be set, with every entry within one of your token's: ${caller[name]!.join(', ')}`
  return [forbidden(rule, `/${name}`)]
}

/** A token has a budget of its own, so a limited one would make itself further ones. */
export function spendingBeyond(policies: Policies, caller: Token): Fault[] {
  if (!hasBudgets(caller)) return []
  const token = { ...caller, policies: policies.map(policy => ({ id: '', ...policy })) }
  if (!permits(token, 'AI Gateway Run', caller.account)) return []
  const rule = 'your token has spend_limits, so it cannot create or change a token that runs models'
  return [forbidden(rule, '/spend_limits')]
}

/** A gateway without authentication reads no token, so what limits one would not hold there. */
export function openingBeyond(caller: Token): Fault[] {
  const names = ['gateways', 'models'] as const
  const limit = hasBudgets(caller) ? 'spend_limits' : names.find(name => caller[name] !== undefined)
  if (limit === undefined) return []
  const rule = `your token has ${limit}, which calls without a token escape, so it cannot turn authentication off`
  return [forbidden(rule, '/authentication')]
}

function hasBudgets({ spendLimits }: Token): boolean {
  return spendLimits?.isEnabled === true && spendLimits.rules.some(({ isEnabled }) => isEnabled)
}

function areWithin(networks: readonly string[], others: readonly string[]): boolean {
  return networks.every(network => others.some(other => isWithin(network, other)))
}

function isWithin(network: string, other: string): boolean {
  const [inner, outer] = [parseNetwork(network)!, parseNetwork(other)!]
  if (inner.family !== outer.family || inner.prefix < outer.prefix) return false
  return new AddressSet([other]).has(inner.address)
}

function forbidden(rule: string, pointer: string): Fault {
  return faultAt(pointer, 'beyond_token', rule)
}

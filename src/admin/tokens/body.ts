// Validates the body of an API token, for creation and for updates.

import { parseNetwork } from '../../net/address/address.ts'
import type { Fault } from '../../errors/catalogue/refusal.ts'
import type { Policy, Token, TokenLimits } from '../../store/records/records.ts'
import type { TokenSettings } from '../../tokens/new-token.ts'
import { permissionGroups } from '../../permissions/permission-groups.ts'
import { Field } from '../http/field.ts'
import { readSpendLimits } from '../spend-limits/body.ts'

export interface TokenBody
  extends Required<Omit<TokenSettings, keyof TokenLimits | 'spendLimits'>>,
    TokenLimits,
    Pick<TokenSettings, 'spendLimits'> {
  /** Null if the body leaves it to the record. */
  readonly status: Token['status'] | null
}

export const resourcePrefix = 'svc.api.account.'

const maxNameLength = 120
const maxPolicies = 50
const maxAddresses = 200
export const maxPatterns = 50

const required = ['name', 'policies'] as const
const optional = ['condition', 'expires_on', 'gateways', 'models', 'not_before', 'spend_limits'] as const
/** Members of responses that requests cannot set: a record that was fetched may be sent back with them. */
const responseMembers = ['id', 'issued_on', 'modified_on', 'last_used_on', 'person'] as const

export function readNewToken(body: unknown, account: string, now: number): TokenBody | readonly Fault[] {
  const faults: Fault[] = []
  const members = new Field(body, faults).members(required, optional)
  const read = readMembers(members, account)
  if (read.expiresOn !== null && read.expiresOn <= now) members.expires_on.refuse('must be in the future')
  return faults.length > 0 ? faults : read
}

/** Reads the body that replaces all settings of a token; only `status` may be left to the record. */
export function readToken(body: unknown, account: string, id: string): TokenBody | readonly Fault[] {
  const faults: Fault[] = []
  const { status, ...members } = new Field(body, faults).members(required, [
    ...optional,
    ...responseMembers,
    'status',
  ])
  members.id.mustBe(id)
  const read = { ...readMembers(members, account), status: status.oneOf(['active', 'disabled']) }
  return faults.length > 0 ? faults : read
}

function readMembers(
  members: Record<(typeof required | typeof optional)[number], Field>,
  account: string,
): TokenBody {
  const notBefore = members.not_before.time()
  const expiresOn = members.expires_on.time()
  if (notBefore !== null && expiresOn !== null && expiresOn <= notBefore)
    members.expires_on.refuse('must be later than not_before')
  const spendLimits = readSpendLimits(members.spend_limits, 'token')
  return {
    name: members.name.text(maxNameLength) ?? '',
    policies: members.policies.items(1, maxPolicies).map(policy => readPolicy(policy, account)),
    notBefore,
    expiresOn,
    ...readCondition(members.condition),
    ...readLimits(members),
    ...(spendLimits && { spendLimits }),
    status: null,
  }
}

function readPolicy(policy: Field, account: string): Omit<Policy, 'id'> {
  const { effect, permission_groups, resources } = policy.members(
    ['effect', 'permission_groups', 'resources'],
    ['id'],
  )
  readResources(resources, account)
  return {
    effect: effect.oneOf(['allow', 'deny']) ?? 'deny',
    permissionGroups: permission_groups.items(1, permissionGroups.length).flatMap(readGroup),
    accounts: [account],
  }
}

function readGroup(group: Field): string[] {
  const { id, name } = group.members([], ['id', 'name'])
  const match = permissionGroups.find(
    one => one.id === id.value || (id.value === undefined && one.name === name.value),
  )
  if (match && (name.value === undefined || name.value === match.name)) return [match.id]
  group.refuse('must have the id or name of a permission group: tokens/permission_groups lists them')
  return []
}

function readResources(resources: Field, account: string): void {
  const object = resources.object()
  if (!object) return
  const [[name, value] = [], ...more] = Object.entries(object)
  if (name !== resourcePrefix + account || value !== '*' || more.length > 0)
    resources.refuse(
      `must be {"${resourcePrefix}${account}": "*"}: a token only works in the account that it is created in`,
    )
}

function readLimits({ gateways, models }: Readonly<Record<keyof TokenLimits, Field>>): TokenLimits {
  return {
    ...(hasValue(gateways) && { gateways: readPatterns(gateways, gatewayPattern, 'default or team-*') }),
    ...(hasValue(models) && { models: readPatterns(models, modelPattern, 'openai/gpt-4o* or fast') }),
  }
}

function hasValue({ value }: Field): boolean {
  return value !== undefined && value !== null
}

function readPatterns(patterns: Field, form: RegExp, examples: string): readonly string[] {
  return patterns.items(1, maxPatterns).flatMap(pattern => {
    const { value } = pattern
    if (typeof value === 'string' && form.test(value)) return [value]
    pattern.refuse(`must be a name, in which * stands for any text, such as ${examples}`)
    return []
  })
}

export const gatewayPattern = /^[a-z0-9_*-]{1,64}$/
/** As long as names of models may be. */
export const modelPattern = /^[!-~]{1,256}$/

function readCondition(condition: Field): Pick<Token, 'addressesIn' | 'addressesNotIn'> {
  const { request_ip } = condition.members([], ['request_ip'])
  const { in: allowed, not_in: denied } = request_ip.members([], ['in', 'not_in'])
  return { addressesIn: readNetworks(allowed, 1), addressesNotIn: readNetworks(denied, 0) }
}

function readNetworks(networks: Field, minCount: number): string[] {
  return networks.items(minCount, maxAddresses).flatMap(network => {
    const { value } = network
    if (typeof value === 'string' && parseNetwork(value)) return [value]
    network.refuse('must be an IP address or a network, such as 192.0.2.0/24 or 2001:db8::/32')
    return []
  })
}

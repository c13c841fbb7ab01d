// Reads the bodies of requests about the policies of gateways.

import { flawsOfPolicy } from '../../budgets/policies/compile.ts'
import type { Fault } from '../../errors/catalogue/refusal.ts'
import type { Metadata } from '../../store/records/records.ts'
import type { Policy, PolicyAction, PolicyPeriod, PolicyResource } from '../../store/records/policy.ts'
import { readMetadata } from '../../ai-logs/metadata.ts'
import { isId } from '../../base/ids/id.ts'
import { Field } from '../http/field.ts'
import { isTimeZone, maxOf, readDollars, zoneFlaw } from '../spend-limits/body.ts'

export const maxNameLength = 100
export const maxActorLength = 320
export const maxConditionLength = 4096
export const maxPatterns = 50
export const maxPatternLength = 256
export const periods = ['hourly', 'daily', 'weekly', 'monthly'] as const satisfies readonly PolicyPeriod[]
const actionTypes = ['limit', 'no-limit', 'block'] as const satisfies readonly PolicyAction['type'][]
export const technique = 'named-interval'

type WithoutId = Omit<Policy, 'id'>

/** `id` is that of the path; null for a new policy. */
export function readPolicy(body: unknown, id: string | null): WithoutId | readonly Fault[] {
  const faults: Fault[] = []
  const optional = id === null ? (['condition'] as const) : (['condition', 'id'] as const)
  const members = new Field(body, faults).members(['name', 'actor', 'resource', 'action'], optional)
  if (id !== null) (members as typeof members & { readonly id: Field }).id.mustBe(id)
  const condition = orAbsent(members.condition)?.ruled(() => null) ?? undefined
  const read: WithoutId = {
    name: members.name.text(maxNameLength) ?? '',
    actor: members.actor.ruled(() => null) ?? '*',
    resource: readResource(members.resource),
    ...(condition !== undefined && { condition }),
    action: readAction(members.action),
  }
  for (const { member, rule } of flawsOfPolicy(read)) members[member].refuse(rule)
  return faults.length > 0 ? faults : read
}

function readResource(field: Field): PolicyResource {
  if (field.value === '*' || field.value === undefined) return '*'
  if (typeof field.value !== 'object' || field.value === null || Array.isArray(field.value)) {
    field.refuse(resourceFlaw)
    return '*'
  }
  const { model, provider } = field.members([], ['model', 'provider'])
  if ((model.value === undefined) === (provider.value === undefined)) {
    field.refuse(resourceFlaw)
    return '*'
  }
  return model.value === undefined ? { provider: readPatterns(provider) } : { model: readPatterns(model) }
}

const resourceFlaw = 'must be *, or an object with either model or provider'

function readPatterns(field: Field): string | readonly string[] {
  if (!Array.isArray(field.value)) return field.text(maxPatternLength) ?? ''
  return field.items(1, maxPatterns).map(item => item.text(maxPatternLength) ?? '')
}

function readAction(field: Field): PolicyAction {
  const names = ['amount', 'period', 'technique', 'time_zone', 'except'] as const
  const members = field.members(['type'], names)
  const type = members.type.oneOf(actionTypes) ?? 'block'
  const own: readonly string[] = type === 'limit' ? names.slice(0, -1) : type === 'block' ? ['except'] : []
  for (const name of names)
    if (!own.includes(name) && orAbsent(members[name]) !== null && members[name].value !== undefined)
      members[name].refuse(`must be left out, since type is ${type}`)
  if (type === 'no-limit') return { type }
  if (type === 'block') return orAbsent(members.except)?.flag() ? { type, except: true } : { type }
  return readLimit(members)
}

type LimitMembers = Readonly<Record<'amount' | 'period' | 'technique' | 'time_zone', Field>>

function readLimit(members: LimitMembers): PolicyAction {
  const { amount, period, time_zone } = members
  for (const field of [amount, period])
    if (orAbsent(field)?.value === undefined) field.refuse('is required', 'missing')
  const span = period.oneOf(periods) ?? 'daily'
  orAbsent(members.technique)?.oneOf([technique])
  const zone = orAbsent(time_zone)?.ruled(text => (isTimeZone(text) ? null : zoneFlaw)) ?? undefined
  if (zone !== undefined && span === 'hourly') time_zone.refuse('must be left out, since period is hourly')
  return {
    type: 'limit',
    amount: readDollars(amount, maxOf.cost) ?? 1,
    period: span,
    technique,
    ...(span !== 'hourly' && { timeZone: zone ?? 'UTC' }),
  }
}

export function readRollback(body: unknown): { readonly to: string } | readonly Fault[] {
  const faults: Fault[] = []
  const { to } = new Field(body, faults).members(['to'])
  const commit = to.ruled(text => (isId(text) ? null : 'must be the id of a commit')) ?? ''
  return faults.length > 0 ? faults : { to: commit }
}

/** A call that is only thought of. */
export interface Simulation {
  readonly identity: Readonly<Record<'user' | 'email' | 'app' | 'token', string | null>>
  readonly provider: string
  readonly model: string | null
  readonly metadata: Metadata | null
  readonly state: PolicyState
}

export const policyStates = ['draft', 'committed'] as const
export type PolicyState = (typeof policyStates)[number]

const identities = ['user', 'email', 'app', 'token'] as const

export function readSimulation(body: unknown): Simulation | readonly Fault[] {
  const faults: Fault[] = []
  const members = new Field(body, faults).members([], ['identity', 'provider', 'model', 'metadata', 'state'])
  const identity = orAbsent(members.identity)?.members([], identities) ?? null
  const who = Object.fromEntries(
    identities.map(name => [
      name,
      identity === null ? null : (orAbsent(identity[name])?.text(maxPatternLength) ?? null),
    ]),
  ) as Simulation['identity']
  const named = orAbsent(members.model)?.text(2 * maxPatternLength) ?? null
  const given = orAbsent(members.provider)?.text(maxPatternLength) ?? null
  const end = named?.indexOf('/') ?? -1
  if (given === null && end < 1)
    members.provider.refuse('must be given, unless model begins with it, as in openai/gpt-4o')
  const state = orAbsent(members.state)?.oneOf(policyStates) ?? 'draft'
  const read: Simulation = {
    identity: who,
    provider: given ?? named?.slice(0, end) ?? '',
    model: given === null ? (named?.slice(end + 1) ?? null) : named,
    metadata: readMetadataOf(members.metadata),
    state,
  }
  return faults.length > 0 ? faults : read
}

function readMetadataOf(field: Field): Metadata | null {
  const object = orAbsent(field)?.object() ?? null
  if (object === null) return null
  const reading = readMetadata(object)
  return 'flaw' in reading ? field.refuse(reading.flaw) : reading.value
}

/** Null stands for an absent member. */
function orAbsent(field: Field): Field | null {
  return field.value === null ? null : field
}

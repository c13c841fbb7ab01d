// The audit entry of a change, which is stored together with it.

import { randomBytes } from 'node:crypto'
import { type AddressProof, isEmailVerified, type Member, type User } from './people.ts'
import type { ActingApp, AuditAction, AuditEntry, ChangedValues, Token } from './records.ts'

export type Resource = Pick<AuditEntry, 'resourceKind' | 'resource' | 'resourceName'>

export function memberResource({ id }: Pick<Member, 'id'>, { email }: Pick<User, 'email'>): Resource {
  return { resourceKind: 'member', resource: id, resourceName: email }
}

export function userResource({ id, email }: Pick<User, 'id' | 'email'>): Resource {
  return { resourceKind: 'user', resource: id, resourceName: email }
}

export function tokenResource({ id, name }: Pick<Token, 'id' | 'name'>): Resource {
  return { resourceKind: 'token', resource: id, resourceName: name }
}

/** Who makes a change: a token, by its name, or somebody else; entries are counted by the id. */
export interface Caller {
  readonly id: string
  readonly name?: string
  readonly actor?: ActingApp
}

/** Who requests a change, when and from where; an API request is one. */
interface Origin {
  readonly account: string
  readonly caller: Caller
  readonly now: number
  readonly address: string
  readonly ray: string
}

/**
 * Makes the audit entry of a change; `changed` are names of members as in the API, `values` some of their
 * values.
 */
export function auditOf(
  { account, caller, now, address, ray }: Origin,
  action: AuditAction,
  { resourceKind, resource, resourceName }: Resource,
  changed: readonly string[] = [],
  values: ChangedValues | null = null,
): AuditEntry {
  return {
    id: nextId(now),
    account,
    at: now,
    actor: caller.id,
    address,
    ray,
    action,
    resourceKind,
    resource,
    ...(resourceName && { resourceName }),
    changed,
    ...(values && { values }),
    ...(caller.actor ? { app: appOf(caller.actor) } : caller.name && { actorName: caller.name }),
  }
}

/** The operator, who needs no token for a command that writes to the store directly. */
export const commandLine = { id: 'command line' } as const

/** The gateway itself, which drops entries beyond the limits. */
export const keeper = { id: 'gatehouse' } as const

export type KnownUser = Pick<User, 'id' | 'email'> & AddressProof

/** Used in place of an app when people act themselves; ids of apps never look like this. */
export const pages = { client: 'dashboard', clientName: 'Dashboard' } as const

/** Used in place of an app when people call models with a token of their own. */
export const personal = { client: 'personal_token' } as const

export function inPerson(user: KnownUser): Caller & { readonly actor: ActingApp } {
  const { id, email } = user
  return { id, actor: { user: id, email, isEmailVerified: isEmailVerified(user), ...pages } }
}

/** The caller for signing in and out, which is counted apart from the person's changes. */
export function signingIn(user: KnownUser): Caller {
  return { ...inPerson(user), id: `sign-in ${user.id}` }
}

const strangers = 'stranger '

/** The caller for somebody who has not proven to be a user. */
export function strangerAt({ id }: Pick<User, 'id'>): Caller {
  return { id: strangers + id }
}

export function isStranger(actor: string): boolean {
  return actor.startsWith(strangers)
}

export function appOf({ user, email, isEmailVerified, client, clientName }: ActingApp): ActingApp {
  return { user, email, ...(isEmailVerified && { isEmailVerified }), client, clientName }
}

/** Makes an id that sorts by time and then by order of creation in this process. */
function nextId(now: number): string {
  turn = (turn + 1) % 2 ** 16
  return hex(now, 12) + hex(turn, 4) + randomBytes(8).toString('hex')
}

let turn = 0

function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, '0')
}

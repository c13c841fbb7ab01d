// The entry of a change in the audit log, which is kept together with it.

import { randomBytes } from 'node:crypto'
import { type AddressProof, isEmailVerified, type Member, type User } from './people.ts'
import type { ActingApp, AuditAction, AuditEntry, ChangedValues, Token } from './records.ts'

/** What a change was made to. */
export type Resource = Pick<AuditEntry, 'resourceKind' | 'resource' | 'resourceName'>

/** Names a member as a resource of audit entries. */
export function memberResource({ id }: Pick<Member, 'id'>, { email }: Pick<User, 'email'>): Resource {
  return { resourceKind: 'member', resource: id, resourceName: email }
}

/** Names a user as a resource of audit entries. */
export function userResource({ id, email }: Pick<User, 'id' | 'email'>): Resource {
  return { resourceKind: 'user', resource: id, resourceName: email }
}

/** Names a token as a resource of audit entries. */
export function tokenResource({ id, name }: Pick<Token, 'id' | 'name'>): Resource {
  return { resourceKind: 'token', resource: id, resourceName: name }
}

/** The token that asks, by its name, or who else acts; the id is under which entries are counted. */
export interface Caller {
  readonly id: string
  readonly name?: string
  readonly actor?: ActingApp
}

/** Who asks for a change, when and from where; a call of the API is one. */
interface Origin {
  readonly account: string
  readonly caller: Caller
  readonly now: number
  readonly address: string
  readonly ray: string
}

/** Makes the entry of a change that somebody asks for; `changed` are names of members as the API has them, of which `values` tells some. */
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

/** Stands for the operator, who needs no token for a command that writes to the store itself. */
export const commandLine = { id: 'command line' } as const

/** Stands for the gateway itself, which drops entries beyond their bounds. */
export const keeper = { id: 'gatehouse' } as const

/** What entries say of a user. */
export type KnownUser = Pick<User, 'id' | 'email'> & AddressProof

/** What stands in the place of an app where a person acts themselves; ids of apps are never such words. */
export const pages = { client: 'dashboard', clientName: 'Dashboard' } as const

/** What stands in the place of an app where a person calls models with a token of their own. */
export const personal = { client: 'personal_token' } as const

/** Stands for a person who acts themselves. */
export function inPerson(user: KnownUser): Caller & { readonly actor: ActingApp } {
  const { id, email } = user
  return { id, actor: { user: id, email, isEmailVerified: isEmailVerified(user), ...pages } }
}

/** Stands for a person who signs in or out: such entries are counted apart from what they change. */
export function signingIn(user: KnownUser): Caller {
  return { ...inPerson(user), id: `sign-in ${user.id}` }
}

const strangers = 'stranger '

/** Stands for somebody who has not proven to be a user. */
export function strangerAt({ id }: Pick<User, 'id'>): Caller {
  return { id: strangers + id }
}

export function isStranger(actor: string): boolean {
  return actor.startsWith(strangers)
}

/** Returns what entries say of an app that acts. */
export function appOf({ user, email, isEmailVerified, client, clientName }: ActingApp): ActingApp {
  return { user, email, ...(isEmailVerified && { isEmailVerified }), client, clientName }
}

/** Makes an id that sorts by time, and among those of this process and ms by turn, so that lists keep the order of what was done. */
function nextId(now: number): string {
  turn = (turn + 1) % 2 ** 16
  return hex(now, 12) + hex(turn, 4) + randomBytes(8).toString('hex')
}

let turn = 0

function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, '0')
}

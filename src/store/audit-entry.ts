// The entry of a change in the audit log, which is kept together with it.

import { randomBytes } from 'node:crypto'
import type { ActingApp, Actor, AuditAction, AuditEntry } from './records.ts'

/** What a change was made to. */
export type Resource = Pick<AuditEntry, 'resourceKind' | 'resource'>

/** Who asks for a change, when and from where; a call of the API is one. */
interface Origin {
  readonly account: string
  /** The id is that of the token or the user that asks. */
  readonly caller: { readonly id: string; readonly actor?: Actor }
  readonly now: number
  readonly address: string
  readonly ray: string
}

/** Makes the entry of a change that somebody asks for; `changed` are names of members as the API has them. */
export function auditOf(
  { account, caller, now, address, ray }: Origin,
  action: AuditAction,
  { resourceKind, resource }: Resource,
  changed: readonly string[] = [],
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
    changed,
    ...(caller.actor && { app: appOf(caller.actor) }),
  }
}

/** Stands for the operator, who needs no token for a command that writes to the store itself. */
export const commandLine = { id: 'command line' } as const

/** Stands for the gateway itself, which drops entries beyond their bounds. */
export const keeper = { id: 'gatehouse' } as const

/** Returns what entries say of an app that acts. */
export function appOf({ user, email, client, clientName }: Actor): ActingApp {
  return { user, email, client, clientName }
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

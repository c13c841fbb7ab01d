// What identifies a store, and how far its changes have come: by these, a process tells whether a store is the one that it has seen, with all of it.

import { randomBytes } from 'node:crypto'

/** What is found in a store about itself. */
export interface Mark {
  /** 32 hex digits, with a prefix where it was moved; null where it was never given one, or has lost it. */
  readonly identity: string | null
  /** How many changes of records were made, as far as they were counted. */
  readonly generation: number
  /** What identifies the last of them; empty where the backend has nothing for it. */
  readonly last: string
}

/** A mark as it was seen, and whether the store has since been found without some of its changes. */
export interface Seen extends Mark {
  readonly identity: string
  readonly isBehind: boolean
}

const moved = 'moved-'

/** Returns the identity of a store whose records go on in another: no machine takes it for the one that it has seen, and so nothing is confirmed in it any more. Each move has another one. */
export function movedIdentity(identity: string): string {
  return `${moved}${randomBytes(8).toString('hex')}-${originalIdentity(identity)}`
}

/** Whether the records of the store go on in another. */
export function isMoved({ identity }: Pick<Mark, 'identity'>): boolean {
  return identity?.startsWith(moved) === true
}

/** Returns the identity from before a store was moved; of any other, its own. */
export function originalIdentity(identity: string): string {
  return identity.startsWith(moved) ? identity.slice(identity.lastIndexOf('-') + 1) : identity
}

/** Returns a new identity for a store. */
export function newIdentity(): string {
  return randomBytes(16).toString('hex')
}

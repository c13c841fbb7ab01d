// Identifies a store and its latest change.

import { randomBytes } from 'node:crypto'

export interface Mark {
  /** 32 hex digits, with a prefix if the store was moved; null if it was never set, or is lost. */
  readonly identity: string | null
  readonly generation: number
  /** Identifies the latest change; empty if the backend does not support this. */
  readonly last: string
}

/** A mark as it was last seen, and whether the store has since been found without some of its changes. */
export interface Seen extends Mark {
  readonly identity: string
  readonly isBehind: boolean
}

const moved = 'moved-'

/**
 * Returns a new identity for a store that has moved: no machine recognises it, so nothing more is confirmed.
 */
export function movedIdentity(identity: string): string {
  return `${moved}${randomBytes(8).toString('hex')}-${originalIdentity(identity)}`
}

export function isMoved({ identity }: Pick<Mark, 'identity'>): boolean {
  return identity?.startsWith(moved) === true
}

/** Returns the identity from before a store was moved, or the identity itself if it was not. */
export function originalIdentity(identity: string): string {
  return identity.startsWith(moved) ? identity.slice(identity.lastIndexOf('-') + 1) : identity
}

/** Returns a new identity for a store. */
export function newIdentity(): string {
  return randomBytes(16).toString('hex')
}

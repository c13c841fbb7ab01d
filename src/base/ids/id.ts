// Ids of API objects: accounts, tokens, clients, rules.

import { randomBytes } from 'node:crypto'

/** 32 hex digits. */
export function newId(): string {
  return randomBytes(16).toString('hex')
}

export function isId(text: string): boolean {
  return id.test(text)
}

const id = /^[0-9a-f]{32}$/

// A user for tests; what a test says replaces members.

import { randomBytes } from 'node:crypto'
import { everybody, type User } from '../../src/store/records/people.ts'

const birth = Date.UTC(2026, 0, 1)

export function userWith(more: Partial<User> = {}): User {
  const id = randomBytes(16).toString('hex')
  return {
    account: everybody,
    id,
    email: `${id}@example.com`,
    firstName: null,
    lastName: null,
    password: null,
    identity: null,
    totp: null,
    passwordChangedAt: null,
    createdAt: birth,
    modifiedAt: birth,
    ...more,
  }
}

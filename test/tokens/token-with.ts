// Makes tokens for tests: minted, valid for ever, allowing nothing, but for what the test says.

import { randomBytes } from 'node:crypto'
import type { Token } from '../../src/store/records/records.ts'
import { mintToken } from '../../src/tokens/token.ts'

export const account = '0123456789abcdef0123456789abcdef'

export function tokenWith(members: Partial<Token> = {}): { value: string; token: Token } {
  const { value, digest } = mintToken()
  const id = randomBytes(16).toString('hex')
  const token: Token = {
    account,
    id,
    name: 'a token',
    digest,
    status: 'active',
    policies: [],
    notBefore: null,
    expiresOn: null,
    addressesIn: [],
    addressesNotIn: [],
    issuedOn: 0,
    modifiedOn: 0,
    ...members,
  }
  return { value, token }
}

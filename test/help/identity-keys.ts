// The keys that sign svc-identity, in a store of their own.

import type { TestContext } from 'node:test'
import type { Clock } from '../../src/base/clock.ts'
import { SecretKeys } from '../../src/base/secrets/secret-keys.ts'
import { openStore } from '../../src/store/open.ts'
import { SigningKeys } from '../../src/tokens/signing-keys.ts'

const log = { info: () => {}, warn: () => {} } as unknown as ConstructorParameters<
  typeof SigningKeys
>[0]['log']

export async function startIdentityKeys(t: TestContext, clock: Clock): Promise<SigningKeys> {
  const store = await openStore('sqlite::memory:', { commandTimeout: 5_000 })
  t.after(() => store.close())
  const secrets = new SecretKeys(Buffer.alloc(32, 1))
  return new SigningKeys({ owner: 'identity', store, secrets: () => secrets, log, clock })
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Passkey } from '../../../src/store/records/people.ts'
import { passkeysAt, withoutLeftPasskeys } from '../../../src/people/passkeys/passkeys.ts'
import { userWith } from '../user-with.ts'

test('passkeys that a removed password has left do not come back with a new one', () => {
  const key = { id: 'a', host: 'id.example' } as Passkey
  const passkeys = { keys: [key], challengedAt: 1 }
  const left = userWith({ password: null, passkeys })
  const again = { ...withoutLeftPasskeys(left), password: 'digest' }
  assert.deepEqual(passkeysAt(again, 'id.example'), [])
  const kept = userWith({ password: 'digest', passkeys })
  assert.deepEqual(passkeysAt(withoutLeftPasskeys(kept), 'id.example'), [key])
})

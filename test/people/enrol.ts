// A user with a confirmed second factor, for tests.

import { beginEnrolment, confirmEnrolment } from '../../src/people/second-factor/second-factor.ts'
import type { User } from '../../src/store/records/people.ts'
import { codeAt } from './authenticator.ts'
import type { Village } from './on-stores.ts'

/** Keeps a user with the password and a second factor; `code` is what the app shows, another one each time as time goes on. */
export async function settleWithApp(village: Village, more: Partial<User> = {}) {
  const { keys, clock, store } = village
  const settled = await village.settle(more)
  const { user: begun, enrolment } = beginEnrolment(settled, keys)!
  const { user, recoveryCodes } = confirmEnrolment(
    begun,
    codeAt(enrolment.uri, clock.now()),
    keys,
    clock.now(),
  )!
  const kept = (await store.users.get(user.account, user.id))!
  await store.users.replace(user, kept.version)
  const code = () => {
    clock.advance(30_000)
    return codeAt(enrolment.uri, clock.now())
  }
  return { user, recoveryCodes, code }
}

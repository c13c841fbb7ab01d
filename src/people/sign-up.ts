// Self-registration of users, if `people.sign_up` is `open`. They start without memberships.

import { emailFault, normalEmail } from './records/email.ts'
import type { NewPassword } from './links/invitations.ts'
import { passwordFlaw, type PasswordFlaw } from './passwords/password-rules.ts'
import { busy, type TryLater, type SignInParts } from './sign-in/sign-in.ts'
import { newUser, withNames } from './records/users.ts'
import type { ClientInfo } from './records/client-info.ts'

type SignUpResult =
  /** Its owner can sign in now, if the address was free: which it was would reveal users. */
  | { readonly outcome: 'done' }
  | TryLater
  | { readonly outcome: 'flawed'; readonly flaw: PasswordFlaw }
  | { readonly outcome: 'bad_email'; readonly fault: string }
  | { readonly outcome: 'closed' }

export class SignUp {
  readonly #parts: SignInParts
  readonly #isOpen: boolean

  constructor(parts: SignInParts, isOpen: boolean) {
    this.#parts = parts
    this.#isOpen = isOpen
  }

  /** Makes a user, unless there is one with this address; takes the same time either way. */
  async signUp(
    { email: written, password, ...names }: NewPassword & { readonly email: string },
    { address }: ClientInfo,
  ): Promise<SignUpResult> {
    const { store, passwords, throttle } = this.#parts
    if (!this.#isOpen) return { outcome: 'closed' }
    const email = normalEmail(written.trim())
    const fault = emailFault(email)
    if (fault !== null) return { outcome: 'bad_email', fault }
    const flaw = passwordFlaw(password, [email, names.firstName ?? '', names.lastName ?? ''])
    if (flaw !== null) return { outcome: 'flawed', flaw }
    const retryAfter = await throttle.signUp(address)
    if (retryAfter !== null) return { outcome: 'throttled', retryAfter }
    const digest = await passwords.hash(password)
    if (digest === null) return busy
    const now = this.#parts.clock.now()
    await store.users.insert({
      ...withNames(newUser(email, now), names),
      password: digest,
      passwordChangedAt: now,
    })
    return { outcome: 'done' }
  }
}

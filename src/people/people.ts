// Sign-in, sessions and accounts of people, for one process.

import { type Clock, systemClock } from '../base/clock.ts'
import type { SecretKeys } from '../base/secrets/secret-keys.ts'
import type { PeopleConfig } from '../config/model/config.ts'
import type { Logger } from '../log/log.ts'
import { PeopleMetrics } from '../metrics/counters/people-metrics.ts'
import { everybody } from '../store/records/people.ts'
import type { Store } from '../store/contract/store.ts'
import { AttemptLog } from './sign-in/attempt-log.ts'
import { Invitations } from './links/invitations.ts'
import { GroupRoles } from './openid/group-roles.ts'
import { OpenIdProvider } from './openid/openid-provider.ts'
import { OpenIdSignIn } from './openid/openid-sign-in.ts'
import { OwnPasskeys } from './sign-in/own-passkeys.ts'
import { PasskeySignIn } from './sign-in/passkey-sign-in.ts'
import { OwnAccount } from './sign-in/own-account.ts'
import { Passwords } from './passwords/passwords.ts'
import { Sessions } from './sessions/sessions.ts'
import { SetUp } from './links/set-up.ts'
import { SignIn } from './sign-in/sign-in.ts'
import { SignUp } from './sign-up.ts'
import { Throttle } from './sign-in/throttle.ts'

interface PeopleParts {
  readonly store: Store
  readonly keys: SecretKeys
  readonly config: PeopleConfig
  readonly log: Logger
  readonly passwords?: Passwords
  readonly metrics?: PeopleMetrics
  readonly clock?: Clock
}

export class People {
  readonly #store: Store
  readonly #attempts: AttemptLog
  #hasUsers = false
  readonly sessions: Sessions
  readonly signIn: SignIn
  readonly passkeys: PasskeySignIn
  readonly signUp: SignUp
  readonly setUp: SetUp
  readonly invitations: Invitations
  readonly ownAccount: OwnAccount
  readonly ownPasskeys: OwnPasskeys
  /** Null if no provider is configured. */
  readonly openId: OpenIdSignIn | null
  readonly config: PeopleConfig
  readonly metrics: PeopleMetrics

  constructor(parts: PeopleParts) {
    const {
      store,
      keys,
      config,
      log,
      passwords = new Passwords(),
      metrics = new PeopleMetrics(),
      clock = systemClock,
    } = parts
    const { signUp, openid } = config
    const sessions = new Sessions(store, clock)
    const throttle = new Throttle(store.counters)
    const attempts = new AttemptLog({ store, throttle, log, clock })
    const shared = { store, keys, passwords, sessions, throttle, attempts, clock }
    this.#store = store
    this.#attempts = attempts
    this.metrics = metrics
    this.config = config
    this.sessions = sessions
    this.signIn = new SignIn(shared)
    this.passkeys = new PasskeySignIn(shared, this.signIn)
    this.signUp = new SignUp(shared, signUp === 'open')
    this.setUp = new SetUp(shared)
    this.invitations = new Invitations(shared)
    this.ownAccount = new OwnAccount(shared)
    this.ownPasskeys = new OwnPasskeys(shared)
    const { signIn, invitations } = this
    const groupRoles = new GroupRoles({ store, mapping: openid?.groups?.roles ?? [], log })
    const own = { signIn, invitations, groupRoles, isOpen: signUp !== 'invited', log }
    this.openId = openid && new OpenIdSignIn(shared, { provider: new OpenIdProvider(openid), ...own })
  }

  close(): Promise<void> {
    return this.#attempts.close()
  }

  async hasUsers(): Promise<boolean> {
    this.#hasUsers ||= (await this.#store.users.list(everybody, { offset: 0, limit: 1 })).total > 0
    return this.#hasUsers
  }
}

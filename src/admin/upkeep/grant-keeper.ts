// Removes grants whose client, user or membership is gone: they give no access by then.

import { type Clock, systemClock } from '../../base/clock.ts'
import { mapInTurns } from '../../base/turns/map-in-turns.ts'
import { nextTurn } from '../../base/turns/turns.ts'
import { nextRay } from '../../base/ids/ray.ts'
import type { Logger } from '../../log/log.ts'
import { keeper } from '../../store/records/audit-entry.ts'
import type { OAuthClient } from '../../store/records/oauth-client.ts'
import type { OAuthGrant } from '../../store/records/oauth-grant.ts'
import { everybody } from '../../store/records/people.ts'
import { type Store, StoreUnreachable } from '../../store/contract/store.ts'
import { grantsOfClient } from '../../oauth/grants/iterate-grants.ts'
import { type Ender, endGrant, type EndingTools, trimGrant } from './grant-ending.ts'

interface GrantKeeperOptions {
  readonly store: Store
  readonly log: Logger
  readonly clock?: Clock
}

/** Ms between two checks, and until the next one when the store was unreachable. */
const period = 3_600_000
const pause = 60_000

export class GrantKeeper {
  readonly #store: Store
  readonly #log: Logger
  readonly #clock: Clock
  #timer: NodeJS.Timeout | undefined
  #work: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor({ store, log, clock = systemClock }: GrantKeeperOptions) {
    this.#store = store
    this.#log = log
    this.#clock = clock
  }

  start(): void {
    let wait = pause
    void this.#do(async () => {
      await this.sweep()
      wait = period
    }).then(() => {
      if (!this.#isClosed) this.#timer = setTimeout(() => this.start(), wait).unref()
    })
  }

  /** Resolves when the running task has reached a point where it can stop. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#work
  }

  /** Resolves when all tasks requested so far are done. */
  get idle(): Promise<void> {
    return this.#work
  }

  endClient(client: string, ender: Ender): void {
    this.#do(async () => {
      await this.#store.credentials.removeOf({ client })
      await this.#endGrants(client, ender)
      await this.#store.authorizationEvents.removeOf(client)
    })
  }

  endGrants(client: string, ender: Ender): void {
    this.#do(() => this.#endGrants(client, ender))
  }

  trimGrants(client: OAuthClient, ender: Ender): void {
    this.#do(() => this.#each(client.id, grant => trimGrant(grant, client, ender, this.#tools)))
  }

  /** Ends the orphaned grants of all accounts, and trims those whose client has fewer scopes. */
  async sweep(): Promise<void> {
    const now = this.#clock.now()
    for (const { id: account } of [...(await this.#store.accounts.list()), { id: everybody }]) {
      const ender = { account, caller: keeper, now, address: '', ray: nextRay() }
      for await (const grants of this.#store.oauthGrants.walk(account))
        for (const grant of grants) {
          await nextTurn()
          if (this.#isClosed) return
          await this.#settle(grant, ender)
        }
    }
  }

  async #settle(grant: OAuthGrant, ender: Ender): Promise<void> {
    const client = await this.#store.oauthClients.get(grant.clientAccount, grant.client)
    if (client && (await this.#hasUser(grant, client.record)))
      await trimGrant(grant, client.record, ender, this.#tools)
    else await endGrant(grant, ender, this.#tools)
  }

  async #hasUser({ account, user }: OAuthGrant, client: OAuthClient): Promise<boolean> {
    const { users, members } = this.#store
    if ((await users.get(everybody, user)) === null) return false
    if (account !== everybody && (await members.find(account, user)) === null) return false
    return client.visibility === 'public' || (await members.find(client.account, user)) !== null
  }

  #endGrants(client: string, ender: Ender): Promise<void> {
    return this.#each(client, grant => endGrant(grant, ender, this.#tools))
  }

  async #each(client: string, work: (grant: OAuthGrant) => Promise<unknown>): Promise<void> {
    for await (const grants of grantsOfClient(client, this.#store)) {
      if (this.#isClosed) return
      await mapInTurns(grants, work)
    }
  }

  get #tools(): EndingTools {
    return { store: this.#store, log: this.#log }
  }

  #do(work: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(work).catch(failure => {
      if (!(failure instanceof StoreUnreachable))
        this.#log.error({ err: failure }, 'clearing grants away failed')
    })
    return this.#work
  }
}

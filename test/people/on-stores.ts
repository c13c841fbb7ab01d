// Tests of people run on both stores, each test in a place of its own, with a clock that it can move.

import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { randomBytes } from 'node:crypto'
import pino from 'pino'
import { SecretKeys } from '../../src/base/secrets/secret-keys.ts'
import { AttemptLog } from '../../src/people/sign-in/attempt-log.ts'
import { Sessions } from '../../src/people/sessions/sessions.ts'
import type { SignInParts } from '../../src/people/sign-in/sign-in.ts'
import { Throttle } from '../../src/people/sign-in/throttle.ts'
import { openStore } from '../../src/store/open.ts'
import type { Account } from '../../src/store/records/records.ts'
import type { Store } from '../../src/store/contract/store.ts'
import { TokenTags } from '../../src/tokens/token-tags.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { type RedisServer, startRedis } from '../help/redis.ts'
import { ContractClock } from '../store/contract-clock.ts'
import { auditQuery } from '../store/contract-specimens.ts'
import { Settlement } from './settlement.ts'

export const visit = { address: '192.0.2.7', userAgent: 'Firefox', ray: '0123456789abcdef' }

/** All that a person needs, on one store. */
export class Village extends Settlement {
  readonly clock: ContractClock
  readonly keys = new SecretKeys(randomBytes(32))
  readonly tags: TokenTags
  readonly parts: SignInParts
  readonly #another: (clock: ContractClock) => Promise<Store>

  constructor(store: Store, another: (clock: ContractClock) => Promise<Store>, clock: ContractClock) {
    super(store)
    this.clock = clock
    this.#another = another
    this.tags = new TokenTags(store)
    this.parts = this.partsOn(store)
  }

  /** Returns the parts of another process on the same store. */
  async elsewhere(): Promise<SignInParts> {
    return this.partsOn(await this.#another(this.clock))
  }

  partsOn(store: Store): SignInParts {
    const { clock, keys, passwords } = this
    const sessions = new Sessions(store, clock)
    const throttle = new Throttle(store.counters)
    const attempts = new AttemptLog({ store, throttle, log: pino({ enabled: false }), clock })
    return { store, keys, passwords, sessions, throttle, attempts, clock }
  }

  /** Returns actor, action, resource kind, resource and changed members of the changes that the audit log of an account has. */
  async told({ id }: Account): Promise<readonly unknown[]> {
    const { items } = await this.store.audit.list(id, auditQuery({ descending: false }))
    return items
      .filter(({ actor }) => !isOfSignIn.test(actor))
      .map(({ actor, action, resourceKind, resource, changed }) => [
        actor,
        action,
        resourceKind,
        resource,
        changed,
      ])
  }

  /** Returns who acted, what, by what proof, why it failed and from where, of the sign-ins that the audit log of an account has. */
  async signIns({ id }: Account): Promise<readonly unknown[]> {
    await this.parts.attempts.close()
    const { items } = await this.store.audit.list(id, auditQuery({ descending: false, limit: 1_000 }))
    return items
      .filter(({ actor }) => isOfSignIn.test(actor))
      .map(({ app, action, proof, address }) => [
        app?.email ?? null,
        action,
        proof?.method ?? null,
        proof?.failure ?? null,
        address,
      ])
  }
}

const isOfSignIn = /^(?:sign-in|stranger) /

let server: RedisServer | null = null
let used = 0

type Place = (t: TestContext) => string

const places: Readonly<Record<string, Place>> = {
  SQLite: t => `sqlite:${join(quickFolder(t, 'people'), 'gatehouse.db')}`,
  Redis: () => `${server!.url}/${used++}`,
}

/** Declares a test once for each store. */
export function onStores(name: string, body: (village: Village, t: TestContext) => Promise<void>): void {
  prepareRedis()
  for (const [place, urlOf] of Object.entries(places))
    test(`${place}: ${name}`, async t => {
      const url = urlOf(t)
      const open = async (clock: ContractClock) => {
        const store = await openStore(url, { commandTimeout: 5_000, clock })
        t.after(() => store.close())
        return store
      }
      const clock = new ContractClock()
      await body(new Village(await open(clock), open, clock), t)
    })
}

let isPrepared = false

function prepareRedis(): void {
  if (isPrepared) return
  isPrepared = true
  const endings: (() => unknown)[] = []
  const suite = { after: (end: () => unknown) => void endings.push(end) } as TestContext
  before(async () => {
    server = await startRedis(suite, { aof: false, args: ['--databases', '100'] })
  })
  after(async () => {
    for (const end of endings) await end()
  })
}

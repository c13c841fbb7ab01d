// Revocation and the caches of other processes: what has been revoked is accepted no later than a second after that was
// acknowledged, by processes that can reach the store, and by others no longer than the grace. What a process has once refused
// it never accepts again, and what is valid it does not refuse.

import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { AiMetrics } from '../../src/metrics/counters/ai-metrics.ts'
import { digestOfValue } from '../../src/people/records/secret-value.ts'
import { KnownSiteSessions } from '../../src/people/sessions/known-site-sessions.ts'
import { type AnnouncedKey, AnnouncedKeyLoader, KeyAnnouncer } from '../../src/store/cache/announced-keys.ts'
import { Borrower, freshest, type Lent, type Loan } from '../../src/store/cache/cache-handover.ts'
import { type Store, StoreUnreachable } from '../../src/store/contract/store.ts'
import type { Credential, CredentialKind } from '../../src/store/records/credential.ts'
import { everybody, type User } from '../../src/store/records/people.ts'
import type { Token } from '../../src/store/records/records.ts'
import { RedisChanges } from '../../src/store/redis/changes.ts'
import { digestOf } from '../../src/tokens/token.ts'
import { TokenVerifier } from '../../src/tokens/verify.ts'
import { ChangeStream } from './change-stream.ts'
import { type Outcome, type Process, World } from './world.ts'

/** In ms: how long what is known is used without the store, and within what all others must know of a change. */
const grace = 12_000
const promised = 1_000
/** Ms for which a worker waits for what another has. */
const lendTimeout = 100

/** Something that opens a door, until it is revoked. */
interface Key {
  readonly name: string
  readonly value: string
  /** Whether a worker lets it in, null if it cannot tell. */
  readonly opens: (worker: Worker) => Promise<boolean | null>
  readonly issue: () => void
  readonly revoke: () => void
  /** When it was acknowledged that it is valid, and that it is not, in ms of the world; null before. */
  validAt: number | null
  revokedAt: number | null
  isRevoking: boolean
}

interface Worker {
  readonly process: Process
  readonly changes: RedisChanges
  readonly tokens: TokenVerifier
  readonly sessions: KnownSiteSessions
  readonly loader: AnnouncedKeyLoader
  readonly borrower: Borrower
  /** When it first refused a key that was valid once, by the key. */
  readonly refused: Map<Key, number>
}

export async function simulate(seed: number, { traces = false } = {}): Promise<Outcome> {
  const world = new World(seed, traces)
  await world.live(() => new Schedule(world).run())
  return world
}

class Schedule {
  readonly #world: World
  readonly #stream: ChangeStream
  readonly #tokens = new Map<string, Token>()
  readonly #credentials = new Map<string, Credential>()
  readonly #users = new Map<string, User>()
  readonly #keys: Key[] = []
  readonly #workers: Worker[] = []
  readonly #may: Readonly<Record<'crash' | 'pause' | 'cut' | 'flood' | 'deafen' | 'jump', boolean>>

  constructor(world: World) {
    this.#world = world
    this.#stream = new ChangeStream(world)
    const { network } = world
    network.maxDelay = [0, 20, 150][world.below(3)]!
    network.lost = world.maybe(0.4) ? 0.03 : 0
    network.repeated = world.maybe(0.4) ? 0.1 : 0
    this.#may = {
      ...{ crash: world.maybe(), pause: world.maybe(), cut: world.maybe(), flood: world.maybe(0.05) },
      ...{ deafen: world.maybe(), jump: world.maybe(0.3) },
    }
    this.#stream.lostNotices = this.#may.deafen ? [0.3, 1][world.below(2)]! : 0
  }

  async run(): Promise<void> {
    const world = this.#world
    const count = 1 + world.below(4)
    for (let i = 0; i < count; i++) await this.#start()
    for (let i = 0; i < 3; i++) await this.#issue()
    const length = 30 + world.below(60)
    for (let i = 0; i < length && world.faults.length === 0; i++) {
      await this.#next()
      await world.pass(world.maybe(0.1) ? world.below(8_000) : world.below(400))
    }
    for (const { process } of this.#workers) if (process.isPaused) world.resume(process)
    await world.pass(5_000)
    await this.#visitAll()
    await world.pass(5_000)
  }

  async #next(): Promise<void> {
    const world = this.#world
    const worker = world.pick(this.#workers.filter(({ process }) => process.isAlive))!
    const dice = world.below(100)
    if (dice < 55) await this.#visit(worker, world.pick(this.#keys)!)
    else if (dice < 63) await this.#visitAll()
    else if (dice < 73) await this.#issue()
    else if (dice < 83) await this.#revoke()
    else if (dice < 86 && this.#may.crash) await this.#replace(worker)
    else if (dice < 90 && this.#may.pause)
      worker.process.isPaused ? world.resume(worker.process) : world.pause(worker.process)
    else if (dice < 96 && this.#may.cut) await this.#cut(worker)
    else if (dice < 98 && this.#may.flood) this.#stream.add('member', 'a', 'other', 1_001)
    else if (this.#may.jump) worker.process.skew += (world.random() - 0.5) * 7_200_000
  }

  async #start(before: Worker | null = null): Promise<void> {
    const world = this.#world
    const process = world.process(`w${this.#workers.length}`)
    await world.run(process, () => {
      const worker = this.#workerIn(process)
      this.#workers.push(worker)
      worker.changes.begin()
      if (before !== null) this.#handOver(before, worker)
    })
    await world.pass(1_000)
  }

  #workerIn(process: Process): Worker {
    const { clock } = process
    const run = (command: readonly unknown[]) => this.#world.call(process, () => this.#stream.run(command))
    const script = async () => null
    const changes = new RedisChanges({ run, script }, clock)
    this.#stream.subscribe(process, () => void changes.look())
    const store = this.#storeOf(process, changes)
    const others = () => this.#workers.filter(one => one.process !== process && one.process.isAlive)
    const announcer = new KeyAnnouncer(async keys => {
      for (const other of others()) this.#world.send(other.process, () => other.loader.hear(keys))
    })
    const borrower = new Borrower((id, key) => void this.#lend(process, others(), id, key))
    const tokens: TokenVerifier = new TokenVerifier({
      ...{ store, grace, clock, metrics: new AiMetrics() },
      announce: (...key) => announcer.add(key),
      borrow: (...key) => borrower.ask(key, loader.awaits(key)) as Promise<Lent<Token> | null>,
    })
    const loader = new AnnouncedKeyLoader(async ([kind, key]) => {
      if (kind !== 'gateway') await tokens.recall(kind, key)
    })
    const tags = { tagged: async (value: string) => value, mayBeTagged: () => true }
    const sessions = new KnownSiteSessions({ store, tags, grace, clock })
    return { process, changes, tokens, sessions, loader, borrower, refused: new Map() }
  }

  #storeOf(process: Process, changes: RedisChanges): Store {
    const ask = <T>(find: () => T | undefined) => this.#world.call(process, () => find() ?? null)
    const credentials = {
      get: (kind: CredentialKind, digest: string) => ask(() => this.#credentials.get(`${kind} ${digest}`)),
      put: async () => true,
    }
    const users = {
      get: async (_: string, id: string) => {
        const record = await ask(() => this.#users.get(id))
        return record && { record, version: 1 }
      },
    }
    const tokens = { findByDigest: (digest: string) => ask(() => this.#tokens.get(digest)) }
    const members = { ofUser: () => ask(() => []) }
    return { tokens, credentials, users, members, changes } as unknown as Store
  }

  /** What the supervisor does: asks all other workers, and takes what is known to be current most recently. */
  async #lend(to: Process, others: readonly Worker[], id: number, [kind, key]: AnnouncedKey): Promise<void> {
    const world = this.#world
    const { borrower } = this.#workers.find(({ process }) => process === to)!
    const loans: (Loan | null)[] = []
    const give = () => world.send(to, () => borrower.settle(id, freshest(loans)))
    for (const other of others)
      world.send(other.process, () => {
        const loan = kind === 'gateway' ? null : other.tokens.lend(kind, key)
        world.send(world.outside, () => void loans.push(loan))
      })
    world.later(world.outside, lendTimeout, give)
  }

  /** What a gateway passes on to the one that replaces it, with its age. */
  #handOver(before: Worker, after: Worker): void {
    const world = this.#world
    const at = world.time
    const loans = [...before.tokens.loans()]
    world.send(after.process, () => {
      for (const [form, digest, { value, age }] of loans)
        after.tokens.adopt(form, digest, { value, age: age + world.time - at })
      after.loader.hear(loans.map(([form, digest]) => [form, digest]))
    })
  }

  async #replace(worker: Worker): Promise<void> {
    const isHandover = !worker.process.isPaused && this.#world.maybe()
    await this.#start(isHandover ? worker : null)
    this.#world.kill(worker.process)
  }

  async #cut({ process, changes }: Worker): Promise<void> {
    process.isCutOff = !process.isCutOff
    this.#world.note(`${process.name} ${process.isCutOff ? 'loses' : 'has'} the store`)
    if (process.isCutOff) return
    process.troubledAt = this.#world.time
    if (!process.isPaused) await this.#world.run(process, () => changes.begin())
  }

  async #issue(): Promise<void> {
    const world = this.#world
    const number = this.#keys.length
    const secret = hash('sha256', `${number} ${world.random()}`, 'base64url')
    const isToken = world.maybe()
    const key = isToken ? this.#token(number, secret) : this.#session(number, secret)
    this.#keys.push(key)
    // Nobody can know the value of a session before it is there.
    if (isToken && world.maybe(0.3)) {
      await this.#visitAll()
      await world.pass(world.below(400))
    }
    await world.run(world.outside, () => key.issue())
    world.later(world.outside, world.below(50), () => {
      key.validAt = world.time
      world.note(`${key.name} is valid`)
    })
  }

  #token(number: number, secret: string): Key {
    const unchecked = `svct_${secret}`
    const checksum = Buffer.alloc(4)
    checksum.writeUInt32BE(crc32(unchecked))
    const value = unchecked + checksum.toString('base64url')
    const digest = digestOf(value)
    const id = `t${number}`
    const token: Token = {
      ...{ account: 'a', id, name: id, digest, status: 'active', policies: [], notBefore: null },
      ...{ expiresOn: null, addressesIn: [], addressesNotIn: [], issuedOn: 0, modifiedOn: 0 },
    }
    return {
      ...{ name: id, value, validAt: null, revokedAt: null, isRevoking: false },
      opens: async ({ tokens }) => {
        const verdict = await tokens.verify(value, '192.0.2.7', 'ai')
        return verdict === 'store_unreachable' ? null : typeof verdict === 'object'
      },
      issue: () => {
        this.#tokens.set(digest, token)
        this.#stream.add('token', 'a', id)
      },
      revoke: () => {
        if (this.#world.maybe()) this.#tokens.delete(digest)
        else this.#tokens.set(digest, { ...token, status: 'disabled' })
        this.#stream.add('token', 'a', id)
      },
    }
  }

  #session(number: number, secret: string): Key {
    const value = `${secret}${'A'.repeat(11)}`
    const [digest, parent, user] = [digestOfValue(value), hash('sha256', secret), `u${number}`]
    const now = this.#world.outside.clock.now()
    const times = { createdAt: now, expiresAt: now + 6 * 86_400_000, consumedAt: null }
    const proof = { method: 'password', secondFactor: false, passwordSetAt: null, factorSetAt: null }
    const browser = { address: '192.0.2.7', userAgent: null }
    const put = (credential: Credential) =>
      this.#credentials.set(`${credential.kind} ${credential.digest}`, credential)
    const record = { account: everybody, id: user, passwordChangedAt: null, totp: null } as unknown as User
    return {
      ...{ name: `s${number}`, value, validAt: null, revokedAt: null, isRevoking: false },
      opens: async ({ sessions }) => {
        try {
          return (await sessions.find(value)) !== null
        } catch (failure) {
          if (failure instanceof StoreUnreachable) return null
          throw failure
        }
      },
      issue: () => {
        put({
          ...{ kind: 'session', digest: parent, user, client: null, grant: null, ...times },
          data: { ...proof, ...browser, createdAt: now, usedAt: now, authenticatedAt: now },
        })
        put({
          ...{ kind: 'site_session', digest, user, client: null, grant: parent, ...times },
          data: { host: 'app.example' },
        })
        this.#users.set(user, record)
      },
      revoke: () => {
        const dice = this.#world.below(3)
        if (dice === 0) {
          this.#users.set(user, { ...record, passwordChangedAt: now })
          return this.#stream.add('user', everybody, user)
        }
        const [kind, id] = dice === 1 ? (['session', parent] as const) : (['site_session', digest] as const)
        this.#credentials.delete(`${kind} ${id}`)
        this.#stream.add('credential', kind, id)
      },
    }
  }

  async #revoke(): Promise<void> {
    const world = this.#world
    const key = world.pick(this.#keys.filter(key => key.validAt !== null && !key.isRevoking))
    if (key === null) return
    key.isRevoking = true
    await world.run(world.outside, () => key.revoke())
    world.note(`${key.name} is revoked`)
    world.later(world.outside, world.below(50), () => {
      key.revokedAt = world.time
      world.note(`that ${key.name} is revoked is acknowledged`)
    })
  }

  async #visitAll(): Promise<void> {
    for (const worker of this.#workers) for (const key of this.#keys) await this.#visit(worker, key)
  }

  async #visit(worker: Worker, key: Key): Promise<void> {
    const { process } = worker
    if (!process.isAlive || process.isPaused) return
    await this.#world.run(process, () => void this.#judge(worker, key))
  }

  async #judge(worker: Worker, key: Key): Promise<void> {
    const world = this.#world
    const { process, refused } = worker
    const beganAt = world.time
    const { maxDelay } = world.network
    // A look may be under way that has passed the change: that, the period, and the next look.
    const isWell = world.isWell(process, promised + 4 * maxDelay)
    const { validAt, revokedAt, isRevoking } = key
    const isValid = validAt !== null && beganAt - validAt > promised + 4 * maxDelay && !isRevoking
    const opens = await key.opens(worker)
    world.note(
      `${process.name} ${opens === null ? 'cannot tell' : opens ? 'accepts' : 'refuses'} ${key.name}`,
    )
    if (opens === false && key.isRevoking && !refused.has(key)) refused.set(key, world.time)
    if (opens === false && isValid && !key.isRevoking && isWell)
      world.fault(`${process.name} refuses ${key.name}, which is valid`)
    if (!opens || revokedAt === null) return
    const age = beganAt - revokedAt
    if (age > promised + 4 * maxDelay && isWell)
      world.fault(`${process.name} accepts ${key.name} ${age} ms after its revocation was acknowledged`)
    if (age > grace + maxDelay)
      world.fault(`${process.name} accepts ${key.name} beyond the grace, ${age} ms after its revocation`)
    if ((refused.get(key) ?? beganAt) < beganAt)
      world.fault(`${process.name} accepts ${key.name} again, which it has refused`)
  }
}

// Codes and refresh tokens: one exchange of a code wins; a refresh token that is used after its successor was, or long after
// its own use, ends all tokens of its family, everywhere within a second; and an app that loses responses keeps its access.

import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { AiMetrics } from '../../src/metrics/counters/ai-metrics.ts'
import { AccessTokens } from '../../src/oauth/grants/access-tokens.ts'
import { endDigestOf, endOf } from '../../src/oauth/grants/token-family.ts'
import { TokenExchange } from '../../src/oauth-server/engine/token-exchange.ts'
import { type Store, StoreUnreachable } from '../../src/store/contract/store.ts'
import type { Credential, CredentialKind, Exchange, Exchanged } from '../../src/store/records/credential.ts'
import { everybody } from '../../src/store/records/people.ts'
import { RedisChanges } from '../../src/store/redis/changes.ts'
import { SqliteCredentials } from '../../src/store/sqlite/credentials.ts'
import { Database } from '../../src/store/sqlite/database/database.ts'
import { migrate } from '../../src/store/sqlite/database/migrate.ts'
import { credentialMigrations } from '../../src/store/sqlite/database/schema.ts'
import { digestOf } from '../../src/tokens/token.ts'
import { TokenVerifier } from '../../src/tokens/verify.ts'
import { ChangeStream } from './change-stream.ts'
import { type Outcome, type Process, World } from './world.ts'

/** In ms. */
const grace = 12_000
const promised = 1_000
const refreshGrace = 30_000
const day = 86_400_000

const resource = 'https://ai.example'

interface Worker {
  readonly process: Process
  readonly changes: RedisChanges
  readonly tokens: TokenVerifier
  readonly store: Store
}

interface Pair {
  readonly refresh: string
  readonly access: string
}

/** All tokens of one code, as the store must see them. */
interface Family {
  readonly name: string
  readonly code: string
  /** What the app has last got, and what it presents next: it knows of no other tokens. */
  held: Pair | null
  /** Values that somebody else has got hold of. */
  readonly stolen: string[]
  /** Whether only the app has used it, and that with a clock and grace that forgive lost responses. */
  isHonest: boolean
  wins: number
  /** What has been asked for, by the digest of its refresh token, and what is in the store, whoever got it. */
  readonly asked: Map<string, Pair>
  readonly issued: Pair[]
  /** When access tokens were replaced, as nobody had got them, by digest; ms of the world. */
  readonly replacedAt: Map<string, number>
  /** The newest tokens, and what they were given for; by digest. */
  newest: string | null
  latest: string | null
  spent: string | null
  readonly firstUses: Map<string, number>
  hasEnded: boolean
  /** When a client was told so, in ms of the world. */
  endedAt: number | null
  isBusy: boolean
}

/** One store for all schedules, which is emptied between them. */
const opening = Database.open(':memory:', { synchronous: 'NORMAL', timeout: 1_000 }).then(async db => {
  await migrate(db, credentialMigrations)
  return db
})

export async function simulate(seed: number, { traces = false } = {}): Promise<Outcome> {
  const db = await opening
  db.exec('DELETE FROM credentials')
  const world = new World(seed, traces)
  await world.live(() => new Schedule(world, db).run())
  return world
}

class Schedule {
  readonly #world: World
  readonly #stream: ChangeStream
  readonly #credentials: SqliteCredentials
  readonly #families: Family[] = []
  readonly #workers: Worker[] = []
  readonly #may: Readonly<Record<'crash' | 'cut' | 'steal' | 'jump', boolean>>
  #minted = 0

  constructor(world: World, db: Database) {
    this.#world = world
    this.#stream = new ChangeStream(world)
    this.#credentials = new SqliteCredentials(db, this.#stream.asLedger, world.outside.clock)
    const { network } = world
    network.maxDelay = [0, 20, 150][world.below(3)]!
    network.lost = world.maybe() ? 0.05 : 0
    this.#stream.lostNotices = world.maybe(0.3) ? 0.5 : 0
    this.#may = { crash: world.maybe(), cut: world.maybe(), steal: world.maybe(), jump: world.maybe(0.3) }
  }

  async run(): Promise<void> {
    const world = this.#world
    const count = 1 + world.below(3)
    for (let i = 0; i < count; i++) await this.#start()
    for (let i = 0; i < 2; i++) await this.#authorize()
    const length = 30 + world.below(60)
    for (let i = 0; i < length && world.faults.length === 0; i++) {
      await this.#next()
      await world.pass(world.maybe(0.05) ? world.below(40_000) : world.below(400))
    }
    await world.pass(5_000)
    await this.#visitAll()
    await world.pass(5_000)
  }

  async #next(): Promise<void> {
    const world = this.#world
    const { network } = world
    const family = world.pick(this.#families)!
    const dice = world.below(100)
    if (dice < 40) await this.#present(family)
    else if (dice < 65) await this.#visitAll()
    else if (dice < 72) await this.#authorize()
    else if (dice < 80 && this.#may.steal) await this.#steal(family)
    else if (dice < 82) await this.#revoke(family)
    else if (dice < 85 && this.#may.crash) {
      await this.#start()
      world.kill(this.#worker().process)
    } else if (dice < 90 && this.#may.cut) await this.#cut(this.#worker())
    else if (dice < 93 && this.#may.jump) this.#worker().process.skew += (world.random() - 0.5) * 100_000
    else if (dice < 96) network.lost = network.lost === 0 ? 0.05 : 0
  }

  #worker(): Worker {
    return this.#world.pick(this.#workers.filter(({ process }) => process.isAlive))!
  }

  async #start(): Promise<void> {
    const process = this.#world.process(`w${this.#workers.length}`)
    await this.#world.run(process, () => {
      const worker = this.#workerIn(process)
      this.#workers.push(worker)
      worker.changes.begin()
    })
    await this.#world.pass(1_000)
  }

  #workerIn(process: Process): Worker {
    const { clock } = process
    const run = (command: readonly unknown[]) => this.#world.call(process, () => this.#stream.run(command))
    const changes = new RedisChanges({ run, script: async () => null }, clock)
    this.#stream.subscribe(process, () => void changes.look())
    const store = this.#storeOf(process, changes)
    const access = new AccessTokens(store, () => 'ai')
    const tokens = new TokenVerifier({ ...{ store, grace, clock, access }, metrics: new AiMetrics() })
    return { process, changes, tokens, store }
  }

  #storeOf(process: Process, changes: RedisChanges): Store {
    const ask = <T>(serve: () => T | Promise<T>) => this.#world.call(process, serve)
    const own = this.#credentials
    const credentials = {
      get: (kind: CredentialKind, digest: string) => ask(() => own.get(kind, digest)),
      hasEnded: (digest: string) => ask(() => own.hasEnded(digest)),
      endFamily: (end: Credential) => ask(() => this.#end(end)),
      exchange: (exchange: Exchange) => ask(() => this.#exchange(exchange)),
    }
    const record = (record: object) => async () => ({ record: record as never, version: 1 })
    const grant = { account: everybody, id: 'g', user: 'u', client: 'c', clientAccount: 'a', scopes: [] }
    return {
      credentials,
      changes,
      oauthGrants: { get: record({ ...grant, resource: [resource] }) },
      oauthClients: { get: record({ id: 'c', name: 'an app', visibility: 'public', scopes: [] }) },
      users: { get: record({ id: 'u', email: 'u@example.com' }) },
      members: { find: async () => null },
    } as unknown as Store
  }

  async #authorize(): Promise<void> {
    const code = this.#mint('code')
    const name = `f${this.#families.length}`
    this.#families.push({
      ...{
        name,
        code,
        held: null,
        stolen: [],
        isHonest: !this.#may.jump,
        wins: 0,
        latest: null,
        spent: null,
      },
      ...{ firstUses: new Map(), hasEnded: false, endedAt: null, isBusy: false },
      ...{ asked: new Map(), issued: [], replacedAt: new Map(), newest: null },
    })
    const stored = this.#credentialOf('authorization_code', code, name, this.#world.outside)
    await this.#world.run(this.#world.outside, () => void this.#credentials.put(stored))
  }

  /** An app presents what it has; if it heard nothing of that, it does so again. */
  async #present(family: Family): Promise<void> {
    if (family.isBusy) return
    family.isBusy = true
    const value = family.held?.refresh ?? family.code
    const isAgain = family.firstUses.has(digestOf(value))
    if (isAgain && (value === family.code || this.#ageOf(family, value) > refreshGrace / 2))
      family.isHonest = false
    await this.#request(family, value, pair => {
      if (pair !== null) family.held = pair
      family.isBusy = false
    })
  }

  /** Somebody copies what the app has, or uses a copy. */
  async #steal(family: Family): Promise<void> {
    const { stolen, held, code } = family
    const value = this.#world.pick(stolen)
    if (value === null || this.#world.maybe()) {
      stolen.push(held?.refresh ?? code)
      return
    }
    family.isHonest = false
    await this.#request(family, value, pair => {
      if (pair !== null) stolen.push(pair.refresh)
    })
  }

  #ageOf({ firstUses }: Family, value: string): number {
    return this.#world.outside.clock.now() - (firstUses.get(digestOf(value)) ?? 0)
  }

  /** A request of the token endpoint; its response may be lost, which the caller hears of as null. */
  async #request(family: Family, value: string, take: (pair: Pair | null) => void): Promise<void> {
    const world = this.#world
    const { process, store } = this.#worker()
    const isLost = world.maybe(world.network.lost * 2)
    const pair = { refresh: this.#mint('svcr_'), access: this.#mint('svco_') }
    family.asked.set(digestOf(pair.refresh), pair)
    let isOver = false
    const end = (got: Pair | null) => {
      if (!isOver) take(got)
      isOver = true
    }
    const attempt = async () => {
      const refusal = await this.#attempt(family, value, pair, process, store)
      world.note(`${process.name}: ${family.name} ${this.#nameOf(family, value)}: ${refusal ?? 'issued'}`)
      if (!isLost) world.later(world.outside, world.below(20), () => end(refusal === null ? pair : null))
    }
    // Whoever hears nothing gives up.
    world.later(world.outside, 6_000, () => end(null))
    await world.run(process, () => void attempt())
  }

  async #attempt(
    family: Family,
    value: string,
    pair: Pair,
    process: Process,
    store: Store,
  ): Promise<string | null> {
    const kind = value === family.code ? 'authorization_code' : 'refresh_token'
    try {
      const exchange = new TokenExchange()
      exchange.presented = await store.credentials.get(kind, digestOf(value))
      if (exchange.presented === null) return 'not there'
      for (const [kind, issued] of [
        ['access_token', pair.access],
        ['refresh_token', pair.refresh],
      ] as const)
        exchange.issued.push(this.#credentialOf(kind, issued, family.name, process))
      const refusal = await exchange.commit(store)
      if (refusal !== null && family.hasEnded) family.endedAt ??= this.#world.time
      return refusal
    } catch (failure) {
      if (failure instanceof StoreUnreachable) return 'unreachable'
      throw failure
    }
  }

  /** What the store does, and whether that is what was promised. */
  async #exchange(exchange: Exchange): Promise<Exchanged> {
    const { digest, at, issued, end } = exchange
    const world = this.#world
    const family = this.#families.find(({ name }) => endDigestOf(name) === end.digest)!
    const isCode = exchange.kind === 'authorization_code'
    const firstUse = family.firstUses.get(digest)
    const isForgiven = firstUse === undefined || at - firstUse <= refreshGrace
    const isLive = isCode
      ? firstUse === undefined
      : digest === family.latest || (digest === family.spent && isForgiven)
    const { hasEnded, isHonest } = family
    const exchanged = await this.#credentials.exchange(exchange)
    const isIssued = exchanged.outcome === 'issued'
    if (isIssued !== (isLive && !hasEnded))
      world.fault(
        `${family.name}: ${exchanged.outcome}, but it is ${isLive ? 'live' : 'spent'}, ${hasEnded ? '' : 'not '}ended`,
      )
    if (isIssued && isCode && ++family.wins > 1) world.fault(`${family.name}: a code was exchanged twice`)
    if (isIssued) {
      if (firstUse === undefined) family.firstUses.set(digest, at)
      else family.replacedAt.set(family.newest!, world.time)
      family.newest = issued.find(({ kind }) => kind === 'access_token')!.digest
      family.spent = digest
      family.latest = issued.find(({ kind }) => kind === 'refresh_token')!.digest
      family.issued.push(family.asked.get(family.latest)!)
    } else {
      family.hasEnded = true
      if (!hasEnded && isHonest)
        world.fault(`${family.name}: an app loses its access, as a response was lost`)
      if (!(await this.#credentials.hasEnded(end.digest)))
        world.fault(`${family.name}: a replay ends nothing`)
    }
    return exchanged
  }

  async #end(end: Credential): Promise<void> {
    const family = this.#families.find(({ name }) => endDigestOf(name) === end.digest)!
    await this.#credentials.endFamily(end)
    family.hasEnded = true
    family.isHonest = false
  }

  /** An app or a person ends all tokens of a family. */
  async #revoke(family: Family): Promise<void> {
    const { process, store } = this.#worker()
    family.isHonest = false
    const revoke = async () => {
      const owners = { user: 'u', client: 'c', grant: 'g' }
      try {
        await store.credentials.endFamily(endOf(family.name, owners, process.clock.now()))
        family.endedAt ??= this.#world.time
        this.#world.note(`${family.name} is revoked`)
      } catch (failure) {
        if (!(failure instanceof StoreUnreachable)) throw failure
      }
    }
    await this.#world.run(process, () => void revoke())
  }

  async #cut({ process, changes }: Worker): Promise<void> {
    process.isCutOff = !process.isCutOff
    this.#world.note(`${process.name} ${process.isCutOff ? 'loses' : 'has'} the store`)
    if (process.isCutOff) return
    process.troubledAt = this.#world.time
    await this.#world.run(process, () => changes.begin())
  }

  async #visitAll(): Promise<void> {
    for (const worker of this.#workers)
      for (const family of this.#families)
        for (const pair of [family.held, this.#world.pick(family.issued)])
          if (worker.process.isAlive && pair !== null)
            await this.#world.run(worker.process, () => void this.#visit(worker, family, pair))
  }

  async #visit({ process, tokens }: Worker, family: Family, { access }: Pair): Promise<void> {
    const world = this.#world
    const { maxDelay } = world.network
    const beganAt = world.time
    const isWell = world.isWell(process, promised + 4 * maxDelay)
    const { endedAt } = family
    const isOwn = family.isHonest && family.held?.access === access && !family.isBusy
    const verdict = await tokens.verify(access, null, 'ai')
    const isAccepted = typeof verdict === 'object'
    world.note(`${process.name} ${isAccepted ? 'accepts' : `refuses (${verdict as string})`} ${family.name}`)
    if (isAccepted && endedAt !== null) {
      const age = beganAt - endedAt
      if (age > (isWell ? promised + 4 * maxDelay : grace + maxDelay))
        world.fault(`${process.name} accepts ${family.name}, which has ended ${age} ms ago`)
    }
    const replacedAt = family.replacedAt.get(digestOf(access)) ?? beganAt
    if (isAccepted && isWell && beganAt - replacedAt > promised + 6 * maxDelay)
      world.fault(`${process.name} accepts a token of ${family.name} that was replaced`)
    if (isOwn && family.isHonest && isWell && (verdict === 'unknown' || verdict === 'expired'))
      world.fault(`${process.name} refuses ${family.name}, which is valid: ${verdict}`)
  }

  #credentialOf(kind: CredentialKind, value: string, family: string, { clock }: Process): Credential {
    const data = { account: everybody, family, scope: '', aud: [resource] }
    const owners = { user: 'u', client: 'c', grant: 'g' }
    const createdAt = clock.now()
    const times = { createdAt, expiresAt: createdAt + day, consumedAt: null }
    return { kind, digest: digestOf(value), ...owners, ...times, data }
  }

  #nameOf({ code, held, stolen }: Family, value: string): string {
    if (value === code) return 'code'
    return value === held?.refresh ? 'newest' : stolen.includes(value) ? 'stolen' : 'older'
  }

  #mint(prefix: 'code' | 'svco_' | 'svcr_'): string {
    const secret = hash('sha256', `${this.#minted++} ${this.#world.random()}`, 'base64url')
    if (prefix === 'code') return secret
    const checksum = Buffer.alloc(4)
    checksum.writeUInt32BE(crc32(prefix + secret))
    return prefix + secret + checksum.toString('base64url')
  }
}

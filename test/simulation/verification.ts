// Ownership of domains: none is verified whose record was not seen, none that is verified is lost, each undecided one is
// checked again and again, by one process at a time, and one whose record is there is verified.

import { hash } from 'node:crypto'
import { challengeText, verificationFor } from '../../src/domains/challenge.ts'
import { DomainWatch } from '../../src/domains/domain-watch.ts'
import { hostOf } from '../../src/domains/host.ts'
import { TxtLookup } from '../../src/domains/txt-lookup.ts'
import type { Logger } from '../../src/log/log.ts'
import type { Store } from '../../src/store/contract/store.ts'
import type { DnsAnswer, DomainVerification, OAuthClient } from '../../src/store/records/oauth-client.ts'
import { RedisChanges } from '../../src/store/redis/changes.ts'
import { SqliteAudit } from '../../src/store/sqlite/audit.ts'
import { Database } from '../../src/store/sqlite/database/database.ts'
import { migrate } from '../../src/store/sqlite/database/migrate.ts'
import { SqliteOAuthClients } from '../../src/store/sqlite/oauth-clients.ts'
import { SqliteResponses } from '../../src/store/sqlite/stored-responses.ts'
import { ChangeStream } from './change-stream.ts'
import { SimulatedDns, type ZoneState } from './dns.ts'
import { type Outcome, type Process, World } from './world.ts'

const [second, minute, hour] = [1_000, 60_000, 3_600_000]
/** Ms within which a check that is due must have been made, in which a process took it and ended, and a lookup. */
const patience = 45 * second
/** Ms for which a process may be away before another one takes its check. */
const lease = 4 * second
/** By how many ms clocks of processes may differ, and the longest time between two checks. */
const maxSkew = hour
const longestStep = 17 * minute

const account = 'a'.repeat(32)
const log = { info: () => {}, warn: () => {}, error: () => {} } as unknown as Logger

interface Worker {
  readonly process: Process
  readonly changes: RedisChanges
  readonly watch: DomainWatch
  /** The checks that it has been given, by the text that they look for. */
  readonly taken: Map<string, number | null>
}

interface Lookup {
  readonly worker: Worker
  readonly check: number | null
  readonly since: number
}

/** A client with the host that its owner gave it last. */
interface Owned {
  readonly id: string
  /** Since when its check has been due, in ms of the world. */
  due: { readonly check: number; readonly since: number } | null
}

/** One store for all schedules, which is emptied between them. */
const opening = Database.open(':memory:', { synchronous: 'NORMAL', timeout: 1_000 }).then(async db => {
  await migrate(db)
  return db
})

export async function simulate(seed: number, { traces = false } = {}): Promise<Outcome> {
  const db = await opening
  db.exec('DELETE FROM oauth_clients')
  const world = new World(seed, traces)
  const dns = new SimulatedDns(world)
  await dns.during(() => world.live(() => new Schedule(world, db, dns).run()))
  return world
}

class Schedule {
  readonly #world: World
  readonly #dns: SimulatedDns
  readonly #stream: ChangeStream
  readonly #clients: SqliteOAuthClients
  readonly #owned: Owned[] = []
  readonly #workers: Worker[] = []
  readonly #lookups = new Map<string, Lookup[]>()
  /** When the check was due that a result was looked up for. */
  readonly #checkOf = new WeakMap<DnsAnswer, number | null>()
  readonly #may: Readonly<Record<'crash' | 'cut' | 'pause' | 'jump' | 'fail', boolean>>
  #jumpedAt = Number.NEGATIVE_INFINITY
  #hosts = 0

  constructor(world: World, db: Database, dns: SimulatedDns) {
    this.#world = world
    this.#dns = dns
    this.#stream = new ChangeStream(world)
    const { clock } = world.outside
    const responses = new SqliteResponses(db, clock)
    const ledgers = { changes: this.#stream.asLedger, responses, audit: new SqliteAudit(db) }
    this.#clients = new SqliteOAuthClients(db, ledgers, clock)
    const { network } = world
    network.maxDelay = [0, 20, 150][world.below(3)]!
    network.lost = world.maybe(0.4) ? 0.05 : 0
    network.repeated = world.maybe(0.3) ? 0.1 : 0
    this.#stream.lostNotices = world.maybe(0.3) ? 0.5 : 0
    this.#may = {
      ...{ crash: world.maybe(), cut: world.maybe(), pause: world.maybe(0.3), jump: world.maybe(0.3) },
      fail: world.maybe(0.7),
    }
  }

  async run(): Promise<void> {
    const world = this.#world
    const count = 1 + world.below(3)
    for (let i = 0; i < count; i++) await this.#start()
    for (let i = 0; i < 2; i++) await this.#register()
    const length = 20 + world.below(40)
    for (let i = 0; i < length && world.faults.length === 0; i++) {
      await this.#next()
      await world.pass(world.maybe(0.1) ? world.below(40_000) : world.below(4_000))
      await this.#checkAll()
    }
    if (world.faults.length === 0) await this.#end()
    for (const { process, watch } of this.#workers)
      if (process.isAlive) await world.run(process, () => void watch.close())
    await world.pass(5_000)
  }

  async #next(): Promise<void> {
    const world = this.#world
    const client = world.pick(this.#owned)!
    const worker = world.pick(this.#workers.filter(({ process }) => process.isAlive))!
    const dice = world.below(100)
    if (dice < 20) await this.#publish(client)
    else if (dice < 35) await this.#patch(client, worker)
    else if (dice < 42) await this.#rename(client)
    else if (dice < 50) await this.#register()
    else if (dice < 66 && this.#may.fail) this.#trouble()
    else if (dice < 72 && this.#may.crash) {
      await this.#start()
      world.kill(worker.process)
    } else if (dice < 78 && this.#may.cut) await this.#cut(worker)
    else if (dice < 84 && this.#may.pause)
      worker.process.isPaused ? world.resume(worker.process) : world.pause(worker.process)
    else if (dice < 90 && this.#may.jump)
      worker.process.skew = this.#jumped + (world.random() - 0.5) * maxSkew
    else if (dice < 96) this.#letTimePass(world.random() ** 3 * 30 * hour)
  }

  /** What the clocks of all have jumped ahead. */
  get #jumped(): number {
    return this.#world.outside.skew
  }

  /** Hours in which nobody does anything. */
  #letTimePass(ms: number): void {
    const world = this.#world
    for (const { process } of this.#workers) process.skew += ms
    world.outside.skew += ms
    this.#jumpedAt = world.time
    world.note(`${(ms / hour).toFixed(2)} h pass`)
  }

  async #start(): Promise<void> {
    const process = this.#world.process(`w${this.#workers.length}`)
    process.skew = this.#jumped
    await this.#world.run(process, () => {
      const worker = this.#workerIn(process)
      this.#workers.push(worker)
      worker.changes.begin()
      worker.watch.start()
    })
    process.troubledAt = this.#world.time
    await this.#world.pass(1_000)
  }

  #workerIn(process: Process): Worker {
    const world = this.#world
    const { clock } = process
    const run = (command: readonly unknown[]) => world.call(process, () => this.#stream.run(command))
    const changes = new RedisChanges({ run, script: async () => null }, clock)
    this.#stream.subscribe(process, () => void changes.look())
    const taken: Worker['taken'] = new Map()
    const own = this.#clients
    const oauthClients = {
      get: (owner: string, id: string) => world.call(process, () => own.get(owner, id)),
      replace: (client: OAuthClient, version: number) =>
        world.call(process, () => this.#replace(client, version)),
      renewLeases: (clients: readonly OAuthClient[], ms: number) =>
        world.call(process, () => own.renewLeases(clients, ms)),
      claimDue: async (limit: number, ms: number) => {
        const due = await world.call(process, () => own.claimDue(limit, ms))
        for (const { record } of due)
          taken.set(challengeText(record.verification!), record.verification!.nextCheckAt)
        return due
      },
    }
    const store = { oauthClients, changes } as unknown as Store
    const real = new TxtLookup({ resolvers: ['192.0.2.53', '192.0.2.54'], timeout: 20_000 })
    const lookup = {
      ask: (host: string, text: string, now: number) =>
        this.#watched(worker, text, () => real.ask(host, text, now)),
      close: () => real.close(),
    } as TxtLookup
    const worker: Worker = {
      ...{ process, changes, taken },
      watch: new DomainWatch({ store, lookup, log, clock }),
    }
    return worker
  }

  /** While a process that nothing has happened to looks a domain up, no other one does so for the same check. */
  async #watched(worker: Worker, text: string, ask: () => Promise<DnsAnswer>): Promise<DnsAnswer> {
    const world = this.#world
    const check = worker.taken.get(text) ?? null
    const running = this.#lookups.get(text) ?? []
    this.#lookups.set(text, running)
    for (const other of running) {
      const age = world.time - other.since
      const isWell = other.worker.process.isAlive && world.isWell(other.worker.process, age + lease)
      if (other.check === check && isWell && this.#jumpedAt < other.since - lease)
        world.fault(
          `${worker.process.name} makes a check that ${other.worker.process.name} has made for ${age} ms`,
        )
    }
    const lookup = { worker, check, since: world.time }
    running.push(lookup)
    try {
      const answer = await ask()
      this.#checkOf.set(answer, check)
      return answer
    } finally {
      running.splice(running.indexOf(lookup), 1)
    }
  }

  async #replace(next: OAuthClient, version: number): Promise<boolean> {
    const before = await this.#clients.get(next.account, next.id)
    const isDone = await this.#clients.replace(next, version)
    if (isDone) this.#judge(next, before!.record.verification!)
    return isDone
  }

  /** What was written, and whether that may follow from what was there. */
  #judge({ clientUri, verification }: OAuthClient, before: DomainVerification): void {
    const world = this.#world
    const now = world.outside.clock.now()
    const { host, status, nextCheckAt, deadline, checks, startedAt, code, lastAnswer } = verification!
    world.note(`${host} ${status}, ${checks} checks`)
    if (host !== hostOf(clientUri!)) world.fault(`${host} is verified for ${clientUri}`)
    if (
      status === 'verified' &&
      before.status !== 'verified' &&
      !this.#dns.hasSent(host, challengeText(verification!))
    )
      world.fault(`${host} is verified, but had no such record`)
    if (before.status === 'verified' && (status !== 'verified' || host !== before.host))
      world.fault(`${before.host} was verified, and is ${status} as ${host}`)
    if (status === 'failed' && now < deadline - maxSkew)
      world.fault(`${host} has failed ${deadline - now} ms before its deadline`)
    const isOpen = status === 'pending' || status === 'in_progress'
    if (isOpen !== (nextCheckAt !== null)) world.fault(`${host} is ${status}, next check ${nextCheckAt}`)
    if (isOpen && nextCheckAt! > deadline) world.fault(`${host} would be checked after its deadline`)
    if (isOpen && nextCheckAt! > now + longestStep + maxSkew)
      world.fault(`${host} is not checked for ${nextCheckAt! - now} ms`)
    if (startedAt !== before.startedAt || host !== before.host) return
    if (code !== before.code) world.fault(`${host} gets another code`)
    if (checks === before.checks) return
    if (before.nextCheckAt === null) world.fault(`${host} was ${before.status}, and gets another result`)
    if (status !== 'verified' && this.#checkOf.get(lastAnswer!) !== before.nextCheckAt)
      world.fault(`${host}: a check gets the result of another one`)
    if (isOpen && nextCheckAt === before.nextCheckAt) world.fault(`${host}: a check stays due`)
  }

  async #register(): Promise<void> {
    const world = this.#world
    if (this.#owned.length >= 6) return
    const id = hash('md5', `${this.#owned.length} ${world.random()}`)
    const clientUri = this.#newUri()
    const now = world.outside.clock.now()
    const verification = verificationFor(null, clientUri, now) as DomainVerification
    const client = {
      ...{ account, id, name: 'an app', clientUri, verification, secrets: [], visibility: 'private' },
      ...{ revision: 1, createdAt: now, updatedAt: now },
    } as unknown as OAuthClient
    await this.#asOwner(() => this.#clients.insert(client))
    this.#owned.push({ id, due: null })
  }

  #newUri(): string {
    const host = `h${this.#hosts++}.example`
    const isSlow = this.#may.fail && this.#world.maybe(0.3)
    this.#dns.zones.set(host, { texts: [], state: isSlow ? 'slow' : 'fine' })
    return `https://${host}/`
  }

  /** The owner publishes the record of the domain, one that is not it, or removes it. */
  async #publish({ id }: Owned, isRight = this.#world.maybe(0.6)): Promise<void> {
    const verification = (await this.#read(id)).verification!
    const text = challengeText(verification)
    const other = this.#world.maybe() ? 'v=spf1 -all' : `${text}, really`
    const zone = this.#dns.zones.get(verification.host)!
    zone.texts = isRight ? [text, 'v=spf1 -all'] : this.#world.maybe() ? [other] : []
    this.#world.note(`${verification.host} has ${isRight ? 'its record' : 'no record'}`)
  }

  /** The owner sets the URI again, or another one. */
  async #patch({ id }: Owned, { process }: Worker): Promise<void> {
    const world = this.#world
    const isOther = world.maybe(0.4)
    const work = async () => {
      const current = await this.#clients.get(account, id)
      const { record, version } = current!
      const clientUri = isOther ? this.#newUri() : `${record.clientUri}x`
      const before = record.verification!
      const verification = verificationFor(before, clientUri, process.clock.now())
      if ((verification === 'host_frozen') !== (isOther && before.status === 'verified'))
        return world.fault(
          `${before.host} is ${before.status}, and set to ${clientUri}: ${String(verification)}`,
        )
      if (verification === 'host_frozen') return
      const isSame = verification!.startedAt === before.startedAt && before.nextCheckAt !== null
      if (isSame && !isOther && verification!.nextCheckAt! > before.nextCheckAt!)
        world.fault(`${before.host} is checked later for being set again`)
      await this.#replace({ ...record, clientUri, verification, revision: record.revision + 1 }, version)
    }
    await this.#asOwner(work)
  }

  /** Something else is written to the client. */
  async #rename({ id }: Owned): Promise<void> {
    const rename = async () => {
      const { record, version } = (await this.#clients.get(account, id))!
      await this.#replace({ ...record, name: 'another name', revision: record.revision + 1 }, version)
    }
    await this.#asOwner(rename)
  }

  /** Writes what an owner sets, before any time passes: later steps build on it. */
  async #asOwner(write: () => Promise<unknown>): Promise<void> {
    let written: Promise<unknown> | undefined
    await this.#world.run(this.#world.outside, () => void (written = write()))
    await written
  }

  #trouble(): void {
    const world = this.#world
    const [host, zone] = world.pick([...this.#dns.zones])!
    const states: readonly ZoneState[] = [
      ...(['fine', 'slow', 'slow', 'silent', 'truncated', 'wrong'] as const),
      ...(['server_failure', 'no_such_name', 'refused'] as const),
    ]
    zone.state = world.pick(states)!
    world.note(`the servers of ${host} are ${zone.state}`)
  }

  async #cut({ process, changes }: Worker): Promise<void> {
    process.isCutOff = !process.isCutOff
    this.#world.note(`${process.name} ${process.isCutOff ? 'loses' : 'has'} the store`)
    if (process.isCutOff) return
    process.troubledAt = this.#world.time
    if (!process.isPaused) await this.#world.run(process, () => changes.begin())
  }

  /** Whether checks that are due are made, as long as there is a process that can. */
  async #checkAll(): Promise<void> {
    const world = this.#world
    const isServed = this.#workers.some(({ process }) => process.isAlive && world.isWell(process, patience))
    for (const owned of this.#owned) {
      const { nextCheckAt, host } = (await this.#read(owned.id)).verification!
      if (nextCheckAt === null || nextCheckAt > world.outside.clock.now()) owned.due = null
      else if (owned.due?.check !== nextCheckAt) owned.due = { check: nextCheckAt, since: world.time }
      else if (isServed && world.time - owned.due.since > 2 * patience)
        world.fault(`${host} is not checked, though that is due since ${owned.due.since}`)
    }
  }

  /** At last everything works, and all records are there. */
  async #end(): Promise<void> {
    const world = this.#world
    world.network.lost = 0
    for (const worker of this.#workers) {
      const { process } = worker
      if (!process.isAlive) continue
      if (process.isPaused) world.resume(process)
      if (process.isCutOff) await this.#cut(worker)
    }
    for (const zone of this.#dns.zones.values()) zone.state = 'fine'
    for (const owned of this.#owned) await this.#publish(owned, true)
    // Lookups that are under way know nothing of it, and set the next check an interval after their end.
    await world.pass(patience)
    this.#letTimePass(longestStep + maxSkew)
    await world.pass(patience + 10_000)
    for (const { id } of this.#owned) {
      const { status, host } = (await this.#read(id)).verification!
      // Its two days may be over.
      if (status === 'pending' || status === 'in_progress')
        world.fault(`${host} is ${status}, though its record is there`)
    }
  }

  async #read(id: string): Promise<OAuthClient> {
    return (await this.#clients.get(account, id))!.record
  }
}

// Automatic certificates of machines that share a store: one machine at a time orders for a host, nothing is asked of an
// authority that wants a pause, no key is served without its certificate, and a certificate is renewed before it expires.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { type AutomaticTls, Challenges, nothingAutomatic } from '../../src/certificates/acme/automatic.ts'
import { isRateLimited } from '../../src/certificates/acme/certificate-state.ts'
import { KnownCertificates } from '../../src/certificates/acme/known-certificates.ts'
import { CertificateOrders } from '../../src/certificates/acme/orders.ts'
import { restOf } from '../../src/certificates/acme/schedule.ts'
import { SecretKeys } from '../../src/base/secrets/secret-keys.ts'
import type { AcmeConfig } from '../../src/config/model/config.ts'
import type { Logger } from '../../src/log/log.ts'
import type { Records, Store } from '../../src/store/contract/store.ts'
import { type AcmeAccount, acmeOwner, type HostCertificate } from '../../src/store/records/acme.ts'
import { RedisChanges } from '../../src/store/redis/changes.ts'
import { SqliteAudit } from '../../src/store/sqlite/audit.ts'
import { Database } from '../../src/store/sqlite/database/database.ts'
import { migrate } from '../../src/store/sqlite/database/migrate.ts'
import { SqliteRecords } from '../../src/store/sqlite/records.ts'
import { SqliteResponses } from '../../src/store/sqlite/stored-responses.ts'
import { Certificate } from '../../src/tls/certificate.ts'
import { type Check, SimulatedAuthority } from './acme.ts'
import { ChangeStream } from './change-stream.ts'
import { type Outcome, type Process, World } from './world.ts'

const [minute, hour] = [60_000, 3_600_000]
/** Ms without a write after which another machine may take a host over, and in which an order is over. */
const leaseTimeout = 15_000
const patience = 45_000
/** Ms for which an authority may be left alone, whatever it asks for, and the longest pause after failures. */
const maxRest = 15 * minute
const maxPause = 7 * hour
/** Ms in which a machine takes a host once it has looked whether its authority may be asked. */
const glance = 10_000
/** Ms in which a machine gives an attempt up that gets nowhere, and after which it gives up the order. */
const maxAttempt = 5 * minute
const maxAge = 24 * hour
/** Ms in which nobody, and no operator, gets a second certificate for a host. */
const leastAge = hour
/** The part of its life that is left to a certificate at its renewal, while everything works. */
const reserve = 1 / 10

const log = { info: () => {}, warn: () => {}, error: () => {} } as unknown as Logger
const secrets = new SecretKeys(Buffer.alloc(32, 1))
const hosts = ['one.example', 'two.example']
const config: AcmeConfig = {
  ...{ directory: 'https://authority.example', email: null, termsAgreed: true, binding: null, ca: null },
  ...{ challenges: ['http-01'], hosts },
} as unknown as AcmeConfig
const states = ['fine', 'fine', 'slow', 'down', 'failing', 'busy', 'odd', 'stuck'] as const

interface Machine {
  readonly process: Process
  readonly changes: RedisChanges
  readonly known: KnownCertificates
  readonly orders: CertificateOrders
  served: AutomaticTls
  /** Whether its workers are being told what to serve. */
  isSharing: boolean
}

interface Holder {
  readonly process: Process
  readonly takenAt: number
  readonly wroteAt: number
}

/** One store for all schedules, which is emptied between them. */
const opening = Database.open(':memory:', { synchronous: 'NORMAL', timeout: 1_000 }).then(async db => {
  await migrate(db)
  return db
})

export async function simulate(seed: number, { traces = false } = {}): Promise<Outcome> {
  const db = await opening
  for (const table of ['acme_accounts', 'certificates']) db.exec(`DELETE FROM ${table}`)
  const world = new World(seed, traces)
  const schedule = new Schedule(world, db)
  await schedule.authority.during(() => world.live(() => schedule.run()))
  return world
}

class Schedule {
  readonly authority: SimulatedAuthority
  readonly #world: World
  readonly #stream: ChangeStream
  readonly #accounts: Records<AcmeAccount>
  readonly #certificates: Records<HostCertificate>
  readonly #machines: Machine[] = []
  /** By the name of a holder and a host. */
  readonly #holders = new Map<string, Holder>()
  /** By host: who is at work on it. */
  readonly #atWork = new Map<string, Process>()
  readonly #may: Readonly<Record<'crash' | 'cut' | 'pause' | 'fail' | 'renew' | 'startAtOnce', boolean>>
  /** How often workers take seconds to hear what to serve. */
  #late: number
  /** Whether nothing happens but that certificates become due. */
  #isQuiet = false
  /** When hours last passed at once, in ms of the world, and how many ms. */
  #jumpedAt = Number.NEGATIVE_INFINITY
  #jumped = 0
  /** When the authority got its last pause, in ms of the world. */
  #restedAt = Number.NEGATIVE_INFINITY

  constructor(world: World, db: Database) {
    this.#world = world
    this.#stream = new ChangeStream(world)
    const { clock } = world.outside
    const responses = new SqliteResponses(db, clock)
    const ledgers = { changes: this.#stream.asLedger, responses, audit: new SqliteAudit(db) }
    this.#accounts = new SqliteRecords<AcmeAccount>(db, ledgers, { name: 'acme_account' })
    this.#certificates = new SqliteRecords<HostCertificate>(db, ledgers, { name: 'certificate' })
    this.authority = new SimulatedAuthority(world, check => this.#responds(check))
    this.authority.life = [8 * 24 * hour, 90 * 24 * hour][world.below(2)]!
    this.authority.wish = world.pick(['none', 'none', 'usual', 'early', 'late'])!
    this.authority.ordered = (host, process) => void this.#judgeOrder(host, process)
    const { network } = world
    network.maxDelay = [0, 20, 150][world.below(3)]!
    network.lost = world.maybe(0.4) ? 0.03 : 0
    network.repeated = world.maybe(0.3) ? 0.1 : 0
    this.#stream.lostNotices = world.maybe(0.3) ? 0.5 : 0
    this.#late = world.maybe(0.4) ? 0.3 : 0
    this.#may = {
      ...{ crash: world.maybe(), cut: world.maybe(), pause: world.maybe(), fail: world.maybe(0.7) },
      ...{ renew: world.maybe(), startAtOnce: world.maybe() },
    }
  }

  async run(): Promise<void> {
    const world = this.#world
    const count = 1 + world.below(3)
    for (let i = 0; i < count; i++) await this.#start(this.#may.startAtOnce ? 0 : 1_000)
    const length = 15 + world.below(25)
    for (let i = 0; i < length && world.faults.length === 0; i++) {
      await this.#next()
      await world.pass(world.maybe(0.3) ? world.below(40_000) : world.below(5_000))
    }
    if (world.faults.length === 0) await this.#end()
    for (const machine of this.#machines) if (machine.process.isAlive) await this.#stop(machine)
    await world.pass(5_000)
  }

  async #next(): Promise<void> {
    const world = this.#world
    for (const { process } of this.#machines)
      if (process.isAlive && process.isPaused && world.maybe(0.3)) world.resume(process)
    const machine = this.#nextMachine()
    const { process } = machine
    const dice = world.below(100)
    if (dice < 20 && this.#may.fail) {
      this.authority.state = world.pick(states)!
      world.note(`the authority is ${this.authority.state}`)
    } else if (dice < 32 && this.#may.crash) {
      await this.#start()
      world.kill(process)
    } else if (dice < 40) {
      await this.#start()
      await this.#stop(machine)
    } else if (dice < 48 && this.#may.cut) await this.#cut(machine)
    else if (dice < 58 && this.#may.pause) process.isPaused ? world.resume(process) : world.pause(process)
    else if (dice < 75) this.#letTimePass((world.random() ** 2 * this.authority.life) / 2)
    else if (dice < 82) this.#letTimePass(world.random() * hour)
    else if (dice < 92 && this.#may.renew) await this.#renew(world.pick(hosts)!)
  }

  /** One that is at work, as often as not. */
  #nextMachine(): Machine {
    const world = this.#world
    const alive = this.#machines.filter(({ process }) => process.isAlive)
    const atWork = [...this.#atWork.values()]
    const busy = world.maybe() ? alive.filter(({ process }) => atWork.includes(process)) : []
    return world.pick(busy) ?? world.pick(alive)!
  }

  /** An operator asks for another certificate, as by `gatehouse certificates renew`. */
  async #renew(host: string): Promise<void> {
    const stored = await this.#certificates.get(acmeOwner, host)
    const now = this.#world.outside.clock.now()
    if (stored === null || stored.record.lease !== null) return
    const { record, version } = stored
    const { issued, lastError, restUntil } = record
    if (isRateLimited(lastError) && restOf(restUntil, now) > now) return
    if (lastError === null && issued !== null && issued.issuedAt > now - leastAge) return
    await this.#certificates.replace({ ...record, requestedAt: now, restUntil: null }, version)
    this.#world.note(`another certificate is asked for ${host}`)
  }

  /** Time in which nobody does anything. */
  #letTimePass(ms: number): void {
    const world = this.#world
    for (const { process } of this.#machines) process.skew += ms
    world.outside.skew += ms
    this.#jumpedAt = world.time
    this.#jumped = ms
    world.note(`${(ms / hour).toFixed(2)} h pass`)
  }

  async #start(time = 1_000): Promise<void> {
    const world = this.#world
    const process = world.process(`m${this.#machines.length}`)
    process.skew = world.outside.skew
    process.troubledAt = world.time
    await world.run(process, () => {
      const machine = this.#machineIn(process)
      this.#machines.push(machine)
      machine.changes.begin()
      void machine.known.open().then(() => machine.orders.follow(config))
    })
    await world.pass(time)
  }

  async #stop({ process, orders, known, changes }: Machine): Promise<void> {
    const world = this.#world
    if (process.isPaused) world.resume(process)
    const stop = async () => {
      await orders.close()
      await known.close()
      changes.close()
      world.kill(process)
    }
    await world.run(process, () => void stop())
  }

  #machineIn(process: Process): Machine {
    const world = this.#world
    const { clock } = process
    const run = (command: readonly unknown[]) => world.call(process, () => this.#stream.run(command))
    const changes = new RedisChanges({ run, script: async () => null }, clock)
    this.#stream.subscribe(process, () => void changes.look())
    const [own, accounts] = [this.#certificates, this.#accounts]
    const certificates = {
      get: (owner: string, id: string) => world.call(process, () => own.get(owner, id)),
      walk: async function* () {
        yield await world.call(
          process,
          async () => (await own.list(acmeOwner, { offset: 0, limit: 9 })).items,
        )
      },
      insert: (record: HostCertificate) => world.call(process, () => own.insert(record)),
      replace: (record: HostCertificate, version: number) =>
        world.call(process, () => this.#replace(process, record, version)),
    }
    const acmeAccounts = {
      get: (owner: string, id: string) => world.call(process, () => accounts.get(owner, id)),
      insert: (record: AcmeAccount) => world.call(process, () => accounts.insert(record)),
      replace: (record: AcmeAccount, version: number) =>
        world.call(process, () => this.#replaceAccount(record, version)),
    }
    const store = { certificates, acmeAccounts, changes, location: 'redis:' } as unknown as Store
    const known = new KnownCertificates({ store, secrets, log, clock })
    let sharing = Promise.resolve()
    // One after the other, as the gateway does.
    const share = () => {
      sharing = sharing.then(async () => {
        const automatic = known.of(hosts)
        machine.isSharing = true
        const time = world.maybe(this.#late) ? world.below(15_000) : world.below(200)
        await new Promise<void>(resolve => void setTimeout(resolve, time))
        machine.isSharing = false
        machine.served = automatic
        this.#judgeServed(process, automatic)
      })
      return sharing
    }
    known.changed = () => void share()
    const orders = new CertificateOrders({
      ...{ store, secrets, certificates: known, log, clock, random: world.random, shared: share },
      connect: async (_, account) => this.authority.connect(process, account),
    })
    const machine: Machine = { process, changes, known, orders, served: nothingAutomatic, isSharing: false }
    return machine
  }

  /** Whether a machine that the authority reaches responds to a challenge. */
  #responds({ host, token, wanted, process, placedAt, startedAt }: Check): boolean {
    const world = this.#world
    const machine = world.pick(this.#machines.filter(({ process }) => process.isAlive && !process.isPaused))
    const response = machine && new Challenges(machine.served.challenges).responseTo(host, token)
    if (response === wanted) return true
    const since = Math.min(world.time - placedAt, patience)
    // An older one may have been given up, after hours that passed at once.
    const isCurrent = world.outside.clock.now() - startedAt < maxAge
    // A machine waits for its own workers, and not for those of others.
    const mustRespond =
      machine?.process === process
        ? world.isWell(process, since)
        : machine?.isSharing === false &&
          this.#machines.every(({ process }) => !process.isAlive || world.isWell(process, patience))
    if (machine !== null && isCurrent && mustRespond)
      world.fault(`${machine.process.name} does not respond to the challenge for ${host}`)
    return false
  }

  #judgeServed({ name }: Process, { identities }: AutomaticTls): void {
    for (const { certificate, key } of identities)
      if (!isPair(certificate, key)) this.#world.fault(`${name} serves a key without its certificate`)
  }

  /** An order begins: whether its host has had the pause that it needs. */
  async #judgeOrder(host: string, { name }: Process): Promise<void> {
    const world = this.#world
    const { record } = (await this.#certificates.get(acmeOwner, host))!
    const isStill = world.time - this.#jumpedAt > patience
    const now = world.outside.clock.now()
    if (
      isStill &&
      record.restUntil !== null &&
      now < record.restUntil - minute &&
      record.requestedAt === null
    )
      world.fault(`${name} orders for ${host} ${record.restUntil - now} ms before its pause is over`)
    if (this.authority.accounts.size > 1) world.fault(`there are ${this.authority.accounts.size} accounts`)
  }

  async #replaceAccount(next: AcmeAccount, version: number): Promise<boolean> {
    const before = await this.#accounts.get(next.account, next.id)
    const isDone = await this.#accounts.replace(next, version)
    if (isDone && next.restUntil !== null && next.restUntil !== before!.record.restUntil)
      this.#restedAt = this.#world.time
    if (isDone && before!.record.sealedKey !== next.sealedKey)
      this.#world.fault('the key of the account is lost')
    return isDone
  }

  async #replace(process: Process, next: HostCertificate, version: number): Promise<boolean> {
    const before = await this.#certificates.get(next.account, next.id)
    const isDone = await this.#certificates.replace(next, version)
    if (isDone) await this.#judge(process, next, before!.record)
    return isDone
  }

  /** A machine begins with a host: whether its authority has had the pause that it wants. */
  async #judgeBegin({ name, resumedAt }: Process, host: string): Promise<void> {
    const world = this.#world
    const [account] = (await this.#accounts.list(acmeOwner, { offset: 0, limit: 1 })).items
    const rest = (account?.restUntil ?? 0) - world.outside.clock.now()
    if (rest > 0 && world.time - Math.max(this.#restedAt, resumedAt) > glance)
      world.fault(`${name} begins with ${host} ${rest} ms before the pause of its authority is over`)
  }

  /** What was written, and whether that may follow from what was there. */
  async #judge(process: Process, next: HostCertificate, before: HostCertificate): Promise<void> {
    const world = this.#world
    const { issued, lease, requestedAt } = before
    const { id: host, failures, restUntil } = next
    const held = lease === null ? undefined : this.#holders.get(`${lease.holder} ${host}`)
    const by = next.lease?.holder ?? null
    world.note(`${process.name}: ${host} ${by === null ? 'free' : 'held'}, ${failures} failures`)
    if (held !== undefined && held.process !== process && this.#mayGoOn(held))
      world.fault(`${process.name} takes ${host} over from ${held.process.name}`)
    if (by === null) this.#atWork.delete(host)
    else {
      const isTaken = next.lease!.beat === 0
      const takenAt = isTaken || held === undefined ? world.time : held.takenAt
      this.#atWork.set(host, process)
      this.#holders.set(`${by} ${host}`, { process, takenAt, wroteAt: world.time })
      if (isTaken) await this.#judgeBegin(process, host)
    }
    const isOut = restUntil !== null && restUntil <= world.outside.clock.now() + 24 * hour + minute
    if (failures > 0 && !isOut && next.requestedAt === null)
      world.fault(`${host} has failed ${failures} times, and rests until ${restUntil}`)
    if (issued === null || next.issued?.chain === issued.chain) return
    if (next.issued === null) return world.fault(`${host} loses its certificate`)
    if (next.issued.issuedAt < issued.issuedAt) world.fault(`${host} gets an older certificate back`)
    const key = secrets.unseal(next.issued.sealedKey, `certificate of ${host}`)
    if (key === null || !isPair(next.issued.chain, key))
      world.fault(`${host} gets the certificate of another key`)
    const now = world.outside.clock.now()
    const { notBefore, notAfter } = new Certificate(issued.chain)
    const part = (notAfter - notBefore) * reserve
    // It may have become due while hours passed at once.
    if (this.#isQuiet && notAfter - now + this.#jumped + patience < part)
      world.fault(`${host} is renewed ${notAfter - now} ms before its certificate expires`)
    if (requestedAt === null && now - issued.issuedAt < Math.min(leastAge, part))
      world.fault(`${host} is renewed ${now - issued.issuedAt} ms after its certificate was issued`)
  }

  /** Whether nobody else may take a host over from its holder. */
  #mayGoOn({ process, takenAt, wroteAt }: Holder): boolean {
    const world = this.#world
    if (world.time - wroteAt < leaseTimeout) return true
    // It knows that it is the holder, since it has written again, and no call of it has failed.
    return process.isAlive && wroteAt > takenAt && world.isWell(process, world.time - takenAt)
  }

  async #cut({ process, changes }: Machine): Promise<void> {
    process.isCutOff = !process.isCutOff
    this.#world.note(`${process.name} ${process.isCutOff ? 'loses' : 'has'} the store`)
    if (process.isCutOff) return
    process.troubledAt = this.#world.time
    if (!process.isPaused) await this.#world.run(process, () => changes.begin())
  }

  /** From now on everything works: for the life of a certificate, each host has one that is valid. */
  async #end(): Promise<void> {
    const world = this.#world
    const { life } = this.authority
    this.authority.state = 'fine'
    world.network.lost = 0
    this.#late = 0
    for (const machine of this.#machines) {
      const { process } = machine
      if (!process.isAlive) continue
      if (process.isPaused) world.resume(process)
      if (process.isCutOff) await this.#cut(machine)
    }
    await world.pass(patience)
    if (this.authority.isStuck) {
      this.#letTimePass(maxAge)
      await world.pass(maxAttempt + patience)
    }
    this.#letTimePass(maxPause + maxRest)
    await world.pass(patience)
    this.#isQuiet = true
    for (let passed = 0; passed < 1.2 * life && world.faults.length === 0; passed += life / 12) {
      await this.#checkAll()
      this.#letTimePass(life / 12)
      await world.pass(patience)
    }
    await this.#checkAll()
  }

  async #checkAll(): Promise<void> {
    const world = this.#world
    const now = world.outside.clock.now()
    for (const host of hosts) {
      const stored = await this.#certificates.get(acmeOwner, host)
      const issued = stored?.record.issued ?? null
      const notAfter = issued === null ? 0 : new Certificate(issued.chain).notAfter
      if (notAfter <= now) world.fault(`${host} has no valid certificate`)
      for (const { process, served } of this.#machines)
        if (process.isAlive && !served.identities.some(({ certificate }) => certificate === issued?.chain))
          world.fault(`${process.name} does not serve the certificate of ${host}`)
    }
  }
}

/** Most are asked for again and again. */
function isPair(certificate: string, key: string): boolean {
  const name = certificate + key
  const known = pairs.get(name)
  if (known !== undefined) return known
  const does = new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))
  if (pairs.size > 1_000) pairs.clear()
  pairs.set(name, does)
  return does
}

const pairs = new Map<string, boolean>()

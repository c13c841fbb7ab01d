// Rotation of client secrets: at no time is an app without a secret that is accepted, whatever is written to its client meanwhile,
// and none is accepted later than a second after its removal was acknowledged.

import { hash } from 'node:crypto'
import type { Api, Call } from '../../src/admin/api/api-types.ts'
import type { ApiResponse } from '../../src/admin/http/envelope.ts'
import { deleteRotatedSecret, rotateSecret } from '../../src/admin/oauth-clients/secrets.ts'
import { SecretKeys } from '../../src/base/secrets/secret-keys.ts'
import { Limiter } from '../../src/limits/limiter.ts'
import type { Logger } from '../../src/log/log.ts'
import { ClientDirectory } from '../../src/oauth/clients/client-directory.ts'
import { mintSecret } from '../../src/oauth/clients/secret.ts'
import { SecretUses } from '../../src/oauth/clients/secret-uses.ts'
import { ClientSecrets } from '../../src/oauth-server/credentials/client-secrets.ts'
import { type Store, StoreUnreachable, type Together } from '../../src/store/contract/store.ts'
import type { OAuthClient } from '../../src/store/records/oauth-client.ts'
import { RedisChanges } from '../../src/store/redis/changes.ts'
import { SqliteAudit } from '../../src/store/sqlite/audit.ts'
import { Database } from '../../src/store/sqlite/database/database.ts'
import { migrate } from '../../src/store/sqlite/database/migrate.ts'
import { SqliteOAuthClients } from '../../src/store/sqlite/oauth-clients.ts'
import { SqliteResponses } from '../../src/store/sqlite/stored-responses.ts'
import { ChangeStream } from './change-stream.ts'
import { type Outcome, type Process, World } from './world.ts'

/** In ms; what a process knows is used for so long without the store. */
const promised = 1_000
const trusted = 5_000
/** Ms after which an operator who hears nothing tries again. */
const patience = 6_000

const account = 'a'.repeat(32)
const keys = new SecretKeys(Buffer.alloc(32, 1))
const log = { info: () => {}, warn: () => {}, error: () => {} } as unknown as Logger

interface Worker {
  readonly process: Process
  readonly changes: RedisChanges
  readonly directory: ClientDirectory
  readonly secrets: ClientSecrets
  readonly api: Api
}

interface Secret {
  readonly name: string
  readonly value: string
  /** Since when it must be accepted, and since when it must not be, in ms of the world. */
  readonly validAt: number
  removedAt: number | null
  isRemoving: boolean
}

/** An app with its secrets, of which an operator rotates one after the other. */
interface App {
  readonly id: string
  readonly secrets: Secret[]
  /** The Idempotency-Key of a rotation of which nobody has heard yet; null for none. */
  rotation: string | null
  isBusy: boolean
}

/** One store for all schedules, which is emptied between them. */
const opening = Database.open(':memory:', { synchronous: 'NORMAL', timeout: 1_000 }).then(async db => {
  await migrate(db)
  return db
})

export async function simulate(seed: number, { traces = false } = {}): Promise<Outcome> {
  const db = await opening
  for (const table of ['oauth_clients', 'stored_responses', 'audit_entries']) db.exec(`DELETE FROM ${table}`)
  const world = new World(seed, traces)
  await world.live(() => new Schedule(world, db).run())
  return world
}

class Schedule {
  readonly #world: World
  readonly #stream: ChangeStream
  readonly #clients: SqliteOAuthClients
  readonly #responses: SqliteResponses
  readonly #apps: App[] = []
  readonly #workers: Worker[] = []
  readonly #may: Readonly<Record<'crash' | 'cut' | 'jump', boolean>>
  #count = 0

  constructor(world: World, db: Database) {
    this.#world = world
    this.#stream = new ChangeStream(world)
    const { clock } = world.outside
    this.#responses = new SqliteResponses(db, clock)
    const ledgers = { changes: this.#stream.asLedger, responses: this.#responses, audit: new SqliteAudit(db) }
    this.#clients = new SqliteOAuthClients(db, ledgers, clock)
    const { network } = world
    network.maxDelay = [0, 20, 150][world.below(3)]!
    network.lost = world.maybe(0.4) ? 0.05 : 0
    network.repeated = world.maybe(0.3) ? 0.1 : 0
    this.#stream.lostNotices = world.maybe(0.3) ? 0.5 : 0
    this.#may = { crash: world.maybe(), cut: world.maybe(), jump: world.maybe(0.3) }
  }

  async run(): Promise<void> {
    const world = this.#world
    const count = 1 + world.below(3)
    for (let i = 0; i < count; i++) await this.#start()
    for (let i = 0; i < 2; i++) await this.#register()
    const length = 30 + world.below(60)
    for (let i = 0; i < length && world.faults.length === 0; i++) {
      await this.#next()
      await world.pass(world.maybe(0.05) ? world.below(20_000) : world.below(500))
    }
    await world.pass(8_000)
    await this.#visitAll()
    await world.pass(5_000)
  }

  async #next(): Promise<void> {
    const world = this.#world
    const app = world.pick(this.#apps)!
    const dice = world.below(100)
    if (dice < 45) await this.#visitAll()
    else if (dice < 65) await this.#rotate(app)
    else if (dice < 75) await this.#remove(app)
    else if (dice < 85) await this.#rename(app)
    else if (dice < 88 && this.#may.crash) {
      await this.#start()
      world.kill(this.#worker().process)
    } else if (dice < 94 && this.#may.cut) await this.#cut(this.#worker())
    else if (this.#may.jump) this.#worker().process.skew += (world.random() - 0.5) * 10_000_000
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
    const ask = <T>(serve: () => Promise<T>) => this.#world.call(process, serve)
    const own = this.#clients
    const oauthClients = {
      find: async (id: string) => (await ask(() => own.get(account, id)))?.record ?? null,
      get: (owner: string, id: string) => ask(() => own.get(owner, id)),
      replace: (client: OAuthClient, version: number, together?: Together) =>
        ask(() => own.replace(client, version, together)),
    }
    const responses = { get: (owner: string, key: string) => ask(() => this.#responses.get(owner, key)) }
    const store = { oauthClients, responses, changes } as unknown as Store
    const uses = new SecretUses({ store, log, clock })
    return {
      ...{ process, changes, directory: new ClientDirectory(store) },
      secrets: new ClientSecrets(keys, uses, new Limiter({ clock }), clock),
      api: { store, secrets: keys, log } as unknown as Api,
    }
  }

  async #register(): Promise<void> {
    const id = hash('md5', `${this.#apps.length} ${this.#world.random()}`)
    const { value, secret } = mintSecret(keys, 0)
    const client = {
      ...{ account, id, name: 'an app', tokenEndpointAuthMethod: 'client_secret_post', secrets: [secret] },
      ...{ verification: null, revision: 1, createdAt: 0, updatedAt: 0, visibility: 'private' },
    } as unknown as OAuthClient
    await this.#world.run(this.#world.outside, () => void this.#clients.insert(client))
    this.#apps.push({ id, secrets: [], rotation: null, isBusy: false })
    this.#add(this.#apps.at(-1)!, value)
  }

  #add(app: App, value: string): void {
    if (app.secrets.some(secret => secret.value === value)) return
    const name = `s${this.#count++}`
    app.secrets.push({ name, value, validAt: this.#world.time, removedAt: null, isRemoving: false })
    this.#world.note(`${name} is valid`)
  }

  /** An operator who hears nothing asks again, elsewhere, with the same key. */
  async #rotate(app: App): Promise<void> {
    if (app.isBusy || app.secrets.filter(({ removedAt }) => removedAt === null).length > 1) return
    app.rotation ??= `rotation ${this.#count++}`
    await this.#ask(app, { idempotencyKey: app.rotation }, rotateSecret, response => {
      if (response === null || response.status === 503) return
      app.rotation = null
      const value = JSON.parse(String(response.body)).result?.client_secret
      if (typeof value === 'string') this.#add(app, value)
      else this.#world.fault(`a rotation ends in ${response.status}`)
    })
  }

  async #remove(app: App): Promise<void> {
    const [old, ...newer] = app.secrets.filter(({ removedAt }) => removedAt === null)
    if (app.isBusy || newer.length === 0) return
    old!.isRemoving = true
    await this.#ask(app, {}, deleteRotatedSecret, response => {
      if (response === null || response.status === 503) return
      old!.removedAt = this.#world.time
      this.#world.note(`that ${old!.name} is removed is acknowledged`)
    })
  }

  /** Something else is written to the client. */
  async #rename({ id }: App): Promise<void> {
    const { process, api } = this.#worker()
    const rename = async () => {
      const { oauthClients } = api.store
      const current = await oauthClients.get(account, id)
      await oauthClients.replace({ ...current!.record, name: 'another name' }, current!.version)
    }
    await this.#world.run(process, () => void rename().catch(ignore))
  }

  async #ask(
    app: App,
    more: Partial<Call>,
    handle: (call: Call, api: Api) => Promise<ApiResponse>,
    take: (response: ApiResponse | null) => void,
  ): Promise<void> {
    const world = this.#world
    const { process, api } = this.#worker()
    app.isBusy = true
    let isOver = false
    const end = (response: ApiResponse | null) => {
      if (isOver) return
      isOver = true
      app.isBusy = false
      take(response)
    }
    const call = {
      ...{ account, caller: { id: 'operator' }, params: { client_id: app.id }, bytes: null },
      ...{ now: process.clock.now(), address: '192.0.2.7', ray: 'ray', ifMatch: null, idempotencyKey: null },
      ...more,
    } as unknown as Call
    const isLost = world.maybe(world.network.lost * 2)
    const act = async () => {
      const response = await handle(call, api).catch(unreachable)
      world.note(`${process.name} responds to ${handle.name} with ${response.status}`)
      if (!isLost) world.later(world.outside, world.below(20), () => end(response))
    }
    world.later(world.outside, patience, () => end(null))
    await world.run(process, () => void act())
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
      for (const app of this.#apps)
        if (worker.process.isAlive)
          await this.#world.run(worker.process, () => void this.#visit(worker, app).catch(ignore))
  }

  /** An app tries all secrets that it has ever known. */
  async #visit({ process, directory, secrets }: Worker, app: App): Promise<void> {
    const world = this.#world
    const { maxDelay } = world.network
    const beganAt = world.time
    const isWell = world.isWell(process, promised + 4 * maxDelay)
    const known = app.secrets.map(secret => [secret, secret.removedAt] as const)
    const client = await directory.find(app.id)
    let accepted = 0
    for (const [secret, removedAt] of known) {
      const { name, value, validAt } = secret
      const verdict = client === null ? null : await secrets.judge(client, value)
      const isAccepted = verdict?.kind === 'right'
      if (isAccepted) accepted++
      world.note(`${process.name} ${isAccepted ? 'accepts' : 'refuses'} ${name}`)
      const isValid = beganAt - validAt > promised + 4 * maxDelay && !secret.isRemoving
      if (!isAccepted && isValid && isWell) world.fault(`${process.name} refuses ${name}, which is valid`)
      const age = removedAt === null ? 0 : beganAt - removedAt
      if (isAccepted && age > (isWell ? promised : trusted) + 4 * maxDelay)
        world.fault(`${process.name} accepts ${name} ${age} ms after its removal was acknowledged`)
    }
    if (accepted === 0 && known.length > 0)
      world.fault(`${process.name} accepts none of ${known.length} secrets`)
  }
}

function unreachable(failure: unknown): Pick<ApiResponse, 'status'> & ApiResponse {
  if (!(failure instanceof StoreUnreachable)) throw failure
  return { status: 503, headers: {}, body: '' } as unknown as ApiResponse
}

function ignore(failure: unknown): void {
  if (!(failure instanceof StoreUnreachable)) throw failure
}

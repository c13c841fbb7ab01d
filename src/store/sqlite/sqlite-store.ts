// The store in an SQLite file, which processes of one machine may share; `:memory:` belongs to a single
// process.

import { existsSync, renameSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Clock, systemClock } from '../../base/clock.ts'
import { makeFolderSync } from '../../base/system/folders.ts'
import { makePrivateFile } from '../../base/system/private-file.ts'
import { StoreMetrics } from '../../metrics/counters/store-metrics.ts'
import type { TokenKey } from '../records/token-key.ts'
import { Degradation } from '../contract/degradation.ts'
import type { Mark, Seen } from '../contract/mark.ts'
import { Trust } from '../contract/trust.ts'
import { type Bootstrap, expectTrusted, type Store, StoreUnreachable } from '../contract/store.ts'
import { SqliteAccounts } from './accounts.ts'
import { SqliteResponses } from './stored-responses.ts'
import { SqliteAudit } from './audit.ts'
import { SqliteAuthorizationEvents } from './authorization-events.ts'
import { JoinedChanges, SqliteChanges } from './changes.ts'
import { type HasGateway, SqliteAnswers } from './answers/answers.ts'
import { SqliteClaims } from './answers/claims.ts'
import { SqliteBudgets } from './budgets.ts'
import { SqliteCounters } from './counters.ts'
import { SqliteCredentials } from './credentials.ts'
import { Database, type DatabaseOptions } from './database/database.ts'
import { SqliteGateways } from './gateways.ts'
import { LogThread, ThreadedLogs } from './logs/log-thread.ts'
import { SqliteLogs } from './logs/logs.ts'
import { migrate } from './database/migrate.ts'
import { named } from './database/transactions.ts'
import { ForeignWrites } from './database/foreign-writes.ts'
import { OpenFiles } from './database/open-files.ts'
import { credentialMigrations, migrations, smallPages } from './database/schema.ts'
import { SqliteMarks } from './marks.ts'
import { SqliteOAuthGrants } from './oauth-grants.ts'
import { SqliteModelRoutes } from './model-routes.ts'
import { SqliteOAuthClients } from './oauth-clients.ts'
import { SqliteTallies } from './tallies.ts'
import type { Ledgers } from './companion-writes.ts'
import { SqliteMembers, SqliteUsers } from './people.ts'
import { SqliteRecords } from './records.ts'
import { SqliteTokens } from './tokens.ts'

/** The connections of a store, some of which may be the same. */
interface Files {
  readonly records: Database
  readonly logs: Database
  /** Writes and searches log entries instead of that connection; null for none. */
  readonly logThread?: LogThread | null
  readonly credentials: Database
  /** In the file of the credentials. */
  readonly budgets: Database
  readonly counters: SqliteCounters
  readonly tallies: SqliteTallies
  readonly answers: SqliteAnswers
  readonly marks: SqliteMarks
  readonly degradation: Degradation
  readonly endWatch?: () => void
  /** Releases what the checks of the files need, once no connection is open. */
  readonly closeWatch?: () => void
  readonly identity?: string
  readonly trust: Trust
}

export interface SqliteOptions {
  /** Timeout of a command, in ms. */
  readonly commandTimeout: number
  readonly clock?: Clock | undefined
  readonly metrics?: StoreMetrics
  /** Whether a thread writes and searches log entries; not in memory. */
  readonly hasLogThread?: boolean
  /** The `openFiles` of another process of the gateway: opens exactly these files and creates none. */
  readonly joins?: string | null
  /** Whether to read the files as they were when opened, without writing to them. */
  readonly isSnapshot?: boolean
}

/** Delay between two checks whether the files are still in place, in ms. */
const watchPeriod = 1_000

// Timeout for opening, in ms. Another process may be migrating the file to the newest schema.
const openTimeout = 10_000

/** Returns how long a write of records or logs waits for other processes, in ms. */
function writeTimeoutFor(commandTimeout: number): number {
  return Math.max(commandTimeout, Math.min(20 * commandTimeout, 10_000))
}

export class SqliteStore implements Store {
  readonly location: string
  readonly degradation: Degradation
  readonly trust: Trust
  readonly accounts: SqliteAccounts
  readonly gateways: SqliteGateways
  readonly modelRoutes: SqliteModelRoutes
  readonly policySets: Store['policySets']
  readonly budgetAlertSets: Store['budgetAlertSets']
  readonly customProviders: Store['customProviders']
  readonly tokens: SqliteTokens
  readonly oauthClients: SqliteOAuthClients
  readonly users: SqliteUsers
  readonly members: SqliteMembers
  readonly credentials: SqliteCredentials
  readonly oauthGrants: SqliteOAuthGrants
  readonly authorizationEvents: SqliteAuthorizationEvents
  readonly signingKeys: Store['signingKeys']
  readonly acmeAccounts: Store['acmeAccounts']
  readonly certificates: Store['certificates']
  readonly ticketKeys: Store['ticketKeys']
  readonly tokenKeys: SqliteRecords<TokenKey>
  readonly notes: Store['notes']
  readonly errorRules: Store['errorRules']
  readonly accessRules: Store['accessRules']
  readonly errorPages: Store['errorPages']
  readonly responses: SqliteResponses
  readonly audit: SqliteAudit
  readonly logs: SqliteLogs
  readonly counters: SqliteCounters
  readonly budgets: SqliteBudgets
  readonly answers: SqliteAnswers
  readonly claims: SqliteClaims
  readonly tallies: SqliteTallies
  readonly peers = null
  readonly changes: JoinedChanges
  readonly openFiles: string | null
  readonly #files: Files
  readonly #changes: SqliteChanges

  /**
   * Opens the file, creating it and its folder (owner only) if missing. Rejects with a sentence if unusable.
   */
  static async open(path: string, options: SqliteOptions): Promise<SqliteStore> {
    if (path === ':memory:') return openMemory(options)
    const file = resolve(path)
    try {
      return await openFile(file, options)
    } catch (error) {
      throw error instanceof UnusableFile ? error : new UnusableFile(file, error)
    }
  }

  constructor(location: string, files: Files, clock: Clock) {
    const { records, logs, logThread, credentials, budgets, counters, tallies, answers } = files
    const { degradation, trust } = files
    this.location = location
    this.degradation = degradation
    this.openFiles = files.identity ?? null
    this.trust = trust
    this.counters = counters
    this.tallies = tallies
    this.answers = answers
    this.#files = files
    this.logs = logThread ? new ThreadedLogs(logs, logThread) : new SqliteLogs(logs)
    const changes = new SqliteChanges(records, clock)
    const ofCredentials = new SqliteChanges(credentials, clock)
    this.#changes = changes
    this.changes = new JoinedChanges([changes, ofCredentials])
    trust.follow(() => void changes.begin())
    this.responses = new SqliteResponses(records, clock)
    this.audit = new SqliteAudit(records)
    const ledgers: Ledgers = { changes, responses: this.responses, audit: this.audit }
    this.gateways = new SqliteGateways(records, ledgers, (account, id) => {
      void this.logs.sweep()
      // What is left after a failure, a sweep removes.
      answers.eraseGateway(account, id).catch(ignore)
    })
    this.modelRoutes = new SqliteModelRoutes(records, ledgers)
    this.policySets = new SqliteRecords(records, ledgers, { name: 'policy_set' })
    this.budgetAlertSets = new SqliteRecords(records, ledgers, { name: 'budget_alert_set' })
    this.customProviders = new SqliteRecords(records, ledgers, { name: 'custom_provider' })
    this.accounts = new SqliteAccounts(records, ledgers, this.gateways)
    this.tokens = new SqliteTokens(records, ledgers)
    this.oauthClients = new SqliteOAuthClients(records, ledgers, clock)
    this.users = new SqliteUsers(records, ledgers)
    this.members = new SqliteMembers(records, ledgers)
    this.credentials = new SqliteCredentials(credentials, ofCredentials, clock)
    this.oauthGrants = new SqliteOAuthGrants(records, ledgers)
    this.authorizationEvents = new SqliteAuthorizationEvents(credentials, clock)
    this.budgets = new SqliteBudgets(budgets, clock)
    this.claims = new SqliteClaims(credentials, budgets, clock)
    this.signingKeys = new SqliteRecords(records, ledgers, { name: 'signing_key' })
    this.acmeAccounts = new SqliteRecords(records, ledgers, { name: 'acme_account' })
    this.certificates = new SqliteRecords(records, ledgers, { name: 'certificate' })
    this.ticketKeys = new SqliteRecords(records, ledgers, { name: 'ticket_key' })
    this.tokenKeys = new SqliteRecords(records, ledgers, { name: 'token_key' })
    this.notes = new SqliteRecords(records, ledgers, { name: 'store_note' })
    this.errorRules = new SqliteRecords(records, ledgers, { name: 'error_rule_list' })
    this.accessRules = new SqliteRecords(records, ledgers, { name: 'access_rule_list' })
    this.errorPages = new SqliteRecords(records, ledgers, { name: 'error_page' })
  }

  readonly deafness = null

  get isUnreachable(): boolean {
    const { records, logs, credentials } = this.#files
    return records.isUnreadable || logs.isUnreadable || credentials.isUnreadable
  }

  get refusal(): string | null {
    const { records, logs, credentials, budgets, counters, tallies } = this.#files
    const all = [records, logs, credentials, budgets, counters, tallies]
    const fault = all.map(file => file.fault).find(fault => fault !== null) ?? null
    return fault === null ? null : `SQLite refuses them: ${fault}`
  }

  async bootstrap({ account, gateway, token, tokenKey }: Bootstrap): Promise<boolean> {
    const isFirst = await this.#files.records.write(() => {
      if (this.accounts.listWithin().length > 0) return false
      this.accounts.insertWithin(account)
      this.gateways.insertWithin(gateway)
      this.tokens.insertWithin(token)
      this.tokenKeys.removeWithin(tokenKey.account, tokenKey.id)
      this.tokenKeys.insertWithin(tokenKey)
      return true
    })
    if (isFirst) await this.#changes.tell()
    return isFirst
  }

  async mark(): Promise<Mark | null> {
    const { logs, marks } = this.#files
    // On the connection that checks nothing.
    return logs.read(() => marks.read())
  }

  /** The identity is set when a file is created or migrated to this version. */
  async adopt(): Promise<Seen> {
    const mark = await this.mark()
    if (mark === null || mark.identity === null) throw new StoreUnreachable()
    return { ...mark, identity: mark.identity, isBehind: false }
  }

  async continueAs({ identity, generation }: Seen, before?: string): Promise<void> {
    const { records, credentials } = this.#files
    const rename = records.command('UPDATE identity SET id = ? WHERE id = coalesce(?, id)')
    await records.write(() => {
      rename(identity, before ?? null)
      if (this.#changes.nextVersion() <= generation) this.#changes.note(generation, 'account', '', '')
    })
    // A write of credentials that saw the earlier identity is committed by the time the lock is acquired.
    await credentials.write(() => {})
  }

  /** Everything that can be read is committed. */
  async confirm(): Promise<void> {}

  async durability(): Promise<readonly string[]> {
    return this.location === memory ? ['Everything is kept in memory and lost when the process stops.'] : []
  }

  async rights(): Promise<readonly string[]> {
    return []
  }

  async size(): Promise<number> {
    // Logs are in the file of the records.
    const { records, credentials } = this.#files
    return (await records.size()) + (await credentials.size())
  }

  async close(): Promise<void> {
    const {
      records,
      logs,
      logThread,
      credentials,
      budgets,
      counters,
      tallies,
      answers,
      endWatch,
      closeWatch,
    } = this.#files
    endWatch?.()
    this.changes.close()
    await logThread?.close()
    for (const file of [answers, tallies, counters, budgets, credentials, logs, records]) file.close()
    closeWatch?.()
  }
}

const memory = 'sqlite::memory:'

async function openMemory({ commandTimeout, clock = systemClock }: SqliteOptions): Promise<SqliteStore> {
  const degradation = new Degradation()
  const trust = new Trust(degradation)
  const check = (isWrite: boolean) => (isWrite ? expectTrusted(degradation) : trust.expectUsable())
  const options = { synchronous: 'FULL', timeout: commandTimeout, check } as const
  const db = await openInMemory(migrations, options)
  db.exec('UPDATE identity SET id = lower(hex(randomblob(16)))')
  const credentials = await openInMemory(credentialMigrations, options)
  const counters = await SqliteCounters.open(':memory:', commandTimeout, clock)
  const tallies = await SqliteTallies.open(':memory:', commandTimeout, clock)
  const answers = await SqliteAnswers.open(':memory:', commandTimeout, clock, hasGatewayIn(db))
  const files = {
    records: db,
    logs: db,
    credentials,
    budgets: credentials,
    counters,
    tallies,
    answers,
    degradation,
    trust,
    marks: new SqliteMarks(db),
  }
  return new SqliteStore(memory, files, clock)
}

/** Empty databases of each schema, as bytes: reading one takes a tenth of the time of the steps to it. */
const images = new Map<readonly string[], Uint8Array>()

async function openInMemory(steps: readonly string[], options: DatabaseOptions): Promise<Database> {
  const image = images.get(steps)
  if (image !== undefined) return Database.open(':memory:', { ...options, image })
  const db = await Database.open(':memory:', options)
  await migrate(db, steps)
  images.set(steps, db.image())
  return db
}

async function openFile(
  file: string,
  {
    commandTimeout,
    clock = systemClock,
    metrics = new StoreMetrics(),
    hasLogThread = false,
    joins = null,
    isSnapshot = false,
  }: SqliteOptions,
): Promise<SqliteStore> {
  const timeout = commandTimeout
  const writeTimeout = writeTimeoutFor(commandTimeout)
  const options = { timeout, writeTimeout, metrics }
  const paths = [file, `${file}-credentials`, `${file}-counts`] as const
  if (joins === null) {
    await makeDatabase(file, '', migrations)
    await makeDatabase(paths[1], smallPages, credentialMigrations).catch(cause => {
      throw new UnusableFile(paths[1], cause)
    })
    await setAsideIfDamaged(paths[2])
  } else expectSame(paths, joins)
  const degradation = new Degradation()
  const trust = new Trust(degradation)
  let [watched, marks]: [readonly WatchedFiles[], SqliteMarks | null] = [[], null]
  const placeOf = (path: string) => (joins === null ? path : existing(path))
  const records = await Database.open(placeOf(file), {
    ...{ synchronous: 'FULL', ...options },
    check: isWrite => {
      marks?.check(trust)
      if (isWrite) check(0)
    },
  })
  const logs = await Database.open(placeOf(file), { synchronous: 'NORMAL', ...options })
  marks = new SqliteMarks(logs)
  // It has no mark of its own: while that of the records is in doubt, none of its data is used.
  const checkOfCredentials = (isWrite: boolean) => {
    if (!isWrite) return trust.expectUsable()
    marks?.check(trust)
    check(1)
  }
  const credentials = await Database.open(placeOf(paths[1]), {
    ...{ synchronous: 'FULL', ...options },
    check: checkOfCredentials,
  })
  // A sync would stop the requests of the process, and most steps are made while one waits.
  const budgets = await Database.open(placeOf(paths[1]), {
    ...{ synchronous: 'NORMAL', ...options },
    check: checkOfCredentials,
  })
  for (const db of [credentials, budgets]) await db.read(() => db.exec(smallPages))
  const counters = await openCounters(paths[2], commandTimeout, clock)
  const tallies = await SqliteTallies.open(paths[2], commandTimeout, clock)
  const answers = await openAnswers(`${file}-answers`, commandTimeout, clock, hasGatewayIn(logs))
  // Credentials first: those of a grant are written after it.
  if (isSnapshot) for (const db of [budgets, credentials, logs, records]) await beginReading(db)
  // SQLite creates the log and its index with the first read.
  for (const db of [records, credentials]) await db.read(() => db.exec('SELECT 1 FROM sqlite_schema'))
  watched = paths.map(path => ({ open: new OpenFiles(path), foreign: new ForeignWrites(path) }))
  const look = (looked = watched) => {
    const difference = looked.map(differenceOf).find(clause => clause !== null) ?? null
    const isNew = difference !== null && !degradation.reasons.some(({ code }) => code === 'file_replaced')
    // After the current transaction, if any: earlier confirmed writes are only in the log that has lost its
    // name.
    if (isNew) setImmediate(() => saveLogs(watched, [records, credentials]))
    degradation.set('file_replaced', difference === null ? null : { message: difference, remedy: putBack })
  }
  let isClosing = false
  // While the store closes, the last writes to one file may run after other files were closed and have
  // disappeared.
  const check = (place: number) => {
    look(isClosing ? watched.slice(place, place + 1) : watched)
    expectTrusted(degradation)
  }
  const watch = setInterval(() => look(), watchPeriod).unref()
  const report = (failure: Error | null) => logs.note(failure)
  const logThread = hasLogThread
    ? new LogThread({ path: file, timeout, writeTimeout, metrics, report })
    : null
  const files = {
    ...{ records, logs, logThread, credentials, budgets, counters, tallies, answers },
    ...{ degradation, trust, marks },
    endWatch: () => {
      isClosing = true
      clearInterval(watch)
    },
    closeWatch: () => {
      for (const { foreign } of watched) foreign.close()
    },
    identity: identityOf(watched.map(({ open }) => open)),
  }
  const store = new SqliteStore(`sqlite:${file}`, files, clock)
  if (!isSnapshot) void store.logs.sweep()
  return store
}

/** Pins all later reads to this moment: the first read in a transaction decides. */
async function beginReading(db: Database): Promise<void> {
  db.exec('BEGIN')
  await db.read(() => db.exec('SELECT 1 FROM sqlite_schema'))
}

interface WatchedFiles {
  readonly open: OpenFiles
  readonly foreign: ForeignWrites
}

function differenceOf({ open, foreign }: WatchedFiles): string | null {
  return open.difference() ?? foreign.find()
}

const putBack =
  'Put the files back as they were, or stop the gateway, restore a backup of all of them, and start it again'

/** Returns a URL with which SQLite creates no file. */
function existing(path: string): URL {
  const url = pathToFileURL(path)
  url.search = 'mode=rw'
  return url
}

/** Moves content that is only in a log without a name to its database, so that it outlives the process. */
function saveLogs(watched: readonly WatchedFiles[], databases: readonly Database[]): void {
  for (const [place, db] of databases.entries()) if (watched[place]!.open.hasLostLog) db.checkpoint()
}

function identityOf(watched: readonly OpenFiles[]): string {
  return watched.map(({ identity }) => identity).join(' ')
}

/** Throws unless these are the files that another process has open. */
function expectSame(paths: readonly string[], identity: string): void {
  const isSame = () => {
    try {
      return identityOf(paths.map(path => new OpenFiles(path))) === identity
    } catch {
      return false
    }
  }
  if (!isSame()) throw new Error('its files were removed or replaced while the gateway had them open')
}

class UnusableFile extends Error {
  constructor(file: string, error: unknown) {
    const cause = error instanceof StoreUnreachable ? error.cause : error
    super(`${file} cannot be used as the store: ${(cause as Error).message}`, { cause })
  }
}

/** Moves a damaged counter file away: sites need not stay down for data that starts over anyway. */
async function setAsideIfDamaged(file: string): Promise<void> {
  const damage = await damageOf(file)
  if (damage === null) return
  const aside = setAside(file)
  process.emitWarning(`${file} is damaged (${damage}) and was renamed to ${aside}; limits count from zero`)
}

/** Returns the new name. */
function setAside(file: string): string {
  const aside = `${file}.damaged-${Date.now()}`
  for (const suffix of ['', '-wal', '-shm'])
    if (existsSync(`${file}${suffix}`)) renameSync(`${file}${suffix}`, `${aside}${suffix}`)
  return aside
}

/** Returns SQLite's description of the damage to a file; null if it is intact or missing. */
async function damageOf(file: string): Promise<string | null> {
  if (!existsSync(file)) return null
  let db: Database | null = null
  try {
    db = await Database.open(file, { synchronous: 'NORMAL', timeout: openTimeout })
    const check = db.prepare('PRAGMA quick_check(1)')
    const [result] = Object.values((await db.read(() => check.get())) ?? {})
    return result === 'ok' ? null : 'database disk image is malformed'
  } catch (error) {
    const { code = '', message } = failureIn(error)
    if (damage.test(code)) return message
    throw new UnusableFile(file, error)
  } finally {
    db?.close()
  }
}

type Failure = Error & { readonly code?: string }

const damage = /^SQLITE_(CORRUPT|NOTADB)/

function failureIn(error: unknown): Failure {
  return (error instanceof StoreUnreachable ? error.cause : named(error)) as Failure
}

/** Creates a file, or migrates it to the newest schema. */
async function makeDatabase(file: string, pragmas: string, steps: readonly string[]): Promise<void> {
  makeFile(file)
  const db = await Database.open(file, { synchronous: 'FULL', timeout: openTimeout })
  try {
    await db.read(() => db.exec(pragmas))
    await migrate(db, steps)
  } finally {
    db.close()
  }
}

async function openCounters(file: string, commandTimeout: number, clock: Clock): Promise<SqliteCounters> {
  makeFile(file)
  // The other processes of a gateway may be creating it, too.
  for (const part of [SqliteCounters, SqliteTallies]) (await part.open(file, openTimeout, clock)).close()
  return SqliteCounters.open(file, commandTimeout, clock)
}

/** Opens the file of the answers, which are a cache: a damaged one is moved away. */
async function openAnswers(
  file: string,
  timeout: number,
  clock: Clock,
  hasGateway: HasGateway,
): Promise<SqliteAnswers> {
  const open = (ms: number) => {
    makeFile(file)
    return SqliteAnswers.open(file, ms, clock, hasGateway)
  }
  try {
    // The other processes of a gateway may be creating it, too.
    ;(await open(openTimeout)).close()
  } catch (error) {
    const { code = '', message } = failureIn(error)
    if (!damage.test(code)) throw new UnusableFile(file, error)
    process.emitWarning(
      `${file} is damaged (${message}) and was renamed to ${setAside(file)}; nothing is cached`,
    )
  }
  return open(timeout)
}

function hasGatewayIn(db: Database): HasGateway {
  const find = db.prepare('SELECT 1 FROM gateways WHERE account = ? AND id = ?')
  return (account, gateway) => db.read(() => find.get(account, gateway) !== undefined)
}

/** SQLite itself would create the file readable for everybody, and its companion files get the same mode. */
function makeFile(file: string): void {
  makeFolderSync(dirname(file), 0o700)
  makePrivateFile(file)
}

function ignore(): void {}

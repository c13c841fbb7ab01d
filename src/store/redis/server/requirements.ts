// The requirements for a Redis as the store, checked at each connection: a server that would refuse or lose
// records is not used.

import { isNodeOfCluster, linesOf } from './server-facts.ts'
import type { Address } from './address.ts'
import type { Client } from './connect.ts'
import { isDenied, isReply, isUnknownCommand } from './failure.ts'
import { deniedRecords, inWords, missingCommands } from './acl.ts'
import { evictionIn } from './settings.ts'

/** The first version with streams, ZPOPMIN, and scripts that write after TIME. */
const oldest = 5

interface Lack {
  readonly what: string
  /** A sentence without a full stop. */
  readonly remedy: string
}

/** Why a server that responds is not used. */
export class Unfit extends Error {
  readonly code = 'UNFIT'
  /** What the operator must do, in a sentence without a full stop. */
  readonly remedy: string

  /** `message` is a clause in lower case. */
  constructor(message: string, remedy: string) {
    super(message)
    this.remedy = remedy
  }
}

interface Answers {
  /** To reading a record. */
  readonly first: unknown
  readonly info: unknown
  readonly hello: unknown
  readonly rights: unknown
}

/** Returns an error that names everything that the server lacks; null if nothing, as far as it tells. */
export async function unfitBy(
  { kind, username }: Pick<Address, 'kind' | 'username'>,
  client: Pick<Client, 'send'>,
  { first, info, hello, rights }: Answers,
): Promise<Unfit | null> {
  const facts = linesOf(typeof info === 'string' ? info : '')
  const isStray = kind !== 'cluster' && isNodeOfCluster(info, hello)
  const lacks = [
    versionLack(facts.get('redis_version')),
    isStray ? nodeLack : null,
    commandLack(await missingCommands(client, rights)),
    rightsLack(deniedRecords(username ?? 'default', rights, first)),
    evictionLack(facts),
  ].filter(lack => lack !== null)
  return lacks.length === 0 ? null : unfit(lacks)
}

/** Returns an error if the driver gave up because the server is not a cluster, or lacks the database. */
export function unfitByLoss({ db }: Pick<Address, 'db'>, reason: unknown): Unfit | null {
  if (!(reason instanceof Error)) return null
  if (reason.message.includes('DB index is out of range')) return unfitDatabase(db, reason)
  const { lastNodeError } = reason as { readonly lastNodeError?: Error }
  if (!lastNodeError?.message.includes('cluster support disabled')) return null
  return unfit([
    { what: 'it is not a cluster', remedy: 'Write redis:// for redis+cluster:// in the store URL' },
  ])
}

/** Returns the error for a database that the server refused; rethrows any other error. */
export function unfitDatabase(db: number, error: unknown): Unfit {
  if (!isReply(error)) throw error
  const isAnyRefused = isDenied(error) || isUnknownCommand(error)
  const what = isAnyRefused ? 'it refuses SELECT' : `it has no database ${db}`
  return unfit([{ what, remedy: 'Name another database in the store URL, or none' }])
}

function unfit(lacks: readonly Lack[]): Unfit {
  const whats = lacks.map(({ what }) => what)
  return new Unfit(
    `the Redis server cannot be the store: ${whats.join('; ')}`,
    lacks.map(({ remedy }) => remedy).join('. '),
  )
}

function versionLack(version: string | undefined): Lack | null {
  if (!(Number.parseInt(version ?? '', 10) < oldest)) return null
  return { what: `it is version ${version}`, remedy: `Run Redis ${oldest} or newer, at best 7.2` }
}

const nodeLack: Lack = {
  what: 'it is a node of a cluster',
  remedy: 'Write redis+cluster:// for redis:// in the store URL',
}

function commandLack(missing: readonly string[]): Lack | null {
  if (missing.length === 0) return null
  const what = `it has no command ${inWords(missing)}`
  return { what, remedy: 'Remove rename-command for them from its configuration' }
}

function rightsLack(denial: ReturnType<typeof deniedRecords>): Lack | null {
  if (denial === null) return null
  const [clause, grants] = denial
  return { what: `it ${clause}`, remedy: `Grant ${grants} with ACL SETUSER` }
}

/**
 * The rules of all zones are in one key, and so are all gateways: once that is evicted, no trace of them is
 * left. Keys that expire are a matter for the warnings of `lossesOf`.
 */
function evictionLack(facts: ReadonlyMap<string, string>): Lack | null {
  if (evictionIn(facts) !== 'any') return null
  const what = `it evicts any key when its memory is full (maxmemory-policy ${facts.get('maxmemory_policy')})`
  return { what, remedy: 'Set maxmemory-policy noeviction' }
}

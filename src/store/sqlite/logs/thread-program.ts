// Runs in the thread of log entries, on a connection of its own, until it is told to close.

import { pathToFileURL } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'
import { type LogSums, StoreUnreachable, StoreUntouched } from '../../contract/store.ts'
import { Database } from '../database/database.ts'
import { named } from '../database/transactions.ts'
import { failureOf, handedSums, type Order, received, type Report, type ThreadOptions } from './handover.ts'
import { SqliteLogs } from './logs.ts'

const port = parentPort!
const { path, ...timeout } = workerData as ThreadOptions

interface Opened {
  readonly db: Database
  readonly logs: SqliteLogs
}

let opening: Promise<Opened> | null = null
let opened: Opened | null = null
const work = new Set<Promise<void>>()

port.on('message', (order: Order | null) => {
  if (order === null) return void close()
  const done: Promise<void> = serve(order).finally(() => work.delete(done))
  work.add(done)
})

async function serve({ id, method, args }: Order): Promise<void> {
  try {
    const { db, logs } = await (opening ??= open())
    if (method === 'append') args[2] = received(args[2] as never) as never
    const result = await (logs[method] as (...args: unknown[]) => unknown)(...args)
    const outcome = { result: method === 'sum' ? handedSums(result as LogSums) : result }
    port.postMessage({ id, outcome, fault: db.fault } satisfies Report)
  } catch (error) {
    const failure = failureOf(error)
    const fault = opened === null ? failure.message : opened.db.fault
    port.postMessage({ id, outcome: { failure }, fault } satisfies Report)
  }
}

async function open(): Promise<Opened> {
  try {
    const url = pathToFileURL(path)
    // A file that is gone must not come back empty, and readable for all.
    url.search = 'mode=rw'
    const db = await Database.open(url, { synchronous: 'NORMAL', ...timeout })
    opened = { db, logs: new SqliteLogs(db) }
    return opened
  } catch (error) {
    opening = null
    throw error instanceof StoreUnreachable ? error : new StoreUntouched(named(error))
  }
}

async function close(): Promise<void> {
  opened?.db.close()
  await Promise.allSettled(work)
  port.close()
}

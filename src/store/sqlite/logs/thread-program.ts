// Runs in the thread that appends log entries: one at a time, on a connection of its own, until it is told to close.

import { pathToFileURL } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'
import { StoreUnreachable, StoreUntouched } from '../../contract/store.ts'
import { Database } from '../database/database.ts'
import { named } from '../database/transactions.ts'
import { LogAppender } from './appender.ts'
import { failureOf, type Order, received, type Report, type ThreadOptions } from './handover.ts'

const port = parentPort!
const { path, ...patience } = workerData as ThreadOptions

let opened: { readonly db: Database; readonly appender: LogAppender } | null = null
let work: Promise<void> = Promise.resolve()

port.on('message', (order: Order | null) => {
  if (order === null) void close()
  else work = serve(order)
})

async function serve(order: Order): Promise<void> {
  port.postMessage(await append(order))
}

async function append({ account, gateway, batch, limit }: Order): Promise<Report> {
  try {
    opened ??= await open()
    const outcome = await opened.appender.append(account, gateway, received(batch), limit)
    return { outcome, fault: opened.db.fault }
  } catch (error) {
    const outcome = failureOf(error)
    return { outcome, fault: opened === null ? outcome.message : opened.db.fault }
  }
}

async function open() {
  try {
    const url = pathToFileURL(path)
    // A file that is gone must not come back empty, and readable for all.
    url.search = 'mode=rw'
    const db = await Database.open(url, { synchronous: 'NORMAL', ...patience })
    return { db, appender: new LogAppender(db) }
  } catch (error) {
    throw error instanceof StoreUnreachable ? error : new StoreUntouched(named(error))
  }
}

async function close(): Promise<void> {
  opened?.db.close()
  await work
  port.close()
}

// One of the processes that write to a file at the same time: as many writers as its argument says, for so many ms. Prints what became of their writes.
import { SqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { hex, token } from '../contract-specimens.ts'

/** What a process of a crowd saw. */
export interface Crowded {
  readonly written: number
  /** The messages of writes that failed. */
  readonly failures: readonly string[]
  /** Ms from the question to the response: half of the writes took no longer, 99 of 100, all. */
  readonly latency: { readonly p50: number; readonly p99: number; readonly most: number }
}

const [file, writers, duration] = process.argv.slice(2) as [string, string, string]
const store = await SqliteStore.open(file, { commandTimeout: 250 })
const end = performance.now() + Number(duration)
const account = hex(16)
const times: number[] = []
const failures: string[] = []

async function write(): Promise<void> {
  while (performance.now() < end) {
    const began = performance.now()
    await store.tokens.insert(token({ account })).then(
      () => times.push(performance.now() - began),
      (error: Error) => failures.push(error.message),
    )
  }
}

await Promise.all(Array.from({ length: Number(writers) }, write))
const { total } = await store.tokens.list(account, { offset: 0, limit: 0 })
if (total !== times.length) failures.push(`${total} tokens are kept`)
await store.close()
times.sort((a, b) => a - b)
const at = (part: number) => Math.round(times[Math.floor((times.length - 1) * part)]! * 10) / 10
const crowded: Crowded = {
  written: times.length,
  failures,
  latency: { p50: at(0.5), p99: at(0.99), most: at(1) },
}
console.log(JSON.stringify(crowded))

// Writes large answers to the file of its argument without end, and tells its parent how many; a test kills it.
import { boundsWithin } from '../../answer-bounds.ts'
import { SqliteStore } from '../../../../src/store/sqlite/sqlite-store.ts'

const mebibyte = 1024 * 1024
const bounds = boundsWithin({ bytes: 32 * mebibyte, entries: 100 }, 10 * mebibyte)
const store = await SqliteStore.open(process.argv[2]!, { commandTimeout: 5_000 })
let count = 0
await Promise.all(Array.from({ length: 3 }, (_, i) => write(i)))

async function write(writer: number): Promise<void> {
  for (let i = 0; ; i++) {
    const place = { account: 'a', gateway: 'default', key: `k${2 * writer + (i % 2)}` }
    await store.answers.write(place, Buffer.alloc(3 * mebibyte + i, i + 1), 4_000_000_000_000, bounds)
    process.send!(++count)
  }
}

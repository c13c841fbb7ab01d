// Consumes credentials of the store of its arguments: ten times at once each whose digest is read, and prints of each time whether it was the first, and when that was.
import { createInterface } from 'node:readline'
import { openStore } from '../../src/store/open.ts'

const store = await openStore(process.argv[2]!, { commandTimeout: 10_000 })
console.log('ready')
for await (const digest of createInterface(process.stdin)) {
  const at = Date.now()
  const tries = Array.from({ length: 10 }, (_, i) =>
    store.credentials.consume('authorization_code', digest, at + i),
  )
  const outcomes = await Promise.all(tries)
  console.log(JSON.stringify(outcomes.map(outcome => [outcome!.isFirst, outcome!.credential.consumedAt])))
}
await store.close()
process.exit()

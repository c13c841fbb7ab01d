// A process with a watch over the store and the DNS server of its arguments; its parent moves its clock, and kills it.

import { createLogger } from '../../src/log/log.ts'
import { DomainWatch } from '../../src/domains/domain-watch.ts'
import { TxtLookup } from '../../src/domains/txt-lookup.ts'
import { openStore } from '../../src/store/open.ts'

let ahead = 0
process.on('message', shift => {
  ahead = shift as number
})
process.on('disconnect', () => process.exit())

const [, , url, resolver, start] = process.argv as string[]
ahead = Number(start)
const clock = { now: () => Date.now() + ahead, monotonic: () => performance.now() }
const store = await openStore(url!, { commandTimeout: 5_000, clock })
const lookup = new TxtLookup({ resolvers: [resolver!], timeout: 20_000 })
const log = createLogger('warn', process.stdout)
new DomainWatch({ store, lookup, log, clock, period: 20 }).start()
process.send!('ready')

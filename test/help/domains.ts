// Proves domains in the process of a test: the watch of a gateway over a store, asking a DNS server on loopback.

import type { TestContext } from 'node:test'
import type { Clock } from '../../src/base/clock.ts'
import { createLogger } from '../../src/log/log.ts'
import { DomainWatch } from '../../src/domains/domain-watch.ts'
import { TxtLookup } from '../../src/domains/txt-lookup.ts'
import type { Store } from '../../src/store/contract/store.ts'
import { type DnsServer, startDns } from './dns.ts'

/** Starts a DNS server and a watch that asks it; both end with the test. */
export async function proveDomains(
  t: TestContext,
  { kept: store, clock }: { readonly kept: Store; readonly clock: Clock },
): Promise<DnsServer> {
  const dns = await startDns(t)
  const lookup = new TxtLookup({ resolvers: [dns.address], timeout: 2_000 })
  const log = createLogger('error', { write: () => {} })
  const watch = new DomainWatch({ store, lookup, log, clock, period: 50 })
  watch.start()
  t.after(async () => {
    await watch.close()
    lookup.close()
  })
  return dns
}

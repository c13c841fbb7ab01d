// Places in both backends where clients wait for their proof, and the time that passes there.

import type { TestContext } from 'node:test'
import { createLogger } from '../../src/log/log.ts'
import { Metrics } from '../../src/metrics/metrics.ts'
import { verificationFor } from '../../src/domains/challenge.ts'
import { DomainWatch } from '../../src/domains/domain-watch.ts'
import { TxtLookup } from '../../src/domains/txt-lookup.ts'
import type { DomainVerification, OAuthClient } from '../../src/store/records/oauth-client.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store, Versioned } from '../../src/store/contract/store.ts'
import { ManualClock } from '../help/clock.ts'
import { type DnsServer, startDns } from '../help/dns.ts'
import { startRedis } from '../help/redis.ts'
import { oauthClient } from '../store/contract-specimens.ts'
import { temporaryFile } from '../store/sqlite/temporary-file.ts'

export const backends: Readonly<Record<string, (t: TestContext) => Promise<string>>> = {
  SQLite: async t => `sqlite:${temporaryFile(t)}`,
  Redis: async t => (await startRedis(t, { aof: 'everysec' })).url,
}

export interface Watching {
  readonly watch: DomainWatch
  readonly metrics: Metrics
  /** What it logged. */
  readonly lines: Record<string, unknown>[]
}

/** A store and a DNS server whose time is in the hands of the test. */
export class Proving {
  readonly t: TestContext
  readonly url: string
  readonly store: Store
  readonly dns: DnsServer
  readonly clock: ManualClock

  constructor(t: TestContext, url: string, store: Store, dns: DnsServer, clock: ManualClock) {
    this.t = t
    this.url = url
    this.store = store
    this.dns = dns
    this.clock = clock
  }

  static async open(t: TestContext, place: (t: TestContext) => Promise<string>): Promise<Proving> {
    const clock = new ManualClock()
    const url = await place(t)
    const store = await openStore(url, { commandTimeout: 5_000, clock })
    t.after(() => store.close())
    return new Proving(t, url, store, await startDns(t), clock)
  }

  /** Starts a watch, which looks at what is due all the time unless `period` says otherwise. */
  watch({ period = 2, lookup = this.lookup(), store = this.store } = {}): Watching {
    const lines: Watching['lines'] = []
    const log = createLogger('info', { write: line => lines.push(JSON.parse(line)) })
    const metrics = new Metrics('0')
    const { clock } = this
    const watch = new DomainWatch({ store, lookup, log, metrics: metrics.domainChecks, clock, period })
    this.t.after(() => watch.close())
    watch.start()
    return { watch, metrics, lines }
  }

  lookup(): TxtLookup {
    return new TxtLookup({ resolvers: [this.dns.address], timeout: 20_000 })
  }

  /** Keeps a client whose client_uri has just been set. */
  async client(host: string): Promise<OAuthClient> {
    const now = this.clock.now()
    const clientUri = `https://${host}/`
    const verification = verificationFor(null, clientUri, now) as DomainVerification
    const client = oauthClient({ clientUri, verification, createdAt: now, updatedAt: now })
    await this.store.oauthClients.insert(client)
    return client
  }

  async read({ account, id }: OAuthClient): Promise<OAuthClient> {
    return (await this.store.oauthClients.get(account, id))!.record
  }

  /** Changes a client as a PATCH does. */
  async change(
    { account, id }: OAuthClient,
    changes: (kept: OAuthClient) => Partial<OAuthClient>,
  ): Promise<OAuthClient> {
    for (;;) {
      const { record, version } = (await this.store.oauthClients.get(account, id)) as Versioned<OAuthClient>
      const next = { ...record, ...changes(record), revision: record.revision + 1 }
      if (await this.store.oauthClients.replace(next, version)) return next
    }
  }

  /** Sets client_uri, to what it was or another one. */
  setUri(client: OAuthClient, clientUri: string): Promise<OAuthClient> {
    const now = this.clock.now()
    return this.change(client, ({ verification }) => {
      const next = verificationFor(verification, clientUri, now)
      if (next === 'host_frozen') throw new Error('the host is frozen')
      return { clientUri, verification: next }
    })
  }

  /** Waits until it holds of the verification. */
  async until(
    client: OAuthClient,
    holds: (verification: DomainVerification, client: OAuthClient) => boolean,
  ): Promise<OAuthClient> {
    for (;;) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const unfollow = this.store.changes.follow(() => resolve())
      try {
        const kept = await this.read(client)
        if (holds(kept.verification!, kept)) return kept
        await promise
      } finally {
        unfollow()
      }
    }
  }

  /** Moves time to the next look at a client, and waits for what comes of it. */
  async nextCheck(client: OAuthClient): Promise<OAuthClient> {
    const { nextCheckAt, checks } = (await this.read(client)).verification!
    this.clock.advance(Math.max(0, nextCheckAt! - this.clock.now()))
    return this.until(client, verification => verification.checks > checks)
  }
}

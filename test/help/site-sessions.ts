// An edge with a site behind a gate for people, and people who have signed in there.

import type { TestContext } from 'node:test'
import type { Clock } from '../../src/base/clock.ts'
import type { SignInGateConfig } from '../../src/config/model/protect-config.ts'
import { newValue } from '../../src/people/records/secret-value.ts'
import { KnownSiteSessions } from '../../src/people/sessions/known-site-sessions.ts'
import { type Session, Sessions } from '../../src/people/sessions/sessions.ts'
import { challengeOf, SiteSessions } from '../../src/people/sessions/site-sessions.ts'
import { openStore } from '../../src/store/open.ts'
import type { User } from '../../src/store/records/people.ts'
import { TokenTags } from '../../src/tokens/token-tags.ts'
import { Settlement } from '../people/settlement.ts'
import { Edge, type EdgeSettings, edgeConfig, listenAt } from './edge.ts'
import { HaltingClock } from './clock.ts'

/** Somebody with a session at the site. */
export interface Visitor {
  readonly user: User
  /** At our own pages. */
  readonly session: Session
  readonly cookie: string
}

export const anyone: SignInGateConfig = {
  ...{ kind: 'sign_in', accounts: [], roles: [], domains: [], condition: null, fields: [] },
  endsOpen: false,
}

const site = 'http://localhost'
const browser = { address: '127.0.0.1', userAgent: null, ray: '0123456789abcdef' }

export interface SiteParts {
  readonly gate?: Partial<SignInGateConfig>
  readonly settings?: EdgeSettings
  readonly clock?: Clock
  readonly storeUrl?: string
  /** Ms that sessions live on without the store. */
  readonly grace?: number
}

/** Puts the gate before an origin, at localhost. */
export async function startGatedSite(t: TestContext, origin: string, parts: SiteParts = {}) {
  const { gate, settings, storeUrl = 'sqlite::memory:', grace = 600_000 } = parts
  const clock = parts.clock ?? new HaltingClock(t)
  const store = await openStore(storeUrl, { commandTimeout: 5_000, clock })
  t.after(() => store.close())
  const sessions = new Sessions(store, clock)
  const protect = [{ ...anyone, ...gate }]
  const config = edgeConfig([origin], {
    ...{ h2c: true, zone: { hosts: ['localhost'] }, ...settings },
    route: { protect, ...settings?.route },
  })
  const tags = new TokenTags(store)
  const known = new KnownSiteSessions({ store, tags, grace, clock })
  const edge = await listenAt(t, new Edge(t, config, { clock, sessions: known }))
  const town = new Settlement(store)

  async function visit(): Promise<Visitor> {
    const user = await town.settle()
    const proof = { method: 'password', secondFactor: false, at: clock.now() } as const
    const { session } = await sessions.begin(user, proof, browser)
    const sites = new SiteSessions(store, tags, clock)
    const verifier = newValue().value
    const code = await sites.issueCode(session, { site, challenge: challengeOf(verifier) })
    return { user, session, cookie: `gatehouse-site=${await sites.begin(code, site, verifier)}` }
  }

  return { edge, store, sessions, town, visit }
}

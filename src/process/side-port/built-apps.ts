// Builds the apps of the side port after the start: they are a large part of the program.

import type { IncomingMessage } from 'node:http'
import { systemClock } from '../../base/clock.ts'
import type { Logger } from '../../log/log.ts'
import type { PeopleMetrics } from '../../metrics/counters/people-metrics.ts'
import { publicOrIn } from '../../net/address/public-address.ts'
import type { Config, Listener } from '../../config/model/config.ts'
import { People } from '../../people/people.ts'
import { Sessions } from '../../people/sessions/sessions.ts'
import { SiteSessions } from '../../people/sessions/site-sessions.ts'
import { signOut } from '../../people/sessions/sign-out.ts'
import { apiOf } from '../../oauth/grants/resource-indicator.ts'
import { RouteResources } from '../../oauth/grants/route-resources.ts'
import type { Api } from '../../store/records/records.ts'
import { endCookie, readCookies } from '../../pages/forms/cookies.ts'
import { PersonTokens } from '../../people/sign-in/person-token.ts'
import type { AdminServer } from '../../admin/server.ts'
import { DashboardFace } from '../../dashboard/dashboard.ts'
import { AuthorizationServer } from '../../oauth-server/authorization-server.ts'
import { Grants } from '../../sign-in/connected-apps.ts'
import { SignInFace } from '../../sign-in/face.ts'
import { SiteFace } from '../../sign-in/site-face.ts'
import { Sites } from '../../sign-in/sites.ts'
import { AiEndpoint } from './ai-endpoint.ts'
import type { Management } from '../services/management.ts'
import { dashboardOrigins, hasOAuth, isReachable, servesDashboard } from '../ports/pages-url.ts'
import type { Services } from '../services/services.ts'

export interface AppParts {
  readonly config: Config
  readonly services: Services
  readonly management: Management
  readonly sidePort: () => string
  readonly edge: () => { readonly config: Config; readonly endpoints: readonly Listener[] }
  readonly metrics: PeopleMetrics
  readonly askAs: AdminServer['askAs']
  readonly log: Logger
}

export interface BuiltApps {
  readonly signIn: SignInFace
  readonly dashboard: DashboardFace
  readonly sites: SiteFace
  readonly oauth: AuthorizationServer | null
  readonly close: () => Promise<void>
}

export function buildApps(parts: AppParts): BuiltApps {
  const oauth = hasOAuth(parts.config) ? buildOAuth(parts) : null
  const { people, ...pages } = buildPages(parts, oauth)
  const close = async () => {
    await Promise.all([people.close(), oauth?.close()])
  }
  return { ...pages, oauth, close }
}

function buildOAuth(parts: AppParts): AuthorizationServer {
  const { config, services, management, sidePort, metrics, log } = parts
  const { oauth } = config
  const issuer = () => issuerOf({ config, sidePort })
  const { store, limiter, tags } = services
  const sessions = new Sessions(store)
  const sessionIn = ({ headers }: Pick<IncomingMessage, 'headers'>) =>
    readCookies(headers.cookie, issuer().startsWith('https:')).gatehouse
  return new AuthorizationServer({
    config: oauth,
    issuer,
    store,
    tags,
    secrets: management.secrets,
    limiter,
    metrics,
    log,
    personOf: async request => {
      const current = await sessions.find(sessionIn(request) ?? '')
      if (current === null) return null
      const { session, user } = current
      return { user: user.id, email: user.email, signedInAt: session.authenticatedAt }
    },
    signOut: async (request, response, visit) => {
      await signOut(sessionIn(request) ?? '', visit, { store, sessions, clock: systemClock })
      response.appendHeader('set-cookie', endCookie('gatehouse', issuer().startsWith('https:')))
    },
    verify: (value, address) => services.tokens.verify(value, address, 'management'),
    apiOf: apiFinder(parts),
    routes: routesOf(parts),
    documents: { isAllowed: publicOrIn(oauth.clientIdMetadataDocuments.allowNetworks) },
  })
}

function buildPages(parts: AppParts, oauth: AuthorizationServer | null) {
  const { config, services, management, sidePort, askAs, metrics, log } = parts
  const { store } = services
  const people = new People({ store, keys: management.secrets, config: config.people, metrics, log })
  const issuer = () => (oauth === null ? [] : [issuerOf(parts)])
  const dashboard = () => dashboardOrigins(parts.edge().config)
  const own = () => (isReachable(config) ? [sidePort()] : [])
  const interactions = oauth?.interactions ?? null
  const entrance = new AiEndpoint(parts.edge)
  const knowsScheme = () => parts.edge().config.trustedProxies.length > 0
  const sites = new Sites(() => parts.edge().config.zones)
  const siteSessions = new SiteSessions(store, services.tags)
  const signInAt = () => config.oauth.issuer ?? dashboard()[0] ?? own()[0] ?? null
  return {
    people,
    signIn: new SignInFace({
      people,
      grants: new Grants(store, oauth === null ? () => null : apiFinder(parts), routesOf(parts)),
      interactions,
      site: { sites, sessions: siteSessions },
      origins: () => [...issuer(), ...dashboard(), ...own()],
      hasDashboard: origin => own().includes(origin) || servesDashboard(config, origin),
      knowsScheme,
    }),
    sites: new SiteFace({
      ...{ sites, siteSessions, sessions: people.sessions, store },
      ...{ pages: signInAt, clock: systemClock },
    }),
    dashboard: new DashboardFace({
      people,
      persons: new PersonTokens(store),
      askAs,
      origins: () => [...dashboard(), ...own(), ...issuer()],
      issuer: () => issuerOf(parts),
      entrance: () => entrance.current,
      knowsScheme,
    }),
  }
}

function apiFinder(parts: AppParts): (resource: string) => Api | null {
  const routes = routesOf(parts)
  return resource => apiOf(resource, { issuer: issuerOf(parts), aiHosts: parts.config.ai.hosts, routes })
}

function routesOf({ edge }: AppParts): RouteResources {
  return new RouteResources(() => edge().config)
}

function issuerOf({ config, sidePort }: Pick<AppParts, 'config' | 'sidePort'>): string {
  return config.oauth.issuer ?? sidePort()
}

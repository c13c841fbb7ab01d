// The sections of the dashboard, in the order of the navigation.

import { paths } from './paths.ts'

interface Section {
  readonly title: string
  readonly path: (account: string) => string
  /** The place of what it is made of, in the list of the operations of the API. */
  readonly api: string
}

/** Whoever may not see the page of one does not see its name. */
export const sections: readonly Section[] = [
  { title: 'Overview', path: paths.home, api: 'gateway' },
  { title: 'OAuth clients', path: paths.clients, api: 'oauth-clients' },
  { title: 'Zones', path: paths.zones, api: 'zones' },
  { title: 'Errors', path: paths.errors, api: 'custom-errors' },
  { title: 'AI gateways', path: paths.gateways, api: 'ai-gateways' },
  { title: 'Providers', path: paths.providers, api: 'ai-providers' },
  { title: 'Members', path: paths.members, api: 'members' },
  { title: 'API tokens', path: paths.tokens, api: 'api-tokens' },
  { title: 'Your tokens', path: paths.ownTokens, api: 'api-tokens' },
  { title: 'Audit log', path: paths.audit, api: 'audit-logs' },
]

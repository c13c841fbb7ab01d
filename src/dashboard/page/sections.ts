// The sections of the dashboard, in the order of the navigation.

import { paths } from './paths.ts'

interface Section {
  readonly title: string
  readonly path: (account: string) => string
  readonly api: string
  readonly guide: string
}

/** The name of a section is hidden from people who may not see its page. */
export const sections: readonly Section[] = [
  { title: 'Overview', path: paths.home, api: 'gateway', guide: 'dashboard' },
  { title: 'OAuth clients', path: paths.clients, api: 'oauth-clients', guide: 'oauth' },
  { title: 'Zones', path: paths.zones, api: 'zones', guide: 'rules-and-limits' },
  { title: 'Errors', path: paths.errors, api: 'custom-errors', guide: 'errors' },
  { title: 'AI gateways', path: paths.gateways, api: 'ai-gateways', guide: 'ai-gateways' },
  { title: 'Providers', path: paths.providers, api: 'ai-providers', guide: 'providers' },
  { title: 'Members', path: paths.members, api: 'members', guide: 'people' },
  { title: 'API tokens', path: paths.tokens, api: 'api-tokens', guide: 'people' },
  { title: 'Your tokens', path: paths.ownTokens, api: 'api-tokens', guide: 'people' },
  { title: 'Audit log', path: paths.audit, api: 'audit-logs', guide: 'oauth' },
]

// The sections of the dashboard, in the order of the navigation.

import { paths } from './paths.ts'

interface Section {
  readonly title: string
  readonly path: (account: string) => string
}

/** Whoever may not see the page of one does not see its name. */
export const sections: readonly Section[] = [
  { title: 'Overview', path: paths.home },
  { title: 'OAuth clients', path: paths.clients },
  { title: 'Zones', path: paths.zones },
  { title: 'Errors', path: paths.errors },
  { title: 'AI gateways', path: paths.gateways },
  { title: 'Providers', path: paths.providers },
  { title: 'Members', path: paths.members },
  { title: 'API tokens', path: paths.tokens },
  { title: 'Your tokens', path: paths.ownTokens },
  { title: 'Audit log', path: paths.audit },
]

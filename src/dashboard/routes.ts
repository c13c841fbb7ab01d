// Every page of the dashboard. If two routes match a path, the first applies.

import type { Route } from './page/page-request.ts'
import { auditRoutes } from './audit/routes.ts'
import { clientRoutes } from './oauth-clients/routes.ts'
import { docsRoutes } from './docs-routes.ts'
import { errorRoutes } from './errors/routes.ts'
import { gatewayRoutes } from './gateways/routes.ts'
import { logRoutes } from './logs/routes.ts'
import { memberRoutes } from './members/routes.ts'
import { ownTokenRoutes } from './tokens/own-token-routes.ts'
import { overviewRoutes } from './overview/routes.ts'
import { providerRoutes } from './providers/routes.ts'
import { tokenRoutes } from './tokens/routes.ts'
import { zoneRoutes } from './zones/routes.ts'

export const routes: readonly Route[] = [
  ...overviewRoutes,
  ...clientRoutes,
  ...zoneRoutes,
  ...errorRoutes,
  ...gatewayRoutes,
  ...logRoutes,
  ...providerRoutes,
  ...memberRoutes,
  ...tokenRoutes,
  ...ownTokenRoutes,
  ...auditRoutes,
  ...docsRoutes,
]

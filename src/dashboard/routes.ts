// Every page of the dashboard. Of two routes that fit a path, the first has it.

import type { Route } from './ask.ts'
import { showHome } from './home.ts'
import { clientRoutes } from './oauth-clients/routes.ts'
import { memberRoutes } from './members/routes.ts'
import { tokenRoutes } from './tokens/routes.ts'
import { zoneRoutes } from './zones/routes.ts'

export const routes: readonly Route[] = [
  { path: '/dashboard/{account}', permission: null, show: showHome },
  ...clientRoutes,
  ...zoneRoutes,
  ...memberRoutes,
  ...tokenRoutes,
]

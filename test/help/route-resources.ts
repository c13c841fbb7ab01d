// The routes that access tokens open, for tests that have none.

import { RouteResources } from '../../src/oauth/grants/route-resources.ts'

export const noRoutes = new RouteResources(() => ({ zones: [], scopes: [] }))

// The first page of an account.

import type { Route } from '../page/page-request.ts'
import { hideSteps } from './first-steps.ts'
import { showOverview } from './handlers.ts'
import { search } from './search.ts'

export const overviewRoutes: readonly Route[] = [
  { path: '/dashboard/{account}', permission: null, show: showOverview },
  { path: '/dashboard/{account}/first-steps/hide', permission: null, take: hideSteps, effect: 'sets' },
  { path: '/dashboard/{account}/find', permission: null, show: search },
]

// The handler of the overview: the state of an account, and what needs attention in it.

import { apiPath } from '../page/api-client.ts'
import type { Handler } from '../page/page-request.ts'
import type { Attention, FrequentError, Overview } from './overview.ts'
import { firstSteps } from './first-steps.ts'
import { overviewView } from './views.ts'

const maxErrors = 10

export const showOverview: Handler = async request => {
  const of = (name: string) => apiPath('accounts', request.account.id, name)
  const [overview, attention, errors] = await Promise.all([
    request.api.get<Overview>(of('overview')),
    request.api.get<Attention>(of('attention')),
    request.may('Analytics Read')
      ? request.api.get<FrequentError[]>(of('errors'), { order: 'count', per_page: maxErrors })
      : null,
  ])
  return overviewView({
    ask: request,
    overview: overview.result,
    attention: attention.result,
    errors: errors?.result ?? null,
    steps: await firstSteps(request, overview.result),
  })
}

// The handler of the overview: how an account is doing, and what needs attention in it.

import { apiPath } from '../api.ts'
import type { Ask, Handler } from '../ask.ts'
import type { Attention, FrequentError, Overview } from './overview.ts'
import { overviewView } from './views.ts'

/** Errors that are listed. */
const most = 10

export const showOverview: Handler = async ask => {
  const of = (name: string) => apiPath('accounts', ask.account.id, name)
  const [overview, attention, errors] = await Promise.all([
    ask.api.get<Overview>(of('overview')),
    ask.api.get<Attention>(of('attention')),
    ask.may('Analytics Read')
      ? ask.api.get<FrequentError[]>(of('errors'), { order: 'count', per_page: most })
      : null,
  ])
  if (!overview.ok) return overview
  if (!attention.ok) return attention
  if (errors?.ok === false) return errors
  const { requests } = overview.result
  const isIdle = requests === undefined || requests.hours.every(({ zones }) => zones.length === 0)
  return overviewView({
    ask,
    overview: overview.result,
    attention: attention.result,
    errors: errors?.result ?? null,
    isNew: isIdle && (await isUntouched(ask)),
  })
}

/** Whether an account has no OAuth client yet, nor a token besides that of its first start. */
async function isUntouched({ account, api, may }: Ask): Promise<boolean> {
  const countOf = async (kind: string) => {
    const listed = await api.get(apiPath('accounts', account.id, kind), { per_page: 5 })
    return listed.ok ? listed.info!.total_count : 0
  }
  const [clients, tokens] = await Promise.all([
    may('OAuth Clients Read') ? countOf('oauth_clients') : 0,
    may('API Tokens Read') ? countOf('tokens') : 0,
  ])
  return clients === 0 && tokens < 2
}

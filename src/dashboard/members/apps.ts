// Members' grants to apps in the account: the list, and ending them.

import { html } from '../../base/text/html.ts'
import { mixedScripts } from '../../oauth/clients/name-scripts.ts'
import { markedName } from '../../pages/parts/app-mark.ts'
import { isolated } from '../../pages/parts/components.ts'
import { apiPath } from '../page/api-client.ts'
import type { PageRequest, Handler } from '../page/page-request.ts'
import { redirectWith } from '../page/flash-messages.ts'
import { confirmationPage } from '../parts/forms.ts'
import { badge, emptyState, pager, table } from '../parts/lists.ts'
import { nextStep, stepLink } from '../parts/next-step.ts'
import { resourceOf, time } from '../parts/values.ts'
import { paths } from '../page/paths.ts'
import { appOf, type Grant } from './member.ts'

export const showApps: Handler = async request => {
  const response = await request.api.get<Grant[]>(apiPath('accounts', request.account.id, 'oauth_grants'), {
    page: request.query.get('page'),
  })
  const view = { title, crumbs: crumbsOf(request) }
  if (response.info!.total_count === 0)
    return {
      ...view,
      content: emptyState(
        'No app acts for a member',
        'When a member allows an app to act for them in this account, it is listed here, and can be ended. Register an app first, as an OAuth client.',
        nextStep(
          request,
          'OAuth Clients Write',
          stepLink(paths.newClient(request.account.id), 'Create a client'),
        ),
      ),
    }
  const columns = [
    {
      title: 'App',
      isName: true,
      cell: (grant: Grant) =>
        markedName(
          appOf(grant),
          html`${isolated(appOf(grant))}${mixedScripts(appOf(grant)).length > 0 && html` ${badge('mixed scripts', 'bad')}`}${grant.client.verified_host !== undefined && html` <span class="hint">by ${isolated(grant.client.verified_host)}</span>`}`,
        ),
    },
    { title: 'Member', cell: ({ user }: Grant) => isolated(user.email ?? user.id) },
    { title: 'May', cell: ({ scopes }: Grant) => scopes.join(', ') },
    { title: 'At', cell: ({ resource }: Grant) => resourceOf(resource) },
    { title: 'Since', cell: ({ created_at }: Grant) => time(created_at) },
    ...(request.may('Members Write')
      ? [
          {
            title: 'End',
            cell: ({ id }: Grant) =>
              html`<a class="whole" href="${paths.endApp(request.account.id, id)}">End…</a>`,
          },
        ]
      : []),
  ]
  return {
    ...view,
    isWide: true,
    content: html`${table('Apps that act for members', columns, response.result)}${pager(paths.apps(request.account.id), request.query, response.info!)}`,
  }
}

export const confirmEndApp: Handler = async request => {
  const response = await request.api.get<Grant>(grantOf(request))
  const { user } = response.result
  const apps = paths.apps(request.account.id)
  return confirmationPage({
    title: 'End what this app may do?',
    crumbs: [...crumbsOf(request), { title, path: apps }],
    frame: request.frameFor(request.path),
    what: html`<p>${isolated(appOf(response.result))} can no longer act for ${isolated(user.email ?? user.id)} in this account: its tokens end at once. To act for them again, it needs their consent again.</p>`,
    send: 'End it',
    cancel: apps,
  })
}

export const endApp: Handler = async request => {
  const ended = await request.api.delete(grantOf(request))
  return ended.ok ? redirectWith(paths.apps(request.account.id), 'app-ended') : ended
}

const title = 'Apps that act for members'

function grantOf({ account, params }: PageRequest): string {
  return apiPath('accounts', account.id, 'oauth_grants', params.grant!)
}

function crumbsOf({ account }: PageRequest) {
  return [{ title: 'Members', path: paths.members(account.id) }]
}

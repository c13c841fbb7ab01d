// The first steps in an account: which are done, according to the management API and the person's own record,
// and the list that shows them until all are, or the person hides it.

import { type Html, html } from '../../base/text/html.ts'
import { button, form, sign } from '../../pages/parts/components.ts'
import { paths as ownPaths } from '../../pages/parts/paths.ts'
import { redirectTo } from '../../pages/parts/layout.ts'
import { hasSecondFactor } from '../../people/second-factor/second-factor.ts'
import { apiPath } from '../page/api-client.ts'
import type { PageRequest, Handler } from '../page/page-request.ts'
import { paths } from '../page/paths.ts'
import type { Overview } from './overview.ts'

interface Step {
  readonly title: string
  readonly text: string
  readonly path: string
  readonly link: string
  readonly isDone: boolean
}

const maxGateways = 5

/**
 * Returns the steps that the person may take; null if the list is not shown to them: all are done, or they
 * have hidden it.
 */
export async function firstSteps(
  request: PageRequest,
  { requests }: Overview,
): Promise<readonly Step[] | null> {
  const { account, actor, may } = request
  if (actor.user.hiddenFirstSteps?.includes(account.id)) return null
  const hasRequests = requests?.hours.some(({ zones }) => zones.length > 0) ?? false
  const [ofCalls, clients, members] = await Promise.all([
    may('AI Gateway Read') ? stepsOfCalls(request) : [],
    may('OAuth Clients Write') ? countOf(request, 'oauth_clients') : null,
    may('Members Write') ? countOf(request, 'members') : null,
  ])
  const steps: readonly (Step | false)[] = [
    ...ofCalls,
    actor.user.password !== null && {
      title: 'Turn on two-step sign-in',
      text: 'A passkey, or a code from your phone, protects what a password alone would open.',
      path: ownPaths.account,
      link: 'Your profile',
      isDone: hasSecondFactor(actor.user),
    },
    members !== null && {
      title: 'Invite a colleague',
      text: 'Roles decide what each member may see and do.',
      path: paths.newMember(account.id),
      link: 'Invite',
      isDone: members > 1,
    },
    clients !== null && {
      title: 'Register an app',
      text: 'It gets tokens when people sign in and allow it to act for them (OAuth).',
      path: paths.newClient(account.id),
      link: 'Create a client',
      isDone: clients > 0,
    },
    may('Zones Read') && {
      title: 'Serve a site',
      text: 'Zones have hosts, routes and origins. Try what would happen to a request, without sending it.',
      path: paths.zones(account.id),
      link: 'Zones',
      isDone: hasRequests,
    },
  ]
  const visible = steps.filter(step => step !== false)
  return visible.every(({ isDone }) => isDone) ? null : visible
}

interface Gateway {
  readonly id: string
  readonly authentication: boolean
}

async function stepsOfCalls(request: PageRequest): Promise<readonly Step[]> {
  const { account, api, gatewayEndpoint: entrance, may } = request
  const of = (...steps: string[]) => apiPath('accounts', account.id, 'ai-gateway', 'gateways', ...steps)
  const response = await api.tryGet<readonly Gateway[]>(of(), { per_page: maxGateways })
  if (!response.ok) return []
  const gateways = response.result
  const logs = await Promise.all(
    gateways.map(({ id }) => api.tryGet<readonly unknown[]>(of(id, 'logs'), { per_page: 1 })),
  )
  const hasCalls = logs.some(log => log.ok && log.result.length > 0)
  const [first] = gateways
  const open = gateways.find(({ authentication }) => !authentication)
  const list = paths.gateways(account.id)
  const steps: readonly (Step | false)[] = [
    may('AI Gateway Edit') && {
      title: 'Set up a provider',
      text: 'The configuration has providers with their keys, under ai.',
      path: paths.providers(account.id),
      link: 'Providers',
      isDone: entrance?.provider.hasKey ?? false,
    },
    may('AI Gateway Run') && {
      title: 'Call a model',
      text: 'Send a test request, and see in the logs what it cost.',
      path: entrance === null || first === undefined ? list : paths.testGateway(account.id, first.id),
      link: entrance === null ? 'AI gateways' : 'Test request',
      isDone: hasCalls,
    },
    may('AI Gateway Edit') && {
      title: 'Ask callers for a token',
      text: 'With authentication on, gateways let in calls that carry a token of yours, and no others.',
      path: open === undefined ? list : paths.gatewayAuthentication(account.id, open.id),
      link: 'Authentication',
      isDone: first !== undefined && open === undefined,
    },
  ]
  return steps.filter(step => step !== false)
}

/** Counts the items of a list of the account; null if that is not possible now. */
async function countOf({ api, account }: PageRequest, kind: string): Promise<number | null> {
  const response = await api.tryGet(apiPath('accounts', account.id, kind), { per_page: 5 })
  return response.ok ? response.info!.total_count : null
}

/** Makes the list, with a form that hides it. */
export function firstStepsPart(request: PageRequest, steps: readonly Step[]): Html {
  const done = steps.filter(({ isDone }) => isDone).length
  return html`<section class="card" aria-labelledby="begin"><h2 id="begin">First steps <span class="total hint">${done} of ${steps.length} done</span></h2><ul class="rows steps">${steps.map(
    ({ title, text, path, link, isDone }) =>
      html`<li${isDone && html` class="done"`}><div><h3>${isDone ? html`<span class="proof yes">${sign('check')}<span class="unseen">Done: </span></span>` : html`<span class="todo" aria-hidden="true"></span>`}${title}</h3>${!isDone && html`<p>${text}</p>`}</div>${!isDone && html`<a class="button plain small" href="${path}">${link}</a>`}</li>`,
  )}</ul>${form(request.frameFor(paths.hideFirstSteps(request.account.id)), button('Hide these steps', 'plain small'))}</section>`
}

export const hideSteps: Handler = async request => {
  await request.hideFirstSteps()
  return redirectTo(paths.home(request.account.id))
}

// One AI gateway: its settings, code to call it, and its actions.

import { type Html, html } from '../../base/text/html.ts'
import { facts } from '../../pages/parts/components.ts'
import type { PageRequest, Handler } from '../page/page-request.ts'
import { nearestOf, nearestRow } from '../budgets/rule-cards.ts'
import type { RuleBudgets } from '../budgets/rule.ts'
import { dangerZone } from '../parts/forms.ts'
import { type NearKey, nearTable } from '../parts/near-keys.ts'
import { codeBlock, time } from '../parts/values.ts'
import { paths } from '../page/paths.ts'
import { guardCard } from './guard/guard-card.ts'
import { findBudgets } from './budgets/owner.ts'
import { crumbsOf, findGateway, gatewayOf } from './page-data.ts'
import { attemptsInWords, cacheInWords, type Gateway, limitInWords, logsInWords } from './gateway.ts'
import { authenticationBadge } from './list.ts'
import { findStored, storedCard } from './stored-responses.ts'
import { snippetsFor } from './snippets.ts'

export const showGateway: Handler = async request => {
  const [response, limits, budgets, stored] = await Promise.all([
    findGateway(request),
    request.api.get<readonly RateLimit[]>(gatewayOf(request, 'rate_limits')),
    findBudgets(request),
    findStored(request),
  ])
  const gateway = response.result
  const account = request.account.id
  const mayEdit = request.may('AI Gateway Edit')
  const dangers = [
    {
      title: 'Delete',
      text: 'Refuses its calls from then on, and deletes its logs.',
      path: paths.deleteGateway(account, gateway.id),
      link: 'Delete…',
    },
  ]
  return {
    title: gateway.id,
    crumbs: crumbsOf(request),
    actions: html`<a class="button plain small" href="${paths.logs(account, gateway.id)}">Logs</a><a class="button plain small" href="${paths.charts(account, gateway.id)}">Charts</a><a class="button plain small" href="${paths.modelRoutes(account, gateway.id)}">Routes</a><a class="button plain small" href="${paths.budgets(account, gateway.id)}">Budgets</a><a class="button plain small" href="${paths.policies(account, gateway.id)}">Policies</a>${mayEdit && html`<a class="button plain small" href="${paths.providerKeys(account, gateway.id)}">Provider keys</a>`}`,
    content: html`${authenticationCard(request, gateway, mayEdit)}${settingsCard(request, gateway, mayEdit)}${guardCard(request, gateway, mayEdit)}${storedCard(request, gateway, stored.result, mayEdit)}${limits.result.map(limitCard)}${budgetsCard(request, budgets.result)}${callCard(request)}${dangerZone(mayEdit ? dangers : [])}`,
  }
}

function authenticationCard(request: PageRequest, gateway: Gateway, mayEdit: boolean): Html {
  const account = request.account.id
  const { id, authentication } = gateway
  const isOff = !authentication
  return html`<section class="card" aria-labelledby="authentication"><h2 id="authentication">Authenticated Gateway ${authenticationBadge(gateway)}</h2>
<p>${isOff ? 'Anyone who reaches this gateway can call models at your cost.' : 'Calls need a token with AI Gateway Run; others are refused with 401.'}</p>
<div class="actions">${request.may('API Tokens Write') && html`<a class="button${!isOff && ' plain'}" href="${paths.newGatewayToken(account, id)}">Create an authentication token</a>`}${mayEdit && html`<a class="button plain" href="${paths.gatewayAuthentication(account, id)}">Switch it ${isOff ? 'on' : 'off'}…</a>`}</div></section>`
}

function settingsCard(request: PageRequest, gateway: Gateway, mayEdit: boolean): Html {
  return html`<section class="card" aria-labelledby="settings"><h2 id="settings">Settings</h2>${facts([
    ['Rate limit', limitInWords(gateway)],
    ['Keeps', logsInWords(gateway)],
    [
      'When full',
      gateway.log_management_strategy === 'DELETE_OLDEST' ? 'The oldest are deleted' : 'No new ones are kept',
    ],
    ['Attempts at a model', attemptsInWords(gateway)],
    [
      'When a caller leaves',
      gateway.on_abandon === 'drain' ? 'The provider may finish' : 'The provider is cut off',
    ],
    ['Reuse of responses', cacheInWords(gateway)],
    ['Calls with an Idempotency-Key', gateway.idempotency_keys ? 'Made once' : 'Passed on with the field'],
    [
      'Keys of providers',
      gateway.byok_only ? 'Of this gateway and of callers' : 'Also those of the configuration',
    ],
    ['Usage of streams', gateway.stream_usage ? 'Asked for' : 'As callers ask'],
    ['Created', time(gateway.created_at)],
    ['Changed', gateway.modified_at === gateway.created_at ? null : time(gateway.modified_at)],
  ])}${mayEdit && html`<p><a class="button plain small" href="${paths.gatewaySettings(request.account.id, gateway.id)}">Change the settings</a></p>`}</section>`
}

/** The rate limit of a gateway in the form of the API. */
interface RateLimit {
  readonly name: string
  readonly limit: number
  readonly nearest: readonly NearKey[]
}

function limitCard({ name, limit, nearest }: RateLimit): Html {
  return html`<section class="card" aria-labelledby="limit" id="limit-card" data-live="5"><h2 id="limit">Rate limit</h2>${nearTable(name, limit, nearest)}</section>`
}

/** How many budgets are shown: those that have used most of their limits. */
const maxNearest = 3

function budgetsCard(request: PageRequest, budgets: readonly RuleBudgets[]): Html | null {
  if (budgets.length === 0) return null
  const nearest = nearestOf(budgets, maxNearest)
  const all = html`<a href="${paths.budgets(request.account.id, request.params.gateway!)}">All budgets</a>`
  return html`<section class="card" aria-labelledby="budgets" id="budgets-card" data-live="5"><h2 id="budgets">Budgets</h2>${
    nearest.length === 0
      ? html`<p class="hint">Nothing is spent of them yet.</p>`
      : html`<ul class="rows">${nearest.map(nearestRow)}</ul>`
  }<p>${all}</p></section>`
}

function callCard(request: PageRequest): Html {
  return html`<section class="card" aria-labelledby="call"><h2 id="call">Call it</h2>${codeFor(request)}${
    request.gatewayEndpoint !== null &&
    request.may('AI Gateway Run') &&
    html`<p><a class="button plain small" href="${paths.testGateway(request.account.id, request.params.gateway!)}">Send a test request</a></p>`
  }</section>`
}

/** Shows code that calls the gateway of the page. */
export function codeFor({ gatewayEndpoint: entrance, account, params }: PageRequest): Html {
  if (entrance === null)
    return html`<p>No host is set for AI gateways: set <code>ai.hosts</code> in the configuration, and the code is here.</p>`
  const place = { account: account.id, gateway: params.gateway! }
  return html`${snippetsFor(place, entrance).map(
    ({ title, code }, i) =>
      html`<details${i === 0 && html` open`}><summary>${title}</summary>${codeBlock('Code', code)}</details>`,
  )}<p class="hint">${entrance.provider.hasKey ? 'The provider is from the configuration.' : 'No provider has a key in the configuration yet: set one there, or add your own key to calls of the provider’s API.'} Replace the model with one of your choice.</p>`
}

// One call of an AI gateway: its caller, its model, its duration and cost, and its bodies.

import { type Html, html } from '../../base/text/html.ts'
import { button, facts, form, isolated } from '../../pages/parts/components.ts'
import { redirectTo } from '../../pages/parts/layout.ts'
import { apiPath, missing } from '../page/api-client.ts'
import { personal } from '../../store/records/audit-entry.ts'
import type { PageRequest, Handler } from '../page/page-request.ts'
import { Draft } from '../parts/draft.ts'
import { bodyBlock } from '../parts/body.ts'
import { badge, table } from '../parts/lists.ts'
import { compact, dollars, grouped } from '../parts/numbers.ts'
import { exactTime, oneLine } from '../parts/values.ts'
import { paths, withQuery } from '../page/paths.ts'
import { crumbsOf, gatewayOf } from '../gateways/page-data.ts'
import { type Attempt, type Finding, span, tokensPerSecond, type WholeLog } from './log.ts'
import { statusBadge } from './table.ts'
import { troubleOf } from './call-failure.ts'

const bodies = [
  { part: 'request', title: 'Request' },
  { part: 'response', title: 'Response' },
  { part: 'provider_response', title: 'Response of the provider' },
] as const

export const showLog: Handler = async request => {
  const response = await request.api.get<WholeLog>(gatewayOf(request, 'logs', request.params.log!))
  const log = response.result
  const pages = await pagesOf(request, log)
  const visible = bodies.flatMap(body => bodyOf(request, log, body) ?? [])
  return {
    title: 'Call',
    crumbs: crumbsOfLogs(request),
    isWide: true,
    content: html`${troubleOf(request, log)}<div class="sections">${[
      section('caller', 'Caller', callerFacts(request, log, pages)),
      section('call', 'Call', callFacts(request, log)),
      section('time', 'Time', timeFacts(log)),
      section('usage', 'Usage', usageFacts(log)),
    ]}</div>${feedbackCard(request, log)}${log.attempts !== undefined && section('attempts', 'Attempts', attemptTable(log.attempts))}${log.findings !== undefined && section('findings', 'Guard', findingTable(log.findings))}${log.metadata !== null && section('metadata', 'Metadata', metadataFacts(log.metadata))}${section(
      'bodies',
      'Bodies',
      visible.length === 0
        ? html`<p>None were kept: the gateway keeps no bodies, or the caller asked for that.</p>`
        : html`${visible}`,
    )}`,
  }
}

/** Sets the feedback of a call; the button that is pressed already takes it back. */
export const setFeedback: Handler = async request => {
  const { account, params, api, form } = request
  const given = Draft.of(form).value('feedback')
  const feedback = given === '1' ? 1 : given === '-1' ? -1 : null
  const response = await api.patch(gatewayOf(request, 'logs', params.log!), { feedback })
  if (!response.ok) return response
  return redirectTo(paths.log(account.id, params.gateway!, params.log!))
}

function feedbackCard(request: PageRequest, { id, feedback, score }: WholeLog): Html | null {
  const mayEdit = request.may('AI Gateway Edit')
  if (!mayEdit && feedback === undefined && score === undefined) return null
  const frame = () => request.frameFor(paths.logFeedback(request.account.id, request.params.gateway!, id))
  const opinions = [
    { value: 1, label: 'Good' },
    { value: -1, label: 'Bad' },
  ]
  const now = opinions.find(({ value }) => value === feedback)
  return section(
    'feedback',
    'Feedback',
    html`${facts([
      ['Response', now?.label ?? 'No opinion'],
      ['Score', score ?? null],
    ])}${
      mayEdit &&
      form(
        frame(),
        html`<div class="actions">${opinions.map(opinion =>
          opinion === now
            ? button(`Take back ${opinion.label}`, 'plain small', ['feedback', ''])
            : button(opinion.label, 'plain small', ['feedback', String(opinion.value)]),
        )}</div>`,
      )
    }`,
  )
}

/** Maximum of characters of a body that has its own page. */
const maxOfOne = 500_000

export const showBody: Handler = async request => {
  const { account, params } = request
  const body = bodies.find(({ part }) => part === params.part) ?? missing()
  const text = await request.api.text(gatewayOf(request, 'logs', params.log!, body.part))
  const log = { title: 'Call', path: paths.log(account.id, params.gateway!, params.log!) }
  return {
    title: body.title,
    crumbs: [...crumbsOfLogs(request), log],
    isWide: true,
    content: html`<div class="card">${bodyBlock('Body', text, null, maxOfOne)}</div>`,
  }
}

function crumbsOfLogs(request: PageRequest) {
  return [...crumbsOf(request, true), { title: 'Logs', path: logsOf(request) }]
}

function section(id: string, title: string, content: Html): Html {
  return html`<section class="card" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${content}</section>`
}

/** The pages of the caller of a call: null for a deleted one, or one that may not be seen. */
interface Pages {
  readonly token: string | null
  readonly client: string | null
}

async function pagesOf(
  { account, api, may }: PageRequest,
  { token_id, client_id }: WholeLog,
): Promise<Pages> {
  const isThere = async (...steps: readonly string[]) =>
    (await api.tryGet(apiPath('accounts', account.id, ...steps))).ok
  // Calls of an app have the id of its consent in place of a token's.
  const isToken = token_id !== null && !isOfApp(client_id) && may('API Tokens Read')
  const isClient = isOfApp(client_id) && may('OAuth Clients Read')
  const [hasToken, hasClient] = await Promise.all([
    isToken && isThere('tokens', token_id),
    isClient && isThere('oauth_clients', client_id),
  ])
  return {
    token: hasToken ? paths.token(account.id, token_id!) : null,
    client: hasClient ? paths.client(account.id, client_id!) : null,
  }
}

/** Whether an app made a call, rather than a person by a token of their own. */
function isOfApp(client: string | undefined): client is string {
  return client !== undefined && client !== personal.client
}

function callerFacts(request: PageRequest, log: WholeLog, pages: Pages): Html {
  const { token_id, token_name, client_id, client_name, user_email } = log
  const isApp = isOfApp(client_id)
  return facts([
    ['App', isApp ? named(request, pages.client, client_name ?? client_id, { client_id }) : null],
    [isApp ? 'For' : 'Person', user_email === undefined ? null : isolated(user_email)],
    ['Token', isApp ? null : tokenOf(request, pages.token, token_id, token_name)],
    ['Consent', isApp && token_id !== null ? html`<code>${oneLine(token_id)}</code>` : null],
  ])
}

function tokenOf(request: PageRequest, page: string | null, id: string | null, name: string | null): Html {
  return id === null ? html`None: authentication was off` : named(request, page, name ?? id, { token_id: id })
}

/** Names the caller of a call, with a link to its page, if it has one, and one to all its calls. */
function named(
  request: PageRequest,
  page: string | null,
  name: string,
  filter: Readonly<Record<string, string>>,
): Html {
  const calls = withQuery(logsOf(request), filter)
  return html`${page === null ? isolated(name) : html`<a href="${page}">${isolated(name)}</a>`} <a class="hint" href="${calls}">All its calls</a>`
}

function callFacts(request: PageRequest, log: WholeLog): Html {
  const like = (name: string, value: string) =>
    html`<a href="${withQuery(logsOf(request), { [name]: value })}">${isolated(value)}</a>`
  const { account, params } = request
  return facts([
    ['Gateway', html`<a href="${paths.gateway(account.id, params.gateway!)}">${params.gateway!}</a>`],
    ['Provider', like('provider', log.provider)],
    ['Model', log.model === null ? 'Unknown' : like('model', log.model)],
    ['Route', html`<code class="long">${log.path}</code>`],
    ['Status', statusBadge(log)],
    [
      'Left out',
      log.dropped === undefined ? null : html`<code class="long">${log.dropped.join(', ')}</code>`,
    ],
    ['Response', log.cached ? 'That of an equal call: no provider was asked' : null],
    ['Event', log.event_id === undefined ? null : like('event_id', log.event_id)],
    ['Ray', html`<code>${log.id}</code>`],
  ])
}

function timeFacts(log: WholeLog): Html {
  const rate = tokensPerSecond(log)
  return facts([
    ['Began', exactTime(log.created_at)],
    ['First byte after', log.time_to_first_byte === null ? null : span(log.time_to_first_byte)],
    ['Duration', span(log.duration)],
    ['Streamed', log.streamed ? 'yes' : 'no'],
    [
      'Tokens per second',
      rate === null ? null : `${compact(rate)}${log.streamed ? ', from the first byte on' : ''}`,
    ],
  ])
}

function attemptTable(attempts: readonly Attempt[]): Html {
  return table(
    'Attempts',
    [
      { title: 'Provider', isName: true, cell: ({ provider }) => isolated(provider) },
      { title: 'Model', cell: ({ model }) => (model === null ? 'Unknown' : isolated(model)) },
      { title: 'Outcome', cell: ({ outcome }) => badge(outcome, outcome === 'ok' ? 'good' : 'bad') },
      { title: 'Took', isNumber: true, cell: ({ duration }) => span(duration) },
    ],
    attempts,
  )
}

function findingTable(findings: readonly Finding[]): Html {
  return table(
    'What the guard found',
    [
      { title: 'Finding', isName: true, cell: ({ name }) => html`<code>${name}</code>` },
      { title: 'In', cell: ({ check }) => `the ${check}` },
      { title: 'Action', cell: ({ action }) => badge(action, action === 'block' ? 'bad' : '') },
      { title: 'Times', isNumber: true, cell: ({ count }) => grouped(count) },
    ],
    findings,
  )
}

function usageFacts(log: WholeLog): Html {
  const { tokens_in, tokens_out, usage_estimated, cost, custom_cost } = log
  const isKnown = tokens_in !== null && tokens_out !== null
  return facts([
    ['Tokens in', countOf(tokens_in)],
    ['Tokens out', countOf(tokens_out)],
    ['Total', isKnown ? grouped(tokens_in + tokens_out) : null],
    ['Estimated', usage_estimated ? 'The call ended before its provider reported its tokens' : null],
    [
      'Cost',
      cost !== null
        ? custom_cost
          ? html`${dollars(cost)} <span class="hint">named by the caller</span>`
          : dollars(cost)
        : tokens_in === null && tokens_out === null
          ? 'Unknown: the response does not say how many tokens it used'
          : 'Unknown: there is no price for this model, its tier or what else it used',
    ],
    ['Saved', log.cached ? savedOf(log) : null],
  ])
}

function savedOf({ saved_tokens_in, saved_tokens_out, saved_cost }: WholeLog): string {
  const cost = saved_cost == null ? 'A cost that is unknown' : dollars(saved_cost)
  return `${cost}, ${countOf(saved_tokens_in ?? null)} tokens in, ${countOf(saved_tokens_out ?? null)} out`
}

function metadataFacts(metadata: string): Html {
  const rows: Readonly<Record<string, unknown>> = JSON.parse(metadata)
  return facts(
    Object.entries(rows).map(([name, value]) => [
      isolated(name),
      typeof value === 'string' ? isolated(value) : html`<code>${JSON.stringify(value)}</code>`,
    ]),
  )
}

function logsOf({ account, params }: PageRequest): string {
  return paths.logs(account.id, params.gateway!)
}

function countOf(count: number | null): string {
  return count === null ? 'Unknown' : grouped(count)
}

function bodyOf(request: PageRequest, log: WholeLog, { part, title }: (typeof bodies)[number]): Html | null {
  const text = log[`${part}_head`]
  if (typeof text !== 'string') return null
  const isWhole = log[`${part}_head_complete`] === true
  const isBase64 = log[`${part}_head_encoding`] === 'base64'
  const path = paths.logBody(request.account.id, request.params.gateway!, log.id, part)
  const label = [title, isBase64 && 'as base64', !isWhole && 'only its beginning was kept']
    .filter(Boolean)
    .join(', ')
  return bodyBlock(label, text, html`<a href="${path}">Show all of it</a>`)
}

// The list of AI providers, and what to do if there are none.

import { type Html, html } from '../../base/text/html.ts'
import { form } from '../../pages/parts/components.ts'
import type { PageRequest, Handler } from '../page/page-request.ts'
import { emptyState, table } from '../parts/lists.ts'
import { grouped } from '../parts/numbers.ts'
import { codeBlock, time } from '../parts/values.ts'
import { paths } from '../page/paths.ts'
import { nameOf, type Provider, providersOf, sourceOf, stateBadge } from './provider.ts'

export const showProviders: Handler = async request => {
  const response = await request.api.get<readonly Provider[]>(providersOf(request))
  const providers = response.result
  const title = 'Providers'
  const actions = html`<a class="button plain small" href="${paths.customProviders(request.account.id)}">Custom providers</a>`
  const isNew = !providers.some(({ is_configured }) => is_configured)
  if (providers.length === 0)
    return { title, actions, content: html`${emptyState('No provider yet', whatFor)}${firstSteps(request)}` }
  return {
    title,
    actions,
    isWide: true,
    content: html`<p class="lead">AI gateways send calls to these. They are set in the configuration, for all accounts. A state is that of the latest calls through this machine, whichever account made them; your calls are those of the last 7 days, on all machines.</p>${table('AI providers', columnsOf(request), providers)}${isNew && firstSteps(request)}`,
  }
}

function columnsOf(request: PageRequest) {
  const account = request.account.id
  const columns = [
    {
      title: 'Name',
      isName: true,
      cell: (provider: Provider) =>
        html`<a href="${paths.provider(account, provider.id)}">${nameOf(provider)}</a>`,
    },
    { title: 'State', cell: stateBadge },
    { title: 'Key', cell: keysInWords },
    { title: 'Last call', cell: ({ last_call_at }: Provider) => time(last_call_at) },
    { title: 'Your calls', isNumber: true, cell: ({ calls }: Provider) => grouped(calls.count) },
  ]
  const test = {
    title: 'Test',
    cell: ({ id, name, resource }: Provider) =>
      form(
        request.frameFor(paths.testProvider(account, id)),
        html`<button class="plain small">Test<span class="unseen"> ${nameOf({ name, resource })}</span></button>`,
      ),
  }
  return request.may('AI Gateway Run') ? [...columns, test] : columns
}

function keysInWords({ keys, needs_key }: Provider): Html {
  if (keys.length === 0) return html`${needs_key ? 'the caller’s own' : 'none needed'}`
  if (keys.some(({ source }) => source === undefined))
    return html`${keys.length === 1 ? 'set' : `${keys.length} keys`}`
  const bySource = Map.groupBy(keys, ({ source }) => `${source!.type} ${source!.name}`)
  return html`<div>${[...bySource.values()].map(
    same => html`<div>${sourceOf(same[0]!)}${same.length > 1 && `: ${same.length} keys`}</div>`,
  )}</div>`
}

const whatFor =
  'AI gateways send calls to the providers of the configuration, with the keys that it names. Callers never see those.'

/** Shows which lines are missing; the operator of the gateway may be somebody else. */
function firstSteps(request: PageRequest): Html {
  const lines = `ai:
${request.gatewayEndpoint === null ? '  hosts: [localhost, 127.0.0.1] # of your own\n' : ''}  providers:
    openai: { keys: '\${OPENAI_API_KEY}' }
    anthropic: { keys: '\${ANTHROPIC_API_KEY}' }`
  return html`<section class="card" aria-labelledby="first"><h2 id="first">Set the first one</h2><p>Add providers to <code>gatehouse.yaml</code>, or have the operator of this gateway do so:</p>${codeBlock('gatehouse.yaml', lines)}<p>Then start Gatehouse with these variables in its environment. A key may also be in a file, as <code>file:/run/secrets/openai</code>: a reload is enough then.</p></section>`
}

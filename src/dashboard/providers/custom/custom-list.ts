// The providers that an account has added, beside those of the configuration.

import { html } from '../../../base/text/html.ts'
import { isolated } from '../../../pages/parts/components.ts'
import { apiPath } from '../../page/api-client.ts'
import type { Handler, PageRequest } from '../../page/page-request.ts'
import { paths } from '../../page/paths.ts'
import { badge, emptyState, pager, table } from '../../parts/lists.ts'
import { nextStep, stepLink } from '../../parts/next-step.ts'
import { oneLine, time } from '../../parts/values.ts'

/** The part of the form of the management API that the pages set and show. */
export interface CustomProvider {
  readonly slug: string
  readonly name: string
  readonly base_url: string
  readonly enable: boolean
  readonly created_at: string
}

export const showCustomProviders: Handler = async request => {
  const { account, query, may } = request
  const response = await request.api.get<readonly CustomProvider[]>(customOf(request), {
    page: query.get('page'),
  })
  const path = paths.customProviders(account.id)
  const add = stepLink(paths.newCustomProvider(account.id), 'Add a provider')
  const isEmpty = response.info!.total_count === 0
  const guide = html`<a href="${paths.guide(account.id, 'providers')}#providers-of-an-account">Providers of an account</a>`
  const about = html`A custom provider speaks the API of OpenAI, and calls of this account alone reach it, as <code>custom-SLUG/MODEL</code>. Its address must be https, and public unless the operator allows its network in the configuration. Members with AI Gateway Edit set them; apps may not on behalf of any of them; ${guide} has the details.`
  return {
    title: 'Custom providers',
    crumbs: aboveCustom(request),
    isWide: true,
    ...(!isEmpty && may('AI Gateway Edit') && { actions: add }),
    content: isEmpty
      ? emptyState('No custom providers yet', about, nextStep(request, 'AI Gateway Edit', add))
      : html`<p class="lead">${about}</p>${table('Custom providers', columnsOf(request), response.result)}${pager(path, query, response.info!)}`,
  }
}

function columnsOf({ account, may }: PageRequest) {
  const columns = [
    { title: 'Name', isName: true, cell: ({ name }: CustomProvider) => isolated(name) },
    {
      title: 'In calls',
      cell: ({ slug }: CustomProvider) => html`<code class="long">custom-${slug}</code>`,
    },
    {
      title: 'Address',
      cell: ({ base_url }: CustomProvider) => html`<span class="long">${base_url}</span>`,
    },
    {
      title: 'State',
      cell: ({ enable }: CustomProvider) => (enable ? badge('on', 'good') : badge('off')),
    },
    { title: 'Added', cell: ({ created_at }: CustomProvider) => time(created_at) },
  ]
  const change = {
    title: 'Change',
    cell: ({ slug, name, enable }: CustomProvider) =>
      html`<span class="actions"><a class="button plain small" href="${paths.customProviderState(account.id, slug)}">${oneLine(enable ? 'Disable…' : 'Enable…')}<span class="unseen"> ${name}</span></a><a class="button danger small" href="${paths.deleteCustomProvider(account.id, slug)}">${oneLine('Delete…')}<span class="unseen"> ${name}</span></a></span>`,
  }
  return may('AI Gateway Edit') ? [...columns, change] : columns
}

/** Returns the path of custom providers in the API, or one below it. */
export function customOf({ account }: PageRequest, ...below: readonly string[]): string {
  return apiPath('accounts', account.id, 'ai-gateway', 'custom-providers', ...below)
}

function aboveCustom({ account }: PageRequest) {
  return [{ title: 'Providers', path: paths.providers(account.id) }]
}

/** Returns the pages above one below the list. */
export function crumbsOfCustom(request: PageRequest) {
  const list = { title: 'Custom providers', path: paths.customProviders(request.account.id) }
  return [...aboveCustom(request), list]
}

// One AI provider: its health and what that is based on, its keys, its models, and a test of it.

import { type Html, html } from '../../base/text/html.ts'
import { keySetting } from '../../config/settings/ai-rules.ts'
import { button, facts, form, isolated } from '../../pages/parts/components.ts'
import { apiPath, missing } from '../page/api-client.ts'
import type { PageRequest, Handler, View } from '../page/page-request.ts'
import { badge, table } from '../parts/lists.ts'
import { grouped } from '../parts/numbers.ts'
import { time } from '../parts/values.ts'
import { paths } from '../page/paths.ts'
import {
  failureInWords,
  nameOf,
  type Provider,
  providersOf,
  restOf,
  sourceOf,
  stateBadge,
  stateInWords,
} from './provider.ts'

interface Test {
  readonly tested_at: string
  readonly path: string
  readonly results: readonly Result[]
}

interface Result {
  readonly key: number | null
  readonly outcome: 'accepted' | 'reached' | 'refused' | 'limited' | 'failing' | 'unreachable'
  readonly message: string
  readonly status: number | null
  readonly error: string | null
  readonly code?: string
  readonly duration: number
}

export const showProvider: Handler = async request => show(request, null)

export const testProvider: Handler = async request => {
  const tested = await request.api.post<Test>(
    `${providersOf(request)}${apiPath(request.params.provider!, 'test')}`,
  )
  return tested.ok ? show(request, tested.result) : tested
}

async function show(request: PageRequest, test: Test | null) {
  const response = await request.api.get<readonly Provider[]>(providersOf(request))
  const provider = response.result.find(({ id }) => id === request.params.provider)
  return view(request, provider ?? missing(), test)
}

function view(request: PageRequest, provider: Provider, test: Test | null): View {
  return {
    title: nameOf(provider),
    crumbs: [{ title: 'Providers', path: paths.providers(request.account.id) }],
    content: html`${test !== null && testCard(test)}${stateCard(request, provider, test !== null)}${keysCard(provider)}${callsCard(request, provider)}${pricesCard(provider)}`,
  }
}

function testCard({ tested_at, path, results }: Test): Html {
  const columns = [
    {
      title: 'Key',
      isName: true,
      cell: ({ key }: Result) => (key === null ? 'none was sent' : `Key ${key}`),
    },
    { title: 'Result', cell: resultBadge },
    {
      title: 'What it means',
      cell: ({ message, error, code }: Result) =>
        html`<span>${message}${error !== null && html` <code>${error}</code>`}${code !== undefined && html` <code>${code}</code>`}</span>`,
    },
    {
      title: 'Took',
      isNumber: true,
      cell: ({ duration }: Result) => `${grouped(duration)} ms`,
    },
  ]
  return html`<section class="card" aria-labelledby="test" role="status"><h2 id="test">Test</h2>${table('Results of the test', columns, results)}<p class="hint">GET <code>${isolated(path)}</code>, ${time(tested_at)}, from this machine.</p></section>`
}

const outcomes = {
  accepted: 'good',
  reached: '',
  refused: 'bad',
  limited: 'bad',
  failing: 'bad',
  unreachable: 'bad',
} as const

function resultBadge({ outcome, status }: Result): Html {
  return badge(status === null ? outcome : `${outcome}, ${status}`, outcomes[outcome])
}

function stateCard(request: PageRequest, provider: Provider, isTested: boolean): Html {
  const { id, origin, is_configured, processes, last_call_at, last_success_at, last_failure } = provider
  const seenBy = processes === 1 ? '1 process' : `${processes} processes`
  return html`<section class="card" aria-labelledby="state"><h2 id="state">State ${stateBadge(provider)}</h2><p>${stateInWords(provider)}</p>${facts(
    [
      ['Address', origin === undefined ? null : html`<code>${origin}</code>`],
      ['Last call', time(last_call_at, 'none since the start')],
      ['Last success', time(last_success_at, 'none since the start')],
      [
        'Last failure',
        last_failure &&
          html`${time(last_failure.at)}: ${failureInWords(last_failure)}${timesOf(last_failure)}`,
      ],
      ['Configuration', is_configured ? null : 'not in it: callers use it with keys of their own'],
    ],
  )}<p class="hint">Seen by ${seenBy} on this machine since the start, in calls of all accounts.</p>${
    request.may('AI Gateway Run') &&
    form(
      request.frameFor(paths.testProvider(request.account.id, id)),
      html`<p class="hint">A test sends one small request for each key. It runs no model, and is not billed.</p><div class="actions">${button(isTested ? 'Test again' : 'Test', 'plain')}</div>`,
    )
  }</section>`
}

function timesOf({ in_a_row }: NonNullable<Provider['last_failure']>): string {
  return in_a_row > 1 ? `, ${grouped(in_a_row)} in a row` : ''
}

function keysCard(provider: Provider): Html {
  const { name, keys, needs_key } = provider
  const columns = [
    { title: 'Key', isName: true, cell: ({ number }: Provider['keys'][number]) => `Key ${number}` },
    { title: 'Comes from', cell: (key: Provider['keys'][number]) => html`<span>${sourceOf(key)}</span>` },
    {
      title: 'State',
      cell: (key: Provider['keys'][number]) => html`<span>${restOf(key, provider)}</span>`,
    },
  ]
  return html`<section class="card" aria-labelledby="keys"><h2 id="keys">Keys</h2>${
    keys.length === 0
      ? html`<p>${
          needs_key
            ? html`The configuration has none: each caller must send a key of their own, in the provider’s API. To have the gateway send one of yours, set <code>${isolated(keySetting(name, []))}</code> in the configuration.`
            : 'None is set, and none is needed.'
        }</p>`
      : html`${table('Keys of this provider', columns, keys)}<p class="hint">Callers may send a key of their own, in the provider’s API; it is used in place of these.</p>`
  }</section>`
}

function callsCard(request: PageRequest, { calls }: Provider): Html {
  const columns = [
    {
      title: 'Model',
      isName: true,
      cell: ({ model }: Provider['calls']['models'][number]) => isolated(model),
    },
    {
      title: 'Calls',
      isNumber: true,
      cell: ({ count }: Provider['calls']['models'][number]) => grouped(count),
    },
    { title: 'Last', cell: ({ last_at }: Provider['calls']['models'][number]) => time(last_at) },
  ]
  const failed = calls.errors > 0 && ` ${grouped(calls.errors)} of them failed.`
  return html`<section class="card" aria-labelledby="calls"><h2 id="calls">Models called</h2>${
    calls.count === 0
      ? html`<p>The gateways of this account have logged no call of the last 7 days.</p>`
      : html`<p>${grouped(calls.count)} ${calls.count === 1 ? 'call' : 'calls'} of this account in the last 7 days.${failed}${!calls.is_complete && ' More are still being counted.'}</p>${calls.models.length > 0 && table('Models that this account called', columns, calls.models)}`
  }<p><a href="${paths.gateways(request.account.id)}">AI gateways and their logs</a></p></section>`
}

/** Maximum of listed models: a price list may have hundreds. */
const maxListed = 200

function pricesCard({ priced_models: models }: Provider): Html | null {
  if (models.length === 0)
    return html`<section class="card" aria-labelledby="prices"><h2 id="prices">Models with a price</h2><p>None: calls have no cost in logs, unless the provider says it.</p></section>`
  const more = models.length - maxListed
  return html`<section class="card" aria-labelledby="prices"><h2 id="prices">Models with a price</h2><details><summary>${grouped(models.length)} ${models.length === 1 ? 'model' : 'models'}</summary><ul class="tags">${models
    .slice(0, maxListed)
    .map(
      model => html`<li><code>${isolated(model)}</code></li>
`,
    )}</ul>${more > 0 && html`<p>And ${grouped(more)} more.</p>`}</details><p class="hint">Other models can be called too; their calls have no cost in logs.</p></section>`
}

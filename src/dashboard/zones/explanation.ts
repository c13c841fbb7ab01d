// What would happen to a request, step by step, for people.

import { type Html, html } from '../../base/text/html.ts'
import { facts, notice, isolated } from '../../pages/parts/components.ts'
import {
  type DecidingRule,
  type ExplainedCompression,
  type ExplainedStep,
  type Explanation,
  type LimitState,
  outcomeSentence,
  policyInWords,
} from '../../zones/explanation.ts'
import type { PageRequest } from '../page/page-request.ts'
import { badge, table } from '../parts/lists.ts'
import { grouped } from '../parts/numbers.ts'
import { paths } from '../page/paths.ts'
import { timeoutsInWords, type Zone } from './zone.ts'

/** Makes the outcome, the steps with the deciding rules, and what the client and the origin would get. */
export function explanationView(request: PageRequest, zone: Zone, explanation: Explanation): Html {
  const { outcome, limits } = explanation
  return html`${notice(outcomeSentence(explanation, 'title', 'fill it in below'), outcome === 'refused' ? 'bad' : outcome === 'depends' ? '' : 'good')}
<h2 class="over">Steps</h2>${table('Steps of the gateway', stepColumns(request, zone), explanation.steps)}
${limits.length > 0 && html`<h2 class="over">Limits that would count it</h2>${table('Limits', limitColumns, limits)}`}${responseCard(explanation)}${forwardCard(explanation)}${contextCard(explanation)}`
}

function verdictBadge(verdict: ExplainedStep['verdict']): Html {
  switch (verdict) {
    case 'passes':
    case 'responds':
      return badge(verdict, 'good')
    case 'refuses':
      return badge(verdict, 'bad')
    default:
      return badge(verdict.replace('_', ' '))
  }
}

function stepColumns(request: PageRequest, zone: Zone) {
  return [
    {
      title: 'Step',
      isName: true,
      cell: ({ number, title }: ExplainedStep) => `${number} ${title}`,
    },
    { title: 'Verdict', cell: ({ verdict }: ExplainedStep) => verdictBadge(verdict) },
    { title: 'Why', cell: (step: ExplainedStep) => whyOf(request, zone, step) },
  ]
}

function whyOf(request: PageRequest, zone: Zone, { reason, error, rule, compared }: ExplainedStep): Html {
  const hasMore = error?.message != null && !reason.includes(error.message)
  return html`<div class="long">${isolated(reason)}${hasMore && html` ${isolated(error.message!)}.`}${error !== null && html` ${badge(`error ${error.code}`, 'bad')}`}${
    rule !== null && html`<p>${ruleOf(request, zone, rule)}</p>`
  }${
    compared.length > 0 &&
    html`<ul class="plain-list hint">${compared.map(
      ({ what, value, with: other }) =>
        html`<li>${what}${value !== null && html` <code>${value}</code>`}${other !== null && html`: <code>${other}</code>`}</li>`,
    )}</ul>`
  }</div>`
}

function ruleOf({ account, may }: PageRequest, zone: Zone, rule: DecidingRule): Html {
  const { kind, id, line, set_by, description, zone: owner } = rule
  const isHere = kind === 'access_rule' && set_by === 'api' && id !== null && owner === zone.name
  const where =
    set_by === 'api' ? 'set by the API' : line === null ? 'in the file' : `in the file, line ${line}`
  const name = `${kinds[kind]} ${where}`
  const link = isHere && may('Access Rules Write') ? paths.accessRule(account.id, owner, id) : null
  return html`${link === null ? name : html`<a href="${link}">${name}</a>`}${rule.name !== null && html` <code>${rule.name}</code>`}${description !== null && html`: ${isolated(description)}`}`
}

const kinds: Readonly<Record<DecidingRule['kind'], string>> = {
  access_rule: 'Access rule',
  access_default: 'Default of the access rules',
  access_work: 'Bound on the work of access rules',
  ban: 'Ban',
  rate_limit: 'Rate limit',
  quota: 'Quota',
  gateway_rate_limit: 'Rate limit of the AI gateway',
  route: 'Route',
}

const limitColumns = [
  { title: 'Limit', isName: true, cell: ({ name }: LimitState) => isolated(name) },
  {
    title: 'Verdict',
    cell: ({ verdict, action }: LimitState) =>
      badge(
        action === 'log' ? `${verdict}, only logged` : verdict,
        verdict === 'within' ? 'good' : action === 'log' ? '' : 'bad',
      ),
  },
  {
    title: 'Counts by',
    cell: ({ key }: LimitState) =>
      key.length === 0
        ? 'all requests together'
        : html`<span class="long">${key.map(({ by, value }, i) => [i > 0 && ', ', by, value !== null && html` <code>${value}</code>`])}</span>`,
  },
  {
    title: 'Used',
    cell: ({ used, limit, period }: LimitState) =>
      `${used === null ? '' : `${grouped(used)} of `}${grouped(limit)} in ${period}`,
  },
  {
    title: 'Resets in',
    isNumber: true,
    cell: ({ resets_in }: LimitState) => resets_in !== null && `${grouped(resets_in)} s`,
  },
]

function responseCard({ response }: Explanation): Html | null {
  if (response === null) return null
  const { status, content_type, retry_after, content } = response
  return html`<section class="card" aria-labelledby="response"><h2 id="response">What the client would get</h2>${facts(
    [
      ['Status', status],
      ['Type', content_type],
      ['Retry after', retry_after === null ? null : `${grouped(retry_after)} s`],
      ['Content', content === null ? 'that of the gateway' : contentOf(content)],
    ],
  )}</section>`
}

type Content = NonNullable<NonNullable<Explanation['response']>['content']>

function contentOf({ source, rule_id, line, page, description }: Content): Html {
  const [owner, kind] = source.split('_')
  const which = page ?? rule_id ?? (line === null ? '' : `in line ${line}`)
  return html`error ${kind!} <code>${which}</code> of ${owner === 'zone' ? 'the zone' : 'all zones'}${description !== null && html`: ${isolated(description)}`}`
}

function forwardCard({ forward, pool }: Explanation): Html | null {
  if (forward === null) return null
  const { origin, http, method, host, path, query, fields, response_fields: changed } = forward
  const others = pool?.origins.filter(({ is_next }) => !is_next) ?? []
  return html`<section class="card" aria-labelledby="forward"><h2 id="forward">What the origin would get</h2>${facts(
    [
      ['Origin', html`<code class="long">${origin}</code>`],
      [
        'Or else',
        others.length === 0
          ? null
          : html`<ul class="plain-list">${others.map(({ url, state }) => html`<li><code class="long">${url}</code> ${badge(state, state === 'healthy' ? 'good' : 'bad')}</li>`)}</ul>`,
      ],
      ['HTTP', versions[http]],
      [
        'Request',
        html`<code class="long">${method} ${path ?? 'a path that has a credential'}</code>${queries[query]}`,
      ],
      ['Host', host === null ? null : html`<code class="long">${host}</code>`],
      [
        'Header fields',
        fields.length === 0
          ? 'unchanged'
          : html`<ul class="plain-list">${fields.map(({ name, change, value }) => html`<li class="long">${badge(change)} <code>${value === null ? name : `${name}: ${value}`}</code></li>`)}</ul>`,
      ],
      [
        'In the response',
        changed.length === 0
          ? null
          : html`<ul class="plain-list">${changed.map(({ name, change }) => html`<li class="long">${badge(change)} <code>${name}</code></li>`)}</ul>`,
      ],
    ],
  )}</section>`
}

const versions = {
  1: '1.1',
  2: '2, or 1.1 where the origin does not offer it',
  h2c: '2 without TLS',
} as const
const queries = { none: '', kept: ' with its query', changed: ' with another query' } as const

function compressionInWords({ encoding, reason, condition }: ExplainedCompression): Html {
  return html`${encoding ?? 'none'}: ${reason}${condition !== null && html`<ul class="plain-list hint"><li>types <code>${condition.types.join(', ')}</code></li><li>from ${grouped(condition.minimum)} bytes</li></ul>`}`
}

function contextCard({ zone, client, route, compression, gateway }: Explanation): Html {
  const { address, country, asn, is_proxy } = client
  const from = [country, asn !== null && `AS${asn}`].filter(Boolean).join(', ')
  return html`<section class="card" aria-labelledby="context"><h2 id="context">How it was read</h2>${facts([
    ['Zone', zone ?? 'none'],
    [
      'Client',
      html`<code>${address}</code>${from !== '' && ` (${from})`}${is_proxy && html` ${badge('through a trusted proxy')}`}`,
    ],
    [
      'Route',
      route === null
        ? null
        : html`<code>${route.path}</code>${route.line !== null && `, line ${route.line}`}`,
    ],
    ['Timeouts', route === null ? null : timeoutsInWords(route)],
    ['Redirects', route === null ? null : `${route.redirects} followed`],
    ['Retries', route === null ? null : route.retries.most === 0 ? 'off' : `up to ${route.retries.most}`],
    ['Compression', compression === null ? null : compressionInWords(compression)],
    ['AI gateway', gateway?.gateway == null ? null : isolated(gateway.gateway)],
    ['Policy', gateway?.policies == null ? null : isolated(policyInWords(gateway.policies))],
    ['Model', gateway?.model == null ? null : html`${gateway.provider ?? ''} ${isolated(gateway.model)}`],
  ])}</section>`
}

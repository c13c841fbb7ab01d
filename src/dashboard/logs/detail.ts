// One call of an AI gateway: who made it, what it cost, and what was sent and got.

import { type Html, html } from '../../base/text/html.ts'
import { facts, told } from '../../pages/components.ts'
import type { Ask, Handler } from '../ask.ts'
import { bodyBlock } from '../parts/body.ts'
import { dollars, grouped } from '../parts/numbers.ts'
import { exactTime } from '../parts/values.ts'
import { paths, withQuery } from '../paths.ts'
import { notFound } from '../refusals.ts'
import { crumbsOf, gatewayOf } from '../gateways/asked.ts'
import { span, type WholeLog } from './log.ts'
import { statusOf } from './table.ts'

const bodies = [
  { part: 'request', title: 'Request' },
  { part: 'response', title: 'Response' },
  { part: 'provider_response', title: 'Response of the provider' },
] as const

export const showLog: Handler = async ask => {
  const found = await ask.api.get<WholeLog>(gatewayOf(ask, 'logs', ask.params.log!))
  if (!found.ok) return found
  const log = found.result
  const shown = bodies.flatMap(body => bodyOf(ask, log, body) ?? [])
  return {
    title: 'Call',
    crumbs: crumbsOfLogs(ask),
    isWide: true,
    content: html`<div class="card">${factsOf(ask, log)}</div><section class="card" aria-labelledby="bodies"><h2 id="bodies">Bodies</h2>${
      shown.length === 0
        ? html`<p>None were kept: the gateway keeps no bodies, or the caller asked for that.</p>`
        : shown
    }</section>`,
  }
}

/** The most characters of a body that has a page of its own. */
const mostOfOne = 500_000

export const showBody: Handler = async ask => {
  const { account, params } = ask
  const body = bodies.find(({ part }) => part === params.part)
  if (body === undefined) return notFound
  const found = await ask.api.text(gatewayOf(ask, 'logs', params.log!, body.part))
  if (!found.ok) return found
  const log = { title: 'Call', path: paths.log(account.id, params.gateway!, params.log!) }
  return {
    title: body.title,
    crumbs: [...crumbsOfLogs(ask), log],
    isWide: true,
    content: html`<div class="card">${bodyBlock('Body', found.result, null, mostOfOne)}</div>`,
  }
}

function crumbsOfLogs(ask: Ask) {
  return [...crumbsOf(ask, true), { title: 'Logs', path: paths.logs(ask.account.id, ask.params.gateway!) }]
}

function factsOf(ask: Ask, log: WholeLog): Html {
  const like = (name: string, value: string) =>
    withQuery(paths.logs(ask.account.id, ask.params.gateway!), { [name]: value })
  return facts([
    ['When', exactTime(log.created_at)],
    ['Status', statusOf(log)],
    [
      'Model',
      log.model === null ? 'Unknown' : html`<a href="${like('model', log.model)}">${told(log.model)}</a>`,
    ],
    ['Provider', html`<a href="${like('provider', log.provider)}">${log.provider}</a>`],
    ['Path', html`<code class="long">${log.path}</code>`],
    ['Token', tokenOf(log, like)],
    [
      'App',
      log.client_id === undefined
        ? null
        : html`<a href="${like('client_id', log.client_id)}">${told(log.client_name ?? log.client_id)}</a>`,
    ],
    ['User', log.user_email === undefined ? null : told(log.user_email)],
    [
      'Tokens',
      `${countOf(log.tokens_in)} in, ${countOf(log.tokens_out)} out${log.usage_estimated ? ', estimated: the call ended before its provider reported them' : ''}`,
    ],
    [
      'Cost',
      log.cost === null
        ? log.tokens_in === null && log.tokens_out === null
          ? 'Unknown: the response does not say how many tokens it used'
          : 'Unknown: there is no price for this model, its tier or what else it used'
        : dollars(log.cost),
    ],
    ['Took', span(log.duration)],
    ['First byte after', log.time_to_first_byte === null ? null : span(log.time_to_first_byte)],
    ['Streamed', log.streamed ? 'yes' : 'no'],
    [
      'Left out',
      log.dropped === undefined ? null : html`<code class="long">${log.dropped.join(', ')}</code>`,
    ],
    ['Cached', log.cached ? 'yes' : null],
    ['Metadata', log.metadata === null ? null : html`<code class="long">${log.metadata}</code>`],
    ['Ray', html`<code>${log.id}</code>`],
  ])
}

function tokenOf({ token_id, token_name }: WholeLog, like: (name: string, value: string) => string): Html {
  if (token_id === null) return html`None: authentication was off`
  return html`<a href="${like('token_id', token_id)}">${told(token_name ?? token_id)}</a>`
}

function countOf(count: number | null): string {
  return count === null ? '?' : grouped(count)
}

function bodyOf(ask: Ask, log: WholeLog, { part, title }: (typeof bodies)[number]): Html | null {
  const text = log[`${part}_head`]
  if (typeof text !== 'string') return null
  const isWhole = log[`${part}_head_complete`] === true
  const isBase64 = log[`${part}_head_encoding`] === 'base64'
  const path = paths.logBody(ask.account.id, ask.params.gateway!, log.id, part)
  const label = [title, isBase64 && 'as base64', !isWhole && 'only its beginning was kept']
    .filter(Boolean)
    .join(', ')
  return bodyBlock(label, text, html`<a href="${path}">Show all of it</a>`)
}

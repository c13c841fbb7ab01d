// A dry run: the response that a client would get for an error, and the rule or page behind it, without
// serving it. A draft of a rule or a page can be tried before it is set.

import { customErrorSources } from '../../metrics/counters/edge-metrics.ts'
import type { Facts, RequestFacts } from '../../expression/expression.ts'
import { nextRay } from '../../base/ids/ray.ts'
import type { ErrorPageType, ErrorRule } from '../../config/model/custom-errors-config.ts'
import { errorRows } from '../catalogue/catalogue.ts'
import type { ErrorResponse, Options } from '../audience/audience.ts'
import { compose } from '../audience/people.ts'
import { composeCustom } from './compose-custom.ts'
import { CustomErrors, type CustomLayer, type Replacement } from './custom-errors.ts'
import type { Occasion } from '../catalogue/problem.ts'
import { errorNameOf, type Refusal, refuse } from '../catalogue/refusal.ts'
import { noTls } from '../../expression/tls-facts.ts'

export interface PreviewAsk {
  readonly code: number
  readonly accept: string | null
  readonly host: string
  /** The name of the zone; empty for requests outside of all zones. */
  readonly zone: string
  /** Facts of the request; the default is a plain GET for /. */
  readonly facts?: Partial<RequestFacts>
  /** A draft that is evaluated before all other rules. */
  readonly rule?: ErrorRule
  /** A draft that replaces the zone's page of that type. */
  readonly page?: { readonly type: ErrorPageType; readonly html: string }
}

export const previewSources = ['draft_rule', ...customErrorSources, 'draft_page', 'default'] as const
type PreviewSource = (typeof previewSources)[number]

export interface Preview {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
  readonly source: PreviewSource
  /** The index among the rules of its owner; null if none applied, or the draft did. */
  readonly matched: number | null
  readonly rule: ErrorRule | null
}

/** Returns the response to an error; null for an unknown code. */
export function previewError(ask: PreviewAsk, custom: CustomErrors, options: Options): Preview | null {
  const name = errorNameOf(String(ask.code))
  if (name === null) return null
  const refusal = refuse(name)
  const facts = factsOf(ask, refusal)
  const origin = `${ask.facts?.scheme ?? plainRequest.scheme}://${ask.host}`
  const occasion = { ray: nextRay(), zone: ask.host, origin, accept: ask.accept, time: Date.now() }
  const replacement = findWith(ask, custom, refusal, facts)
  return show(replacement, composeReplacement(replacement, refusal, occasion, facts, options))
}

interface Choice {
  readonly replacement: Replacement | null
  readonly source: PreviewSource
}

function findWith(
  { rule, page }: PreviewAsk,
  custom: CustomErrors,
  { error }: Refusal,
  facts: Facts,
): Choice {
  const draft = rule === undefined ? null : new CustomErrors([{ rules: [rule], pages: {} }]).findRule(facts)
  if (draft !== null) return { replacement: draft, source: 'draft_rule' }
  const replacement = custom.findRule(facts) ?? (page ? withPage(custom, page) : custom).findPage(error)
  if (replacement === null) return { replacement, source: 'default' }
  const isDraft = replacement.source === 'zone_page' && replacement.page === page?.type
  return { replacement, source: isDraft ? 'draft_page' : replacement.source }
}

/** Puts a page above those of the zone, in its first layer. */
function withPage({ layers }: CustomErrors, page: NonNullable<PreviewAsk['page']>): CustomErrors {
  const [first = nothing, ...others] = layers.slice(0, -1)
  const pages = { ...first.pages, [page.type]: page.html }
  return new CustomErrors([{ rules: [], pages }, ...others, layers.at(-1) ?? nothing])
}

const nothing: CustomLayer = { rules: [], pages: {} }

function composeReplacement(
  { replacement }: Choice,
  refusal: Refusal,
  occasion: Occasion,
  facts: Facts,
  options: Options,
): ErrorResponse {
  return replacement === null
    ? compose(refusal, occasion, options)
    : composeCustom(replacement.content, refusal, occasion, facts)
}

function show({ replacement, source }: Choice, { status, headers, body }: ErrorResponse): Preview {
  const pairs = headers.flatMap((name, i): [string, string][] =>
    i % 2 === 0 ? [[name, headers[i + 1]!]] : [],
  )
  const { index: matched, rule } = replacement !== null && source !== 'draft_rule' ? replacement : noRule
  return { status, headers: pairs, body: Buffer.from(body, 'latin1').toString(), source, matched, rule }
}

const noRule = { index: null, rule: null }

function factsOf({ accept, host, zone, facts = {} }: PreviewAsk, { error: name }: Refusal): Facts {
  const { code, status, category } = errorRows[name]
  const headers = new Map(facts.headers)
  if (accept !== null) headers.set('accept', [accept])
  return {
    request: { ...plainRequest, ...facts, host, headers },
    response: { code: status },
    error: { code, name, category },
    zone,
  }
}

/** An address reserved for documentation (RFC 5737). */
const plainRequest = {
  method: 'GET',
  path: '/',
  query: '',
  ip: '192.0.2.1',
  country: '',
  asn: 0,
  scheme: 'http' as const,
  tls: noTls,
}

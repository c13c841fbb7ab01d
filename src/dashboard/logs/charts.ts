// The use of an AI gateway over time: requests, errors, tokens and cost, by model or by token.

import { type Html, html } from '../../base/text/html.ts'
import { makeInTurns } from '../../base/turns/map-in-turns.ts'
import { facts, notice } from '../../pages/parts/components.ts'
import type { Failure } from '../page/api-client.ts'
import type { Handler } from '../page/page-request.ts'
import { chart, maxSeries } from '../parts/chart.ts'
import { Draft } from '../parts/draft.ts'
import { selectField, textField } from '../parts/fields.ts'
import { emptyState } from '../parts/lists.ts'
import { compact, dollars, grouped } from '../parts/numbers.ts'
import { paths } from '../page/paths.ts'
import { crumbsOf, gatewayOf } from '../gateways/page-data.ts'
import { filtersOf, withoutTime } from './filters.ts'
import { span } from './log.ts'
import { isRange, type RangeName, ranges } from './ranges.ts'

interface Sums {
  readonly count: number
  readonly errors: number
  readonly tokens_in: number
  readonly tokens_out: number
  readonly cost: number
  readonly count_without_cost: number
  readonly count_cached: number
  readonly saved_tokens_in: number
  readonly saved_tokens_out: number
  readonly saved_cost: number
  readonly duration_p50: number | null
  readonly duration_p95: number | null
}

interface Line extends Sums {
  readonly points: readonly (Sums & { readonly at: string })[]
}

interface Group extends Line {
  readonly model?: string | null
  readonly token_id?: string | null
  readonly token_name?: string | null
}

interface Series extends Line {
  readonly is_complete: boolean
  readonly complete_since: string
  readonly groups: readonly Group[]
  readonly others: Line
}

const minute = 60_000
const hour = 60 * minute

/** The API windows of the bars, and the length of each bar, in ms. */
const bars: Readonly<Record<RangeName, { readonly bucket: string; readonly width: number }>> = {
  '1h': { bucket: 'minute', width: 2 * minute },
  '24h': { bucket: 'hour', width: hour },
  '7d': { bucket: 'hour', width: 6 * hour },
  '30d': { bucket: 'day', width: 24 * hour },
}

export const showCharts: Handler = async request => {
  const by = request.query.get('by') === 'token' ? 'token' : 'model'
  const range = request.query.get('range') ?? undefined
  const name: RangeName = isRange(range) ? range : '24h'
  const { bucket, width } = bars[name]
  const filters = withoutTime(filtersOf(request.query))
  const since = Math.floor((request.now - ranges[name].length) / width) * width
  const read = await request.api.tryGet<Series>(gatewayOf(request, 'logs', 'series'), {
    ...filters,
    group_by: by,
    bucket,
    start_date: new Date(since).toISOString(),
    end_date: new Date(request.now).toISOString(),
  })
  const { account, params } = request
  const logs = paths.logs(account.id, params.gateway!)
  const path = paths.charts(account.id, params.gateway!)
  const page = {
    title: 'Charts',
    crumbs: [...crumbsOf(request, true), { title: 'Logs', path: logs }],
    isWide: true,
  }
  if (!read.ok && read.status !== 400) return read
  const form = chartForm(path, { ...filters, by, range: name }, read.ok ? null : read)
  if (!read.ok) return { ...page, status: 422, content: form }
  const series = read.result
  const starts = startsOf(since, request.now, width)
  const visible =
    series.count === 0
      ? emptyState('No calls in this time', 'Choose a longer time, or take a filter away.')
      : html`<div class="card">${totals(series)}</div>${await chartsOf(series, by, starts)}`
  return {
    ...page,
    content: html`${form}<div id="charts"${!series.is_complete && html` data-live="2"`}>${series.is_complete ? visible : [notice('Earlier calls are being summed up. Without script, load the page again in a moment.'), series.count > 0 && visible]}</div>`,
  }
}

function chartForm(path: string, values: Readonly<Record<string, string>>, failure: Failure | null): Html {
  const draft = new Draft(values)
  const { by, range, model, token_id, ...others } = values
  const said = failure === null ? [] : Object.values(failure.faults)
  return html`<form class="card filters" role="search" aria-label="What is shown" method="get" action="${path}">${Object.entries(
    others,
  ).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )}${said.map(sentence => notice(sentence, 'bad'))}<div class="pair">${selectField(draft, {
    name: 'range',
    label: 'Time',
    options: Object.entries(ranges).map(([value, { label }]) => ({ value, label })),
  })}${selectField(draft, {
    name: 'by',
    label: 'By',
    options: [
      { value: 'model', label: 'Model' },
      { value: 'token', label: 'Token' },
    ],
  })}${textField(draft, { name: 'model', label: 'Model', isDependent: true, maxLength: 1_000 })}${textField(
    draft,
    {
      name: 'token_id',
      label: 'Token id',
      isDependent: true,
      maxLength: 1_000,
    },
  )}</div><div class="actions"><button class="plain small">Show</button>${Object.keys(values).length > 2 && html`<a href="${path}">Clear the filters</a>`}</div></form>`
}

function totals(series: Series): Html {
  const { count_without_cost: unknown, count_cached: reused, duration_p50, duration_p95 } = series
  return facts([
    ['Median', duration_p50 === null ? null : span(duration_p50)],
    ['95 % within', duration_p95 === null ? null : span(duration_p95)],
    ['Tokens', `${grouped(series.tokens_in)} in, ${grouped(series.tokens_out)} out`],
    [
      'Responses reused',
      reused === 0
        ? null
        : `${grouped(reused)} of ${grouped(series.count)}, which saved ${dollars(series.saved_cost)} and ${grouped(series.saved_tokens_in + series.saved_tokens_out)} tokens`,
    ],
    ['Unknown cost', unknown === 0 ? null : `${grouped(unknown)} ${unknown === 1 ? 'call' : 'calls'}`],
  ])
}

const measures = [
  { id: 'requests', title: 'Requests', of: ({ count }: Sums) => count, write: compact },
  { id: 'errors', title: 'Errors', of: ({ errors }: Sums) => errors, write: compact },
  {
    id: 'tokens',
    title: 'Tokens',
    of: ({ tokens_in, tokens_out }: Sums) => tokens_in + tokens_out,
    write: compact,
  },
  { id: 'cost', title: 'Cost', of: ({ cost }: Sums) => cost, write: dollars },
  { id: 'saved', title: 'Saved cost', of: ({ saved_cost }: Sums) => saved_cost, write: dollars },
] as const

/** Draws a chart of each measure, in several turns. */
async function chartsOf(
  { groups, others, saved_cost: saved }: Series,
  by: 'model' | 'token',
  starts: readonly number[],
): Promise<readonly Html[]> {
  const windows = starts.map(start => new Date(start).toISOString())
  const drawn: Html[] = []
  for (const { id, title, of, write } of measures) {
    // Most gateways reuse nothing.
    if (id === 'saved' && saved === 0) continue
    const values = ({ points }: Line) => spread(points, starts, of)
    const own = await makeInTurns(groups, group => ({ name: nameOf(group, by), values: values(group) }))
    const rest = [values(others), ...own.slice(maxSeries).map(({ values }) => values)]
    const parts = {
      id,
      title,
      windows,
      write,
      series: own.slice(0, maxSeries),
      others: { name: 'Others', values: starts.map((_, at) => rest.reduce((sum, one) => sum + one[at]!, 0)) },
    }
    drawn.push(await chart(parts))
  }
  return drawn
}

/** Adds points up to bars. */
function spread(points: Line['points'], starts: readonly number[], of: (sums: Sums) => number): number[] {
  const values = starts.map(() => 0)
  const width = starts.length > 1 ? starts[1]! - starts[0]! : 1
  for (const point of points) {
    const at = Math.floor((Date.parse(point.at) - starts[0]!) / width)
    if (at >= 0 && at < values.length) values[at]! += of(point)
  }
  return values
}

function startsOf(since: number, now: number, width: number): readonly number[] {
  return Array.from({ length: Math.max(1, Math.ceil((now - since) / width)) }, (_, i) => since + i * width)
}

function nameOf({ model, token_id, token_name }: Group, by: 'model' | 'token'): string {
  if (by === 'model') return model ?? 'Unknown model'
  return token_name ?? token_id ?? 'Without a token'
}

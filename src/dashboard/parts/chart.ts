// Charts of sums over time: stacked bars, drawn by the server, with their figures in a table behind them.

import { type Html, html } from '../../base/text/html.ts'
import { makeInTurns } from '../../base/turns/map-in-turns.ts'
import { pause } from '../../base/turns/turns.ts'
import { isolated } from '../../pages/parts/components.ts'
import { time } from './values.ts'

interface Series {
  readonly name: string
  /** One for each window. */
  readonly values: readonly number[]
  /** The index of its colour, from 0; by default that of its place. */
  readonly colour?: number
}

interface Chart {
  /** Id within the document, for parts that refer to each other. */
  readonly id: string
  readonly title: string
  /** The beginning of each window, in the format of the API. */
  readonly windows: readonly string[]
  /** From the bottom up; at most `maxSeries`, and all others together. */
  readonly series: readonly Series[]
  readonly others?: Series
  readonly write: (value: number) => string
}

export const maxSeries = 5

/** Makes a chart, in several turns; if all values are 0 it says so. */
export async function chart(parts: Chart): Promise<Html> {
  const { id, title, windows, series, others, write } = parts
  const rows = rowsOf(series, others)
  const sums = windows.map((_, at) => sumOf(rows.map(({ values }) => values[at]!)))
  const total = sumOf(sums)
  return html`<section class="card chart" aria-labelledby="${id}"><h2 id="${id}">${title} <span class="total">${write(total)}</span></h2>${
    total === 0
      ? html`<p class="hint">None in this time.</p>`
      : html`${legend(rows, write)}${await plot(parts, rows, sums)}${await figures(parts, rows, sums)}`
  }</section>`
}

interface Row extends Series {
  readonly look: string
}

/** Returns the non-empty series. */
function rowsOf(series: readonly Series[], others: Series | undefined): readonly Row[] {
  const rows = series.map((one, i) => ({ ...one, look: `s${one.colour ?? i}` }))
  if (others !== undefined) rows.push({ ...others, look: 'rest' })
  return rows.filter(({ values }) => values.some(value => value > 0))
}

function legend(rows: readonly Row[], write: Chart['write']): Html {
  return html`<ul class="legend">${rows.map(
    ({ name, look, values }) =>
      html`<li><span class="swatch ${look}"></span>${isolated(name)} <span class="hint">${write(sumOf(values))}</span></li>`,
  )}</ul>`
}

/** Units of the drawing, which is stretched to the width of the page. */
const height = 160
const step = 20

async function plot(
  { title, windows, write }: Chart,
  rows: readonly Row[],
  sums: readonly number[],
): Promise<Html> {
  await pause()
  const top = ceilingOf(Math.max(...sums))
  const width = windows.length * step
  const heightOf = (value: number) => Math.round((value / top) * height * 10) / 10
  const base = windows.map(() => 0)
  const bars = rows.map(({ look, values }) => {
    const path = values.map((value, at) => {
      if (value === 0) return ''
      const bottom = height - heightOf(base[at]!)
      base[at]! += value
      return `M${at * step + 3} ${round(bottom)}v-${round(bottom - (height - heightOf(base[at]!)))}h14V${round(bottom)}z`
    })
    return html`<path class="${look}" d="${path.join('')}"/>`
  })
  const hits = await makeInTurns(
    windows,
    (at, i) =>
      html`<path d="M${i * step} 0h${step}v${height}h-${step}z"><title>${`${momentOf(at)}: ${write(sums[i]!)}`}</title></path>`,
  )
  return html`<div class="plot"><div class="scale" aria-hidden="true"><span>${write(top)}</span><span>${write(top / 2)}</span><span>0</span></div>
<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${title} over time, as bars; the table has the figures"><path class="grid" d="M0 .5H${width}M0 ${height / 2}H${width}M0 ${height - 0.5}H${width}"/>${bars}<g class="hits">${hits}</g></svg>
<div class="span"><span>${time(windows[0])}</span><span>${time(windows.at(-1))}</span></div></div>`
}

/** Makes the table of all figures, without empty windows. */
async function figures(
  { id, title, windows, write }: Chart,
  rows: readonly Row[],
  sums: readonly number[],
): Promise<Html> {
  const visible = windows.flatMap((at, i) => (sums[i] === 0 ? [] : [{ at, i }]))
  const lines = await makeInTurns(
    visible,
    ({ at, i }) =>
      html`<tr><th scope="row">${time(at)}</th>${rows.length > 1 && html`<td>${write(sums[i]!)}</td>`}${rows.map(({ values }) => html`<td>${write(values[i]!)}</td>`)}</tr>`,
  )
  return html`<details><summary>Table<span class="unseen"> of ${title.toLowerCase()}</span></summary><div class="figures" tabindex="0" role="region" aria-label="${title} in figures"><table id="${id}-table"><caption>${title}; times without any are left out</caption>
<thead><tr><th scope="col">From</th>${rows.length > 1 && html`<th scope="col">All</th>`}${rows.map(({ name }) => html`<th scope="col">${isolated(name)}</th>`)}</tr></thead>
<tbody>${lines}</tbody></table></div></details>`
}

/** Returns the next round number from a value up: 1, 2 or 5 and zeros. */
export function ceilingOf(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  const [first = 10] = [1, 2, 5].filter(one => one * power >= value)
  return first * power
}

function momentOf(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}

// Draws the main results as a chart in SVG, which is readable on light and dark pages.
import { NATIVE, OPEN } from './mixes.ts'
import { intervalOf, type Results, type Subject } from './results.ts'
import { boundOn, TARGETS } from './targets.ts'

/** A bar: a ratio with its interval, and what is meant to be reached. */
interface Bar {
  readonly label: string
  readonly ratio: number
  readonly low: number
  readonly high: number
  readonly bound: number | null
}

const cost = (peer: string, mix: Subject['mix']): Subject => ({ peer, mix, metric: 'cost' })

const pairs: readonly (readonly [label: string, subject: Subject, base: Subject])[] = [
  ['GET', cost('gatehouse', 'get'), cost('nginx', 'get')],
  ['POST', cost('gatehouse', 'post'), cost('nginx', 'post')],
  ['1 MiB up', cost('gatehouse', 'upload'), cost('nginx', 'upload')],
  ['1 MiB down', cost('gatehouse', 'download'), cost('nginx', 'download')],
  ['GET over TLS', cost('gatehouse', 'tls'), cost('nginx', 'tls')],
  ['GET over HTTP/2', cost('gatehouse', 'h2'), cost('nginx', 'h2')],
  ['GET, 100 streams at once', cost('gatehouse', 'streams'), cost('nginx', 'streams')],
  ['chat, proxied', cost('gatehouse', 'chat'), cost('nginx', 'chat')],
  ['chat, without token and log', cost(OPEN, 'chat'), cost('nginx', 'chat')],
  ['chat, with token and log', cost(NATIVE, 'chat'), cost('nginx', 'chat')],
  ['streamed token', cost(NATIVE, 'ttft'), cost('nginx', 'ttft')],
]

const [width, rowHeight, top, bottom] = [720, 26, 52, 34]
const [left, right] = [210, 60]
const barHeight = 12
const fewestSteps = 2

/** Returns the chart of CPU against nginx: a bar for each mix that was measured, with its interval and its target. */
export function chartOf(results: Results): string {
  const bars = pairs.flatMap(([label, subject, base]) => barOf(results, label, subject, base))
  const last = Math.max(fewestSteps, ...bars.map(({ high, bound }) => Math.ceil(Math.max(high, bound ?? 0))))
  const height = top + bars.length * rowHeight + bottom
  const x = (value: number) => left + ((width - left - right) * value) / last
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title">
<title id="title">CPU per request against nginx: ${bars.map(said).join(', ')}</title>
<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.small { font-size: 11px; fill: #59636e }
.bar { fill: #2f6fdb }
.line { stroke: #d1d9e0 }
.one { stroke: #59636e }
.interval { stroke: #1f2328; stroke-width: 1.5 }
.target { stroke: #c2410c; stroke-width: 2 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .small { fill: #9198a1 } .bar { fill: #5b9bf5 } .line { stroke: #3d444d } .one { stroke: #9198a1 } .interval { stroke: #e6edf3 } .target { stroke: #fb923c }
}
</style>
<text x="${left}" y="18">CPU per request, nginx = 1</text>
${Array.from({ length: last + 1 }, (_, step) => grid(step, x(step), height)).join('\n')}
${bars.map((bar, row) => drawn(bar, top + row * rowHeight, x)).join('\n')}
<text class="small" x="${left}" y="${height - 8}">thin line: 95 % interval; upright line: target; ${escaped(results.date)}, ${escaped(results.machine.processor)}</text>
</svg>
`
}

function barOf(results: Results, label: string, subject: Subject, base: Subject): Bar[] {
  const found = intervalOf(results, subject, base)
  if (found === null) return []
  const target = TARGETS.find(
    ({ compared }) => compared !== undefined && isSame(compared[0], subject) && isSame(compared[1], base),
  )
  const { ratio, low, high } = found
  const bound = target ? boundOn(target.bound, results.machine.processor) : null
  return [{ label, ratio, low, high, bound }]
}

function isSame(a: Subject, b: Subject): boolean {
  return a.peer === b.peer && a.mix === b.mix && a.metric === b.metric
}

function grid(step: number, x: number, height: number): string {
  const end = height - bottom
  return `<line class="${step === 1 ? 'one' : 'line'}" x1="${x}" x2="${x}" y1="${top - 12}" y2="${end}"/><text class="small" x="${x}" y="${top - 15}" text-anchor="middle">${step}</text>`
}

function drawn(bar: Bar, y: number, x: (value: number) => number): string {
  const middle = y + barHeight / 2
  const at = (value: number) => x(value).toFixed(1)
  return [
    `<text x="${left - 10}" y="${y + barHeight - 1}" text-anchor="end">${escaped(bar.label)}</text>`,
    `<rect class="bar" x="${left}" y="${y}" width="${(x(bar.ratio) - left).toFixed(1)}" height="${barHeight}" rx="2"/>`,
    `<line class="interval" x1="${at(bar.low)}" x2="${at(bar.high)}" y1="${middle}" y2="${middle}"/>`,
    ...(bar.bound === null
      ? []
      : [
          `<line class="target" x1="${at(bar.bound)}" x2="${at(bar.bound)}" y1="${y - 4}" y2="${y + barHeight + 4}"/>`,
        ]),
    `<text x="${x(Math.max(bar.high, bar.bound ?? 0)) + 8}" y="${y + barHeight - 1}">${bar.ratio.toFixed(2)}</text>`,
  ].join('')
}

function said({ label, ratio }: Bar): string {
  return escaped(`${label} ${ratio.toFixed(2)}`)
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

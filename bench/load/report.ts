// Writes the results of a bench as Markdown tables: pure functions for run.ts.
import { looks } from '../interleaved/interval.ts'
import { CONNECTIONS, MIX_NAMES, MIXES, type MixName } from './mixes.ts'
import { intervalOf, METRICS, type Metric, type Results, ratio, type Soak, typical } from './results.ts'
import { boundOn, isAmd, outcomeOf, type Outcome, TARGETS, type Target } from './targets.ts'
import { profileTables } from '../profile/profile-tables.ts'

const BASE = 'nginx'
const noteMarks = '¹²³⁴⁵⁶⁷⁸⁹'
const marks: Readonly<Record<Outcome, string>> = { met: '✓', missed: '✗', undecided: '?', 'not measured': '' }

/** Returns the whole report: the setting, the targets, and a table for each mix that was measured. */
export function report(results: Results): string {
  const mixes = MIX_NAMES.filter(mix => results.runs.some(run => run.mix === mix))
  const parts = [
    setting(results),
    `## Targets\n\n${targetTable(results)}`,
    results.profile ? `## Profile\n\n${profileTables(results.profile)}` : '',
    ...mixes.map(mix => mixTable(results, mix)),
    soakTable(results.apart?.findLast(({ soak }) => soak !== null)?.soak ?? results.soak),
    surprises(results),
  ]
  return `${parts.filter(Boolean).join('\n\n')}\n`
}

/** Writes what was measured beside each target, and whether that is met. */
export function targetTable(results: Results): string {
  const { apart = [], profile: _profile, figures: _figures, ...rest } = results
  const later = apart.map(part => ({ ...rest, ...part }))
  const used = new Set<number>()
  const rows = TARGETS.map(target => {
    const at = later.findLastIndex(one => target.measured(one) !== null)
    const found = later[at] ?? results
    if (at !== -1) used.add(at)
    return [
      target.name + (at === -1 ? '' : ` ${noteMarks[at]}`),
      `${target.sense} ${boundOn(target.bound, found.machine.processor)}${target.unit}`,
      measured(target, found),
      marks[outcomeOf(target, found)],
    ]
  })
  const whole = table(['target', 'bound', 'measured', 'met'], rows)
  const notes = [...used]
    .sort((a, b) => a - b)
    .map(at => `${noteMarks[at]} Measured apart: ${lengthOf(apart[at]!)}, ${apart[at]!.machine.processor}.`)
  const family = isAmd(results.machine.processor) ? 'AMD' : 'other makers than AMD, such as Intel'
  const bounds = `Where bounds differ by processor, they are those for processors of ${family}.`
  return [whole, bounds, ...notes].join('\n\n')
}

/** Says which of the contestants wrote access logs. */
export function accessLogs({ hasAccessLogs }: Results): string {
  return hasAccessLogs
    ? 'Gatehouse and nginx write access logs, as lines of JSON with the same fields; the others write none, as they come.'
    : 'Nobody writes an access log.'
}

/** Says how long was measured, and on which day. */
export function lengthOf({
  date,
  rounds,
  seconds,
  blocks,
  slice,
  launches = 1,
}: Pick<Results, 'date' | 'rounds' | 'seconds' | 'blocks' | 'slice' | 'launches'>): string {
  if (blocks === undefined) return `medians over ${rounds} × ${seconds} s on ${date}`
  const extent = launches === 1 ? `up to ${blocks}` : `${launches} launches of ${looks[0]}`
  return `${extent} blocks of two slices of ${slice} ms on ${date}`
}

/** Writes the typical value, with its ratio to nginx where that says something. */
export function cell(results: Results, peer: string, mix: MixName, metric: Metric): string {
  const value = short(typical(results.runs, { peer, mix, metric }))
  if (peer === BASE || !isComparable(mix, metric)) return value
  const [subject, base] = [peer, BASE].map(peer => ({ peer, mix, metric }))
  const factor = intervalOf(results, subject!, base!)?.ratio ?? ratio(results.runs, subject!, base!)
  return factor === null ? value : `${value} (${short(factor)}×)`
}

/** Formats a number with three significant digits, and whole from a hundred on; a dash where there is none. */
export function short(value: number | null): string {
  if (value === null || Number.isNaN(value)) return '–'
  if (Math.abs(value) >= 99.95) return value.toFixed(0)
  return value.toFixed(Math.abs(value) >= 9.995 ? 1 : 2)
}

/** Formats a number near a bound, with two digits behind the point at least. */
export function fine(value: number): string {
  return Math.abs(value) >= 9.995 ? short(value) : value.toFixed(Math.abs(value) < 0.0995 ? 3 : 2)
}

/** Makes a table; it aligns the first column to the left and the others to the right, so that the text reads well unrendered too. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map(row => row[column]!.length)))
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  const align = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)
  return [head, rule, ...rows].map(row => `| ${row.map(align).join(' | ')} |`).join('\n')
}

function setting(results: Results): string {
  const { date, machine, peers, rounds, seconds } = results
  const present = Object.entries(peers).map(
    ([name, version]) => `${name} ${version ?? 'not installed, skipped'}`,
  )
  return [
    `# Load, ${date}`,
    '',
    `- ${machine.processor}, ${machine.memory}, ${machine.system}, Node ${machine.node}`,
    `- ${present.join(', ')}`,
    `- Every proxy has one process, keep-alive to the same origin; wrk holds ${CONNECTIONS} connections on the same machine`,
    `- ${accessLogs(results)}`,
    results.blocks === undefined
      ? `- Medians over ${rounds} × ${seconds} s in alternating order, each in a fresh process after two seconds of warm-up; in brackets the median of the ratios to ${BASE} within each round`
      : `- All contestants of a mix run beside each other, and the load alternates; ${lengthOf(results)}; in brackets the ratio to ${BASE}, with its 95 % interval where there is a target`,
  ].join('\n')
}

function measured(target: Target, results: Results): string {
  const found = target.measured(results)
  if (found === null) return 'not measured'
  const { value, low, high } = found
  const interval = low === undefined || high === undefined ? '' : ` (${fine(low)}–${fine(high)})`
  return `${interval ? fine(value) : short(value)}${target.unit}${interval}`
}

function mixTable(results: Results, mix: MixName): string {
  const { runs, peers } = results
  const { title, unit, note } = MIXES[mix]
  const isThere = (metric: Metric) => runs.some(run => run.mix === mix && run[metric] !== undefined)
  const metrics = METRICS.filter(metric => isShown(mix, metric) && isThere(metric))
  const head = ['', ...metrics.map(metric => heading(metric, unit))]
  const names = Object.keys(peers).filter(name => runs.some(run => run.peer === name && run.mix === mix))
  const rows = names.map(peer => [peer, ...metrics.map(metric => cell(results, peer, mix, metric))])
  return [`## ${mix}: ${title}`, table(head, rows), note].filter(Boolean).join('\n\n')
}

function heading(metric: Metric, unit: string): string {
  const headings = {
    cost: `CPU µs per ${unit}`,
    rate: `${unit}s/s`,
    p50: 'p50 ms',
    p99: 'p99 ms',
    memory: 'RSS MiB',
    attempts: `connects per ${unit}`,
    dropped: `entries dropped per ${unit}`,
  }
  return headings[metric]
}

function isShown(mix: MixName, metric: Metric): boolean {
  if (metric === 'attempts') return mix === 'down'
  return metric !== 'dropped' || mix === 'chat'
}

/** Tells whether a ratio says anything: an added time may be near or below zero, and connects and entries are no cost by themselves. */
function isComparable(mix: MixName, metric: Metric): boolean {
  if (metric === 'attempts' || metric === 'dropped') return false
  return MIXES[mix].unit !== 'event' || (metric !== 'p50' && metric !== 'p99')
}

function soakTable(soak: Soak | null | undefined): string {
  if (!soak?.readings) return ''
  const rows = soak.readings.map(({ requests, memory, heap }) => [`${requests}`, short(memory), short(heap)])
  return [
    '## soak: memory over requests of every kind',
    table(['requests', 'RSS MiB', 'live heap MiB'], rows),
    'GET, POST, chats by both routes with a log, streamed chats, and what is refused or fails: by a rule, for an unknown token, by the origin, and for an origin that is down. RSS is the median since the line above, and the heap is read behind a collection of garbage.',
  ].join('\n\n')
}

function surprises({ runs, soak }: Results): string {
  const odd = runs.filter(run => run.unexpected > 0)
  const lines = odd.map(run => `- ${run.peer}, ${run.mix}, round ${run.round}: ${run.unexpected}`)
  if (soak?.unexpected) lines.push(`- soak: ${soak.unexpected}`)
  return lines.length === 0 ? '' : `## Unexpected answers and broken connections\n\n${lines.join('\n')}`
}

// Puts the results of a bench into the pages that people read: pure functions for run.ts.
import { CONNECTIONS, GATEWAYS, type MixName, NATIVE } from './mixes.ts'
import { accessLogs, cell, lengthOf, short, table, targetTable } from './report.ts'
import { type Metric, type Results, typical } from './results.ts'

const BLOCK = /(?<=^<!-- bench -->\n).*(?=^<!-- \/bench -->$)/ms

/** The pages with results, each with what it shows of them. */
export const published: ReadonlyMap<string, (results: Results) => string> = new Map([
  ['README.md', results => parts(chart(results, 'docs/images'), peerTable(results), setting(results))],
  [
    'docs/benchmarks.md',
    results =>
      parts(
        chart(results, 'images'),
        '### Proxies',
        peerTable(results),
        '### AI gateways',
        gatewayTable(results),
        '### Targets',
        targetTable(results),
        '### How it was measured',
        setting(results),
        '[The whole report](../bench/results/latest.md) has every measurement.',
      ),
  ],
  ['docs/production.md', results => sizing(results)],
])

/** Returns the text of a page with what it shows of the results between its two marks; throws when it has none. */
export function withResults(page: string, text: string, results: Results): string {
  if (!BLOCK.test(text)) throw new Error(`${page} has no <!-- bench --> and <!-- /bench -->`)
  return text.replace(BLOCK, () => `\n${published.get(page)!(results)}\n\n`)
}

const parts = (...all: readonly string[]): string => all.filter(Boolean).join('\n\n')

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Shows the chart that is drawn of results with ratios. */
function chart({ ratios }: Results, folder: string): string {
  return ratios ? `![CPU per request against nginx, with 95 % intervals](${folder}/benchmarks.svg)` : ''
}

function peerTable(results: Results): string {
  const { runs, peers } = results
  const names = Object.keys(peers).filter(name => runs.some(run => run.peer === name && run.mix === 'get'))
  const value = (peer: string, mix: MixName, metric: Metric) => short(typical(runs, { peer, mix, metric }))
  return withoutEmpty(
    ['', 'GET µs', 'POST µs', '1 MiB up µs', '1 MiB down µs', 'GET requests/s', 'error µs'],
    names.map(peer => [
      peer,
      cell(results, peer, 'get', 'cost'),
      cell(results, peer, 'post', 'cost'),
      cell(results, peer, 'upload', 'cost'),
      cell(results, peer, 'download', 'cost'),
      value(peer, 'get', 'rate'),
      value(peer, 'down', 'cost'),
    ]),
  )
}

function gatewayTable(results: Results): string {
  const { runs, peers } = results
  const head = ['', 'chat µs', 'chats/s a core', 'first token added, p50 ms', 'p99 ms', 'streamed token µs']
  const names = GATEWAYS.filter(name => name in peers)
  const value = (peer: string, mix: MixName, metric: Metric) => short(typical(runs, { peer, mix, metric }))
  const rows = names.map(peer => [
    peer,
    cell(results, peer, 'chat', 'cost'),
    short(1e6 / (typical(runs, { peer, mix: 'chat', metric: 'cost' }) ?? Number.NaN)),
    value(peer, 'ttft', 'p50'),
    value(peer, 'ttft', 'p99'),
    value(peer, 'ttft', 'cost'),
  ])
  return table(head, rows)
}

/** Shows what one core has the time for, rounded down to two digits. */
function sizing({ runs, date, machine }: Results): string {
  const perSecond = (peer: string, mix: MixName) => {
    const rate = 1e6 / (typical(runs, { peer, mix, metric: 'cost' }) ?? Number.NaN)
    const unit = 10 ** Math.floor(Math.log10(rate) - 1)
    return Number.isFinite(rate)
      ? `${(Math.floor(rate / unit) * unit).toLocaleString('en-US')} a second`
      : 'not measured'
  }
  return parts(
    table(
      ['', 'per core'],
      [
        ['plain requests of a few kB', perSecond('gatehouse', 'get')],
        ['AI calls with token and log', perSecond(NATIVE, 'chat')],
        ['streamed tokens of AI calls', perSecond(NATIVE, 'ttft')],
      ],
    ),
    `Calculated from the CPU time measured on ${date}: ${machine.processor}, Node ${machine.node}.`,
  )
}

/** Makes a table of the columns that have a value. */
function withoutEmpty(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const isFull = (_: string, column: number) => rows.some(row => row[column] !== '–')
  return table(
    head.filter(isFull),
    rows.map(row => row.filter(isFull)),
  )
}

function setting(results: Results): string {
  const { machine } = results
  return [
    'µs are CPU time of the proxy per request, with the ratio to nginx in brackets.',
    accessLogs(results),
    `For "error µs", ${CONNECTIONS} requests wait for an origin that refuses connections. In Gatehouse, they share one refusal; elsewhere, each pays for a connection attempt.`,
    `${sentence(lengthOf(results))}:`,
    `${machine.processor}, ${machine.memory}, ${machine.system}, Node ${machine.node}.`,
  ].join('\n')
}

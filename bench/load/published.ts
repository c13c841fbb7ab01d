// Puts the results of a bench into the pages that people read: pure functions for run.ts.
import { CONNECTIONS, GATEWAYS, type MixName } from './mixes.ts'
import { cell, lengthOf, short, table, targetTable } from './report.ts'
import { type Metric, type Results, typical } from './results.ts'

const BLOCK = /(?<=^<!-- bench -->\n).*(?=^<!-- \/bench -->$)/ms

/** The pages with results, each with what it shows of them. */
export const published: ReadonlyMap<string, (results: Results) => string> = new Map([
  ['README.md', results => parts(peerTable(results), setting(results))],
  [
    'docs/benchmarks.md',
    results =>
      parts(
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
])

/** Returns the text of a page with what it shows of the results between its two marks; throws when it has none. */
export function withResults(page: string, text: string, results: Results): string {
  if (!BLOCK.test(text)) throw new Error(`${page} has no <!-- bench --> and <!-- /bench -->`)
  return text.replace(BLOCK, () => `\n${published.get(page)!(results)}\n\n`)
}

const parts = (...all: readonly string[]): string => all.join('\n\n')

function peerTable({ runs, peers }: Results): string {
  const head = ['', 'GET µs', 'POST µs', '1 MiB body µs', 'GET requests/s', 'error µs']
  const names = Object.keys(peers).filter(name => runs.some(run => run.peer === name && run.mix === 'get'))
  const rows = names.map(peer => [
    peer,
    cell(runs, peer, 'get', 'cost'),
    cell(runs, peer, 'post', 'cost'),
    short(typical(runs, { peer, mix: 'body1m', metric: 'cost' })),
    short(typical(runs, { peer, mix: 'get', metric: 'rate' })),
    short(typical(runs, { peer, mix: 'down', metric: 'cost' })),
  ])
  return table(head, rows)
}

function gatewayTable({ runs, peers }: Results): string {
  const head = ['', 'chat µs', 'chats/s a core', 'first token added, p50 ms', 'p99 ms', 'streamed token µs']
  const names = GATEWAYS.filter(name => name in peers)
  const value = (peer: string, mix: MixName, metric: Metric) => short(typical(runs, { peer, mix, metric }))
  const rows = names.map(peer => [
    peer,
    cell(runs, peer, 'chat', 'cost'),
    short(1e6 / (typical(runs, { peer, mix: 'chat', metric: 'cost' }) ?? Number.NaN)),
    value(peer, 'ttft', 'p50'),
    value(peer, 'ttft', 'p99'),
    value(peer, 'ttft', 'cost'),
  ])
  return table(head, rows)
}

function setting(results: Results): string {
  const { machine } = results
  return [
    'µs are CPU time of the proxy per request. The ratio to nginx is in brackets.',
    `For "error µs", ${CONNECTIONS} requests wait for an origin that refuses connections. In Gatehouse they share a refusal; elsewhere each pays for a connect.`,
    `Medians over ${lengthOf(results)}:`,
    `${machine.processor}, ${machine.memory}, ${machine.system}, Node ${machine.node}.`,
  ].join('\n')
}

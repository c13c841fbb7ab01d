// Puts the results of a bench, in short, into the README: pure functions for run.ts.
import { CONNECTIONS, GATEWAYS, type MixName } from './mixes.ts'
import { cell, short, table, targetTable } from './report.ts'
import { type Metric, type Results, typical } from './results.ts'

const BLOCK = /(?<=^<!-- bench -->\n).*(?=^<!-- \/bench -->$)/ms

/** Returns the README with the results between its two marks; throws when it has none. */
export function withResults(readme: string, results: Results): string {
  if (!BLOCK.test(readme)) throw new Error('README.md has no <!-- bench --> and <!-- /bench -->')
  return readme.replace(BLOCK, () => `\n${summary(results)}\n\n`)
}

function summary(results: Results): string {
  const tables = [targetTable(results), peerTable(results), gatewayTable(results)]
  return [...tables, setting(results)].join('\n\n')
}

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

function setting({ date, machine, rounds, seconds }: Results): string {
  return [
    `µs are CPU time of the proxy per request, in brackets the ratio to nginx; those of an error with ${CONNECTIONS} requests waiting for an origin that refuses, who share its refusals here and pay a connect each elsewhere.`,
    `Medians over ${rounds} × ${seconds} s on ${date}:`,
    `${machine.processor}, ${machine.memory}, ${machine.system}, Node ${machine.node}.`,
    '`bench/results/latest.md` has the rest.',
  ].join('\n')
}

// Puts the results of a bench, in short, into the README: pure functions for run.ts.
import { CONNECTIONS } from './mixes.ts'
import { cell, short, table, targetTable } from './report.ts'
import { type Results, typical } from './results.ts'

const BLOCK = /(?<=^<!-- bench -->\n).*(?=^<!-- \/bench -->$)/ms

/** Returns the README with the results between its two marks; throws when it has none. */
export function withResults(readme: string, results: Results): string {
  if (!BLOCK.test(readme)) throw new Error('README.md has no <!-- bench --> and <!-- /bench -->')
  return readme.replace(BLOCK, () => `\n${summary(results)}\n\n`)
}

function summary(results: Results): string {
  return [targetTable(results), peerTable(results), setting(results)].join('\n\n')
}

function peerTable({ runs, peers }: Results): string {
  const head = ['', 'GET µs', 'POST µs', '1 MiB body µs', 'GET requests/s', 'error µs']
  const names = Object.keys(peers).filter(name => runs.some(run => run.peer === name))
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

function setting({ date, machine, rounds, seconds }: Results): string {
  return [
    `µs are CPU time of the proxy per request, in brackets the ratio to nginx; those of an error with ${CONNECTIONS} requests waiting for an origin that refuses, who share its refusals here and pay a connect each elsewhere.`,
    `Medians over ${rounds} × ${seconds} s on ${date}:`,
    `${machine.processor}, ${machine.memory}, ${machine.system}, Node ${machine.node}.`,
    '`bench/results/latest.md` has the rest.',
  ].join('\n')
}

// The results in the README.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { withResults } from '../../../bench/load/readme.ts'
import type { Results } from '../../../bench/load/results.ts'
import { root } from '../../help/source.ts'

const SAMPLE = {
  round: 1,
  rate: 20_000,
  p50: 1,
  p99: 2,
  memory: 8,
  attempts: 0,
  dropped: 0,
  unexpected: 0,
} as const
const RESULTS: Results = {
  date: '2026-01-02',
  machine: { processor: '2 × $& Quick', memory: '4 GiB', system: 'Linux 6.1', node: '26.0.0' },
  peers: { gatehouse: '0.1.0', 'gatehouse native': '0.1.0', nginx: '1.22.1', caddy: null },
  rounds: 5,
  seconds: 3,
  runs: [
    { ...SAMPLE, peer: 'gatehouse', mix: 'get', cost: 21 },
    { ...SAMPLE, peer: 'nginx', mix: 'get', cost: 10, rate: 80_000 },
    { ...SAMPLE, peer: 'gatehouse', mix: 'down', cost: 15 },
    { ...SAMPLE, peer: 'gatehouse', mix: 'body1m', cost: 1234 },
    { ...SAMPLE, peer: 'gatehouse native', mix: 'chat', cost: 25 },
    { ...SAMPLE, peer: 'nginx', mix: 'chat', cost: 12.5 },
    { ...SAMPLE, peer: 'gatehouse native', mix: 'ttft', cost: 18, p50: 0.2, p99: 0.8 },
  ],
  startup: 300,
  soak: null,
  scan: null,
}
const MARKED = '# Proxy\n<!-- bench -->\nold\n<!-- /bench -->\nThe end\n'

test('a peer that was measured has a row, with its ratios to nginx in brackets', () => {
  assert.deepEqual(rowsUnder('GET µs'), [
    '| gatehouse | 21.0 (2.10×) | – | 1234 | 20000 | 15.0 |',
    '| nginx | 10.0 | – | – | 80000 | – |',
  ])
})

test('a gateway has a row in a table of its own, with its chats a second of a whole core', () => {
  assert.deepEqual(rowsUnder('chat µs'), [
    '| gatehouse | – | – | – | – | – |',
    '| gatehouse native | 25.0 (2.00×) | 40000 | 0.20 | 0.80 | 18.0 |',
    '| nginx | 12.5 | 80000 | – | – | – |',
  ])
})

test('the targets stand before it, and the machine and the date behind', () => {
  const text = withResults(MARKED, RESULTS).replace(/ +/g, ' ')
  assert.match(
    text,
    /\| GET: CPU per request against nginx \| at most 2.2× \| 2.10× \| ✓ \|[\s\S]*\| gatehouse \|/,
  )
  assert.match(text, /Medians over 5 × 3 s on 2026-01-02:\n2 × \$& Quick, 4 GiB, Linux 6.1, Node 26.0.0.\n/)
})

test('only what is between the marks changes, and again the same gives the same', () => {
  const once = withResults(MARKED, RESULTS)
  assert.match(once, /^# Proxy\n<!-- bench -->\n\n\|[\s\S]*\n\n<!-- \/bench -->\nThe end\n$/)
  assert.doesNotMatch(once, /old/)
  assert.equal(withResults(once, RESULTS), once)
})

test('a README without the marks is an error, and the one of this project has them', () => {
  assert.throws(() => withResults('# Proxy\n', RESULTS), /has no <!-- bench -->/)
  assert.doesNotThrow(() => withResults(readFileSync(join(root, 'README.md'), 'utf8'), RESULTS))
})

function rowsUnder(heading: string): string[] {
  const blocks = withResults(MARKED, RESULTS).replace(/ +/g, ' ').split('\n\n')
  const block = blocks.find(block => block.startsWith(`| | ${heading} `))
  return block!.split('\n').slice(2)
}

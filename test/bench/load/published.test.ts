// The results in the pages that people read.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { published, withResults } from '../../../bench/load/published.ts'
import type { Results } from '../../../bench/load/results.ts'
import { readPage } from '../../help/docs.ts'
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
    { ...SAMPLE, peer: 'gatehouse', mix: 'upload', cost: 1234 },
    { ...SAMPLE, peer: 'gatehouse native', mix: 'chat', cost: 25 },
    { ...SAMPLE, peer: 'nginx', mix: 'chat', cost: 12.5 },
    { ...SAMPLE, peer: 'gatehouse native', mix: 'ttft', cost: 18, p50: 0.2, p99: 0.8 },
  ],
  startup: 300,
  soak: null,
  scan: null,
}
const PAGE = 'docs/benchmarks.md'
const MARKED = '# Proxy\n<!-- bench -->\nold\n<!-- /bench -->\nThe end\n'

test('a peer that was measured has a row, with its ratios to nginx in brackets', () => {
  assert.deepEqual(rowsUnder('GET µs'), [
    '| gatehouse | 21.0 (2.10×) | 1234 | 20000 | 15.0 |',
    '| nginx | 10.0 | – | 80000 | – |',
  ])
})

test('a gateway has a row in a table of its own, with its chats a second of a whole core', () => {
  assert.deepEqual(rowsUnder('chat µs'), [
    '| gatehouse | – | – | – | – | – |',
    '| gatehouse native | 25.0 (2.00×) | 40000 | 0.20 | 0.80 | 18.0 |',
    '| nginx | 12.5 | 80000 | – | – | – |',
  ])
})

test('the targets are in a table, and the machine and the date below', () => {
  const text = withResults(PAGE, MARKED, RESULTS).replace(/ +/g, ' ')
  assert.match(text, /\| GET: CPU per request against nginx \| at most 1.6× \| 2.10× \| ✗ \|/)
  assert.match(text, /Medians over 5 × 3 s on 2026-01-02:\n2 × \$& Quick, 4 GiB, Linux 6.1, Node 26.0.0.\n/)
})

test('what a narrowed run found later stands beside the targets, with a mark, and nowhere else', () => {
  const runs = [
    { ...SAMPLE, peer: 'gatehouse', mix: 'get', cost: 30 },
    { ...SAMPLE, peer: 'gatehouse oauth', mix: 'unknown', cost: 18 },
  ] as const
  const apart = { ...RESULTS, date: '2026-02-03', rounds: 7, seconds: 1, runs }
  const text = withResults(PAGE, MARKED, { ...RESULTS, apart: [apart] }).replace(/ +/g, ' ')
  assert.match(text, /unknown access token: CPU against a proxied GET ¹ \| at most 0.7× \| 0.60× \| ✓ \|/)
  assert.match(text, /GET: CPU per request against nginx \| at most 1.6× \| 2.10× \| ✗ \|/)
  assert.match(text, /¹ Measured apart: medians over 7 × 1 s on 2026-02-03, 2 × \$& Quick\.\n/)
  assert.doesNotMatch(withResults(PAGE, MARKED, RESULTS), /¹/)
})

test('ratios of contestants that ran beside each other have their interval, and a chart', () => {
  const [subject, base] = ['gatehouse', 'nginx'].map(peer => ({ peer, mix: 'get', metric: 'cost' }) as const)
  const ratios = [{ subject: subject!, base: base!, ratio: 1.55, low: 1.52, high: 1.58, blocks: 20 }]
  const results = { ...RESULTS, ratios, blocks: 40, slice: 100 }
  const text = withResults(PAGE, MARKED, results).replace(/ +/g, ' ')
  assert.match(text, /at most 1.6× \| 1.55× \(1.52–1.58\) \| ✓ \|/)
  assert.match(text, /\| gatehouse \| 21.0 \(1.55×\) \|/)
  assert.match(text, /Up to 40 blocks of two slices of 100 ms on 2026-01-02:/)
  assert.match(text, /!\[.*\]\(images\/benchmarks.svg\)/)
  assert.doesNotMatch(withResults(PAGE, MARKED, RESULTS), /benchmarks.svg/)
})

test('the README has the proxies alone, with the machine and the date', () => {
  const text = withResults('README.md', MARKED, RESULTS)
  assert.match(text, /\| gatehouse +\| 21.0[\s\S]*Medians over 5 × 3 s on 2026-01-02:/)
  assert.doesNotMatch(text, /gatehouse native|at most/)
})

test('results say who wrote access logs, and older ones that nobody did', () => {
  const text = (results: Results) => withResults('README.md', MARKED, results)
  assert.match(text(RESULTS), /^Nobody writes an access log\.$/m)
  assert.match(text({ ...RESULTS, hasAccessLogs: true }), /^Gatehouse and nginx write access logs, /m)
})

test('a plan for production has what a core does, rounded down', () => {
  const text = withResults('docs/production.md', MARKED, RESULTS).replace(/ +/g, ' ')
  assert.match(text, /\| plain requests of a few kB \| 47,000 a second \|\n/)
  assert.match(text, /\| AI calls with token and log \| 40,000 a second \|\n/)
  assert.match(text, /\| streamed tokens of AI calls \| 55,000 a second \|\n/)
  assert.match(text, /\nCalculated from the CPU time measured on 2026-01-02: 2 × \$& Quick, Node 26.0.0\.\n/)
  const without = withResults('docs/production.md', MARKED, { ...RESULTS, runs: [] })
  assert.match(without, /not measured/)
})

test('only what is between the marks changes, and again the same gives the same', () => {
  const once = withResults(PAGE, MARKED, RESULTS)
  assert.match(once, /^# Proxy\n<!-- bench -->\n\n###[\s\S]*\n\n<!-- \/bench -->\nThe end\n$/)
  assert.doesNotMatch(once, /old/)
  assert.equal(withResults(PAGE, once, RESULTS), once)
})

test('a page without the marks is an error, and those of this project have them', () => {
  assert.throws(
    () => withResults(PAGE, '# Proxy\n', RESULTS),
    /^Error: docs\/benchmarks\.md has no <!-- bench -->/,
  )
  for (const page of published.keys())
    assert.doesNotThrow(() => withResults(page, readPage(page).text, RESULTS))
})

test('the pages show the last results; WRITE_DOCS=1 writes them', () => {
  const folder = join(root, 'bench/results')
  const last = readdirSync(folder)
    .filter(name => name.endsWith('.json'))
    .sort()
    .at(-1)!
  const results: Results = JSON.parse(readFileSync(join(folder, last), 'utf8'))
  for (const page of published.keys()) {
    const written = withResults(page, readPage(page).text, results)
    if (process.env.WRITE_DOCS) writeFileSync(join(root, page), written)
    assert.equal(readPage(page).text, written, page)
  }
})

function rowsUnder(heading: string): string[] {
  const blocks = withResults(PAGE, MARKED, RESULTS).replace(/ +/g, ' ').split('\n\n')
  const block = blocks.find(block => block.startsWith(`| | ${heading} `))
  return block!.split('\n').slice(2)
}

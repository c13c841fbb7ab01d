// The chart of the bench, and its history.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { chartOf } from '../../../bench/load/chart.ts'
import { historyRow, historyTable, parseHistory } from '../../../bench/load/history.ts'
import type { Results } from '../../../bench/load/results.ts'
import { root } from '../../help/source.ts'

const [subject, base] = ['gatehouse', 'nginx'].map(peer => ({ peer, mix: 'get', metric: 'cost' }) as const)
const RESULTS: Results = {
  date: '2026-01-02',
  commit: '0123abcd',
  machine: { processor: '2 × "Quick" & <Co>', memory: '4 GiB', system: 'Linux 6.1', node: '26.0.0' },
  peers: {},
  ...{ rounds: 3, seconds: 2, blocks: 40, slice: 100 },
  runs: [],
  ratios: [{ subject: subject!, base: base!, ratio: 1.5, low: 1.4, high: 1.62, blocks: 20 }],
  ...{ startup: null, soak: null, scan: null },
}

test('a bar is as long as its ratio, with its interval and its target at their places', () => {
  const chart = chartOf(RESULTS)
  const width = Number(/class="bar" x="(?:\d+)" y="\d+" width="([\d.]+)"/.exec(chart)![1])
  const start = Number(/class="bar" x="(\d+)"/.exec(chart)![1])
  const one = Number(/class="one" x1="([\d.]+)"/.exec(chart)![1])
  assert.equal(width / (one - start), 1.5)
  const [, low, high] = /class="interval" x1="([\d.]+)" x2="([\d.]+)"/.exec(chart)!
  assert.ok(Math.abs((Number(high) - Number(low)) / (one - start) - 0.22) < 0.001)
  const [, bound] = /class="target" x1="([\d.]+)"/.exec(chart)!
  assert.ok(Math.abs((Number(bound) - start) / (one - start) - 1.6) < 0.001)
  assert.equal(chart.match(/class="bar"/g)!.length, 1)
})

test('the chart is well-formed, has its figures as text, and colours for dark pages', () => {
  const chart = chartOf(RESULTS)
  assert.match(chart, /<title id="title">CPU per request against nginx: GET 1\.50<\/title>/)
  assert.match(chart, /2 × &quot;Quick&quot; &amp; &lt;Co>/)
  assert.match(chart, /prefers-color-scheme: dark/)
  const open = chart.match(/<(?!\/)\w+[^>]*(?<!\/)>/g)!.length
  assert.equal(open, chart.match(/<\/\w+>/g)!.length)
})

test('a run adds a row to the history, which is read as it was written', () => {
  const rows = [historyRow(RESULTS), historyRow({ ...RESULTS, date: '2026-01-03' })]
  assert.deepEqual(rows[0]!.slice(0, 4), ['2026-01-02', '0123abcd', '1.50 (1.40–1.62)', '–'])
  assert.deepEqual(parseHistory(historyTable(rows)), rows)
})

test('the history of this project can be read', () => {
  const page = readFileSync(join(root, 'bench/results/history.md'), 'utf8')
  assert.ok(parseHistory(page).length >= 3)
  assert.equal(historyTable(parseHistory(page)), page)
})

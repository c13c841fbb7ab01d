// What a bench writes into the project.
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { published } from '../../../bench/load/published.ts'
import type { Results } from '../../../bench/load/results.ts'
import { add, save } from '../../../bench/load/save.ts'
import { root as project } from '../../help/source.ts'

const [subject, base] = ['gatehouse', 'nginx'].map(peer => ({ peer, mix: 'get', metric: 'cost' }) as const)
const RESULTS: Results = {
  ...{ date: '2026-01-02', commit: '0123abcd' },
  machine: { processor: '2 × Quick', memory: '4 GiB', system: 'Linux 6.1', node: '26.0.0' },
  peers: { gatehouse: '0.1.0', nginx: '1.22.1' },
  ...{ rounds: 3, seconds: 2, blocks: 40, slice: 100 },
  runs: [
    { peer: 'gatehouse', mix: 'get', round: 1, cost: 15, unexpected: 0 },
    { peer: 'nginx', mix: 'get', round: 1, cost: 10, unexpected: 0 },
  ],
  ratios: [{ subject: subject!, base: base!, ratio: 1.5, low: 1.4, high: 1.59, blocks: 20 }],
  ...{ startup: null, soak: null, scan: null },
}

test('a whole run is written as JSON, Markdown and a chart, into the pages, and into the history once', t => {
  const root = copyOfPages(t)
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const before = read('bench/results/history.md').split('\n').length
  save(root, RESULTS)
  save(root, RESULTS)
  assert.deepEqual(JSON.parse(read('bench/results/2026-01-02.json')), RESULTS)
  assert.match(read('bench/results/latest.md'), /1\.50× \(1\.40–1\.59\)/)
  assert.match(read('docs/images/benchmarks.svg'), /GET 1\.50/)
  for (const page of ['README.md', 'docs/benchmarks.md'])
    assert.match(read(page), /\| gatehouse +\| 15\.0 \(1\.50×\) \|/)
  const history = read('bench/results/history.md').split('\n')
  assert.equal(history.length, before + 1)
  assert.match(history.at(-2)!, /2026-01-02 \| 0123abcd \| 1\.50 \(1\.40–1\.59\)/)
})

test('a narrowed run is added to the last whole one', t => {
  const root = copyOfPages(t)
  const later = { ...RESULTS, date: '2999-01-02' }
  save(root, { ...RESULTS, date: '2999-01-01', ratios: [], runs: [] })
  add(root, later)
  const { apart, ratios } = JSON.parse(readFileSync(join(root, 'bench/results/2999-01-01.json'), 'utf8'))
  const { peers: _, ...part } = later
  assert.deepEqual(apart, [part])
  assert.deepEqual(ratios, [])
  const latest = readFileSync(join(root, 'bench/results/latest.md'), 'utf8')
  assert.match(latest, /GET: CPU per request against nginx ¹ +\| +at most 1.6× \| +1\.50× \(1\.40–1\.59\)/)
})

test('each narrowed run is kept, and a target is that of the last which measured it', t => {
  const root = copyOfPages(t)
  save(root, { ...RESULTS, date: '2999-01-01', ratios: [], runs: [] })
  add(root, { ...RESULTS, date: '2999-01-02', ratios: [], runs: [], startup: 123 })
  add(root, { ...RESULTS, date: '2999-01-03', startup: null, blocks: 10, slice: 50, launches: 6 })
  const latest = readFileSync(join(root, 'bench/results/latest.md'), 'utf8')
  assert.match(latest, /Start to first answered request ¹ .* 123 ms /)
  assert.match(latest, /GET: CPU per request against nginx ² .* 1\.50× \(1\.40–1\.59\)/)
  assert.match(latest, /^¹ Measured apart: .* on 2999-01-02, /m)
  assert.match(latest, /^² Measured apart: 6 launches of 10 blocks of two slices of 50 ms on 2999-01-03, /m)
})

/** Returns a folder with what the bench writes into. */
function copyOfPages(t: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), 'bench-save-'))
  t.after(() => rmSync(root, { recursive: true }))
  mkdirSync(join(root, 'docs/images'), { recursive: true })
  for (const path of ['bench/results', ...published.keys()])
    cpSync(join(project, path), join(root, path), { recursive: true })
  return root
}

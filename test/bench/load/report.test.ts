// The Markdown of the bench.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { report, short } from '../../../bench/load/report.ts'
import type { Results, Run } from '../../../bench/load/results.ts'

const SAMPLE = {
  mix: 'get',
  round: 1,
  p50: 0.5,
  p99: 2,
  memory: 8,
  attempts: 0,
  dropped: 0,
  unexpected: 0,
} as const
const RUNS: readonly Run[] = [
  { ...SAMPLE, peer: 'gatehouse', cost: 21, rate: 40_000, p50: 1, memory: 80 },
  { ...SAMPLE, peer: 'nginx', cost: 10, rate: 80_000 },
]
const RESULTS: Results = {
  date: '2026-01-02',
  machine: { processor: '2 × Quick', memory: '4 GiB', system: 'Linux 6.1', node: '26.0.0' },
  peers: { gatehouse: '0.1.0', nginx: '1.22.1', caddy: null },
  rounds: 1,
  seconds: 3,
  runs: RUNS,
  startup: 600,
  soak: {
    requests: 5_000_000,
    unexpected: 0,
    readings: [
      { requests: 1_000_000, memory: 90, heap: 40 },
      { requests: 2_000_000, memory: 100, heap: 50 },
      { requests: 5_000_000, memory: 101, heap: 50 },
    ],
  },
  scan: { requests: 100_000, before: 100, after: 104 },
}

test('every number but those of nginx has its ratio to nginx in brackets', () => {
  const lines = unaligned(RESULTS).split('\n')
  assert.ok(
    lines.includes(
      '| gatehouse | 21.0 (2.10×) | 40000 (0.50×) | 1.00 (2.00×) | 2.00 (1.00×) | 80.0 (10.0×) |',
    ),
  )
  assert.ok(lines.includes('| nginx | 10.0 | 80000 | 0.50 | 2.00 | 8.00 |'))
})

test('a target has a tick, a cross, or the words not measured', () => {
  const text = unaligned(RESULTS)
  assert.match(text, /\| GET: CPU per request against nginx \| at most 1.6× \| 2.10× \| ✗ \|/)
  assert.match(text, /\| Start to first answered request \| at most 500 ms \| 600 ms \| ✗ \|/)
  assert.match(text, /\| POST: CPU per request against nginx \| at most 1.6× \| not measured \| \|/)
  assert.match(text, /\| Scan with .* \| at most 1.1× \| 1.04× \| ✓ \|/)
})

test('a peer that is not installed is named as skipped', () => {
  assert.match(report(RESULTS), /caddy not installed, skipped/)
})

test('there is a table for what was measured only', () => {
  const measured = { ...RESULTS, soak: null }
  assert.deepEqual(report(measured).match(/^## .*$/gm), ['## Targets', '## get: GET, 244 bytes of JSON'])
})

test('an added time has no ratio, since it may be near or below zero', () => {
  const runs = RUNS.map(run => ({ ...run, mix: 'sse' as const }))
  assert.match(
    unaligned({ ...RESULTS, runs }),
    /\| gatehouse \| 21.0 \(2.10×\) \| 40000 \(0.50×\) \| 1.00 \| 2.00 \| 80.0 /,
  )
})

test('the cost of an error stands beside the connects it took', () => {
  const runs = RUNS.map(run => ({ ...run, mix: 'down' as const, attempts: run.peer === 'nginx' ? 1 : 0.02 }))
  const text = unaligned({ ...RESULTS, runs })
  assert.match(text, /\| RSS MiB \| connects per error \|/)
  assert.match(text, /\| gatehouse \| 21.0 .* \| 80.0 \(10.0×\) \| 0.02 \|/)
})

test('the log entries that were dropped stand beside the cost of a chat', () => {
  const runs = RUNS.map(run => ({ ...run, mix: 'chat' as const, dropped: 0.5 }))
  const text = unaligned({ ...RESULTS, runs })
  assert.match(text, /\| RSS MiB \| entries dropped per request \|/)
  assert.match(text, /\| gatehouse \| 21.0 .* \| 80.0 \(10.0×\) \| 0.50 \|/)
})

test('without nginx there are numbers and no ratios', () => {
  const runs = RUNS.filter(run => run.peer !== 'nginx')
  assert.match(unaligned({ ...RESULTS, runs }), /\| gatehouse \| 21.0 \| 40000 \| 1.00 \| 2.00 \| 80.0 \|/)
})

test('responses of another kind than the mix expects are listed', () => {
  const runs = [...RUNS, { ...RUNS[0]!, round: 2, unexpected: 12 }]
  assert.match(report({ ...RESULTS, runs }), /\n- gatehouse, get, round 2: 12\n$/)
})

test('numbers have three significant digits and are whole from a hundred on', () => {
  assert.deepEqual([0.123, 9.994, 9.996, 99.94, 99.96, 12345.6].map(short), [
    '0.12',
    '9.99',
    '10.0',
    '99.9',
    '100',
    '12346',
  ])
  assert.deepEqual([null, Number.NaN, -0.77].map(short), ['–', '–', '-0.77'])
})

test('the columns of a table are aligned', () => {
  const tables = report(RESULTS)
    .split('\n\n')
    .filter(part => part.startsWith('|'))
  for (const table of tables)
    assert.equal(
      new Set(
        table
          .trim()
          .split('\n')
          .map(line => line.length),
      ).size,
      1,
    )
})

function unaligned(results: Results): string {
  return report(results).replace(/ +/g, ' ')
}

test('a soak has a line for each reading, and its unexpected responses are named', () => {
  const text = unaligned({ ...RESULTS, soak: { ...RESULTS.soak!, unexpected: 3 } })
  assert.match(text, /\| requests \| RSS MiB \| live heap MiB \|\n.*\n\| 1000000 \| 90.0 \| 40.0 \|/)
  assert.match(text, /\| Memory over 5 million .* resident .* \| 1.01× \| ✓ \|/)
  assert.match(text, /^- soak: 3$/m)
})

test('what an earlier part measured is no finding of a later one', () => {
  const figures = { idleTls: { value: 50 } }
  const apart = { ...RESULTS, runs: [], soak: null }
  const text = unaligned({ ...RESULTS, figures, apart: [apart] })
  assert.match(text, /\| Idle TLS connection: memory \| at most 56 KiB \| 50.0 KiB \| ✓ \|/)
  const later = unaligned({ ...RESULTS, figures, apart: [{ ...apart, figures: { idleTls: { value: 60 } } }] })
  assert.match(later, /\| Idle TLS connection: memory ¹ \| at most 56 KiB \| 60.0 KiB \| ✗ \|/)
})

test('bounds are those for the processor, and the report says for which', () => {
  const on = (processor: string) =>
    unaligned({ ...RESULTS, machine: { ...RESULTS.machine, processor: `2 × ${processor}` } })
  assert.match(on('AMD EPYC'), /\| GET: CPU per request against nginx \| at most 1.35×/)
  assert.match(on('AMD EPYC'), /processors of AMD\.$/m)
  assert.match(on('Intel(R) Xeon(R)'), /\| GET: CPU per request against nginx \| at most 1.6×/)
  assert.match(on('Intel(R) Xeon(R)'), /other makers than AMD, such as Intel\.$/m)
})

test('a soak that was measured apart takes the place of the other', () => {
  const readings = [1, 2].map(at => ({ requests: at, memory: at * 100, heap: 1 }))
  const apart = { ...RESULTS, runs: [], soak: { requests: 2, unexpected: 0, readings } }
  const text = unaligned({ ...RESULTS, apart: [apart] })
  assert.match(text, /\| Memory over 5 million .* resident .* ¹ \| at most 1.05× \| 1.00× \| ✓ \|/)
  assert.match(text, /\| 2 \| 200 \| 1.00 \|/)
})

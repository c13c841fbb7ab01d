// Reads the log of requests that h2load writes, for drive.ts.
import type { Load } from './wrk-output.ts'
import { percentile } from './statistics.ts'

/** Reads lines of start time, status (-1 for none) and µs, of a run of so many seconds; throws when there are none. */
export function parseRequestLog(log: string, seconds: number): Load {
  const rows = log
    .trim()
    .split('\n')
    .map(line => line.split('\t').map(Number))
  const times = rows.map(([, , time]) => time! / 1e3)
  if (!times.every(Number.isFinite)) throw new Error('h2load logged no requests')
  return {
    requests: rows.length,
    seconds,
    p50: percentile(times, 50),
    p99: percentile(times, 99),
    refused: rows.filter(([, status]) => status! >= 400).length,
    broken: rows.filter(([, status]) => status === -1).length,
    late: 0,
  }
}

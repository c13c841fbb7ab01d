// Counts the system calls of a contestant by strace.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { folder } from '../load/launch.ts'

let made = 0

/** Counts of system calls by name, of all threads of a process while some work goes on. */
export async function countSystemCalls(pid: number, work: () => Promise<void>): Promise<Map<string, number>> {
  const path = join(folder, `strace-${++made}`)
  const strace = spawn('strace', ['-c', '-f', '-o', path, '-p', `${pid}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(strace, 'exit')
  // It says so when it has attached itself to all threads; unread, what it says later would stop it.
  await Promise.race([once(strace.stderr, 'data'), ended])
  strace.stderr.resume()
  if (strace.exitCode !== null) throw new Error('strace could not attach itself')
  try {
    await work()
  } finally {
    strace.kill('SIGINT')
    await ended
  }
  return parseSummary(readFileSync(path, 'utf8'))
}

/** Reads the table that strace -c prints: the calls by name; a column with errors may be empty. */
export function parseSummary(table: string): Map<string, number> {
  const rows = table.matchAll(/^ *[\d.]+ +[\d.]+ +\d+ +(\d+) +(?:\d+ +)?(\w+)$/gm)
  return new Map(
    Array.from(rows, ([, calls, name]) => [name!, Number(calls)] as const).filter(
      ([name]) => name !== 'total',
    ),
  )
}

// What a running contestant spends over some work, for the measurements.
import type { Running } from './launch.ts'
import type { Sample } from './measure.ts'
import { cpuTime, refusedConnects, residentMemory } from './proc.ts'

type Spent = Pick<Sample, 'cost' | 'attempts' | 'dropped' | 'memory'>

/** Begins to count what a process spends; the returned function divides it by the number of requests, events or errors. */
export async function meter({ pid, metrics }: Running): Promise<(count: number) => Promise<Spent>> {
  const dropped = await droppedEntries(metrics)
  const refused = refusedConnects()
  const cpu = cpuTime(pid)
  return async count => ({
    cost: (cpuTime(pid) - cpu) / count,
    attempts: (refusedConnects() - refused) / count,
    memory: residentMemory(pid),
    dropped: ((await droppedEntries(metrics)) - dropped) / count,
  })
}

/** Reads from an exposition how many log entries were dropped; NaN where it does not say. */
export function parseDropped(exposition: string): number {
  return Number(/^gatehouse_ai_log_entries_total\{[^}]*result="dropped"[^}]*\} (\S+)/m.exec(exposition)?.[1])
}

async function droppedEntries(metrics: number | null): Promise<number> {
  if (metrics === null) return 0
  return parseDropped(await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text())
}

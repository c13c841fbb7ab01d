// Measures work, and compares what was measured, on a machine that does other things beside.

/** What one piece of work took: ms of the clock on the wall, and of all processors. */
interface Cost {
  readonly wall: number
  readonly processor: number
}

export async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const cpu = process.cpuUsage()
  const start = performance.now()
  await work()
  const wall = performance.now() - start
  const { user, system } = process.cpuUsage(cpu)
  return { wall, processor: (user + system) / 1_000 }
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** Returns how often one of the first is above one of the others (Mann and Whitney): a half where nothing tells them apart, 0 or 1 where each one does. */
export function shareAbove(values: readonly number[], others: readonly number[]): number {
  const above = values.flatMap(value => others.map(other => (value > other ? 1 : value === other ? 0.5 : 0)))
  return sum(above) / above.length
}

// Measures what turns of the event loop take of the processor: other processes, which make them longer, do not count.

/** Begins to measure; what it returns ends that, and returns the ms (CPU time of the thread) of the longest turn. The process is never idle meanwhile. */
export function measureTurns(): () => number {
  let [last, longest, isOver] = [spent(), 0, false]
  const turn = () => {
    const now = spent()
    longest = Math.max(longest, now - last)
    last = now
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  return () => {
    isOver = true
    return longest
  }
}

function spent(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

// Measures how long turns of the event loop are.

/** Begins to measure; what it returns ends that, and returns the ms of the longest turn. The process is never idle meanwhile. */
export function measureTurns(): () => number {
  let [last, longest, isOver] = [performance.now(), 0, false]
  const turn = () => {
    const now = performance.now()
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

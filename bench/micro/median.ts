// What a call costs, for micro benches that time the same call again and again.

const rounds = 7

/** Gives the median over some rounds, in ns a call. */
export function medianOf(calls: number, call: () => unknown): number {
  const times = Array.from({ length: rounds }, () => timeOne(calls, call)).sort((a, b) => a - b)
  return times[rounds >> 1]!
}

function timeOne(calls: number, call: () => unknown): number {
  const began = performance.now()
  for (let i = 0; i < calls; i++) call()
  return ((performance.now() - began) * 1e6) / calls
}

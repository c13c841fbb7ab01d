// How long work keeps everything else of its thread waiting, in its own CPU time: what other processes of the machine take does not count.

const cell = new Int32Array(new SharedArrayBuffer(4))

/** Runs the work to its end, and gives its result and the longest time in ms for which it held the thread at one go. */
export async function longestStall<T>(work: () => Promise<T>): Promise<{ result: T; longest: number }> {
  let longest = 0
  let last = used()
  const look = () => {
    const now = used()
    longest = Math.max(longest, now - last)
    last = now
  }
  const beat = setInterval(look, 1)
  const result = await work()
  clearInterval(beat)
  // The work may have ended before the next beat.
  look()
  return { result, longest }
}

/** Runs the work, and returns the CPU time in ms that it took of this thread. */
export function cpuTime(work: () => void): number {
  const began = used()
  work()
  return used() - began
}

const sample = JSON.stringify(
  Array.from({ length: 1_500 }, (_, i) => ({ id: i, name: `user ${i}`, at: i * 7_919 })),
)
/** Ms of CPU time that reading the sample ten times takes on a machine with nothing else to do. */
const usual = 2

/** Returns how many times as long as usual this thread takes for the same work at the moment, at least 1: others share the caches and the cores with it. */
export function slowness(): number {
  return Math.max(1, cpuTime(() => Array.from({ length: 10 }, () => JSON.parse(sample))) / usual)
}

/** Gives the CPU time of this thread in ms. The system counts that of a running thread by ticks of 4 ms, and exactly when it pauses. */
function used(): number {
  Atomics.wait(cell, 0, 0, 0.01)
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

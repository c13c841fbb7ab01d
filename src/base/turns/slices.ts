// Runs long work in small steps, so that requests wait only briefly.

const slice = 5

/** Handles events in between; a step should take less than about 1 ms. */
export async function inSlices<T>(work: Generator<void, T>): Promise<T> {
  for (;;) {
    const until = performance.now() + slice
    do {
      const { done, value } = work.next()
      if (done) return value
    } while (performance.now() < until)
    await new Promise(setImmediate)
  }
}

/** For work that is known to be small. */
export function atOnce<T>(work: Generator<void, T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

// How long a request waits for an answer.

/** Gives null when the answer isn't there in time; one that has come while this process itself was busy is. */
export function inTime<T>(answer: Promise<T>, ms: number): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => setImmediate(resolve, null), ms)
    answer.then(resolve, reject)
    answer.finally(() => clearTimeout(timer))
  })
}

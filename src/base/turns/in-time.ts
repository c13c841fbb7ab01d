// How long we wait for what may never come.

/** Returns the answer, or what `late` makes (or throws) where it isn't there after `ms`; one that has come while this process itself was busy is in time. */
export function inTime<T, Late>(answer: Promise<T>, ms: number, late: () => Late): Promise<T | Late> {
  return new Promise((resolve, reject) => {
    const give = () => {
      try {
        resolve(late())
      } catch (error) {
        reject(error)
      }
    }
    const timer = setTimeout(() => setImmediate(give), ms)
    const settled = () => clearTimeout(timer)
    answer.then(resolve, reject)
    answer.then(settled, settled)
  })
}

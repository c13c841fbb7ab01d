// How long we wait for what may never come.

/** Time is counted in so many pieces: for however long this process stands still, and what it asks with it where the machine does, that takes one of them. */
const pieces = 4

/** Returns the answer, or what `late` makes (or throws) where it isn't there after `ms` in which this process ran; one that has come while it was busy is in time. */
export function inTime<T, Late>(answer: Promise<T>, ms: number, late: () => Late): Promise<T | Late> {
  return new Promise((resolve, reject) => {
    let left = pieces
    const give = () => {
      try {
        resolve(late())
      } catch (error) {
        reject(error)
      }
    }
    const passed = () => {
      if (--left === 0) setImmediate(give)
      else timer = setTimeout(passed, ms / pieces)
    }
    let timer = setTimeout(passed, ms / pieces)
    answer.then(
      result => {
        clearTimeout(timer)
        resolve(result)
      },
      error => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}

// Timeouts for promises that may never settle.

/** The timeout is counted in pieces: if this process stops for however long, that takes only one of them. */
const pieces = 4

/** Returns the result, or what `late` returns (or throws) after `ms` in which this process ran. */
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

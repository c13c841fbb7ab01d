// Lets long work go on in short steps. All of it together does one step in a turn of the event loop, so that requests wait for one step at most, however much
// there is to do.

const waiting: (() => void)[] = []

/** Resolves when it is the turn of the caller, after those who asked before and after what else waits for this process. */
export function nextTurn(): Promise<void> {
  return new Promise(resolve => {
    if (waiting.push(resolve) === 1) setImmediate(admitOne)
  })
}

/** Ms after which others get their turn, once what is under way is done. */
const patience = 1

/** Makes what is called between two pieces of work, and pauses when it is time. */
export function pauses(): () => Promise<void> {
  let began = performance.now()
  return async () => {
    if (performance.now() - began < patience) return
    await nextTurn()
    began = performance.now()
  }
}

function admitOne(): void {
  const resolve = waiting.shift()
  if (waiting.length > 0) setImmediate(admitOne)
  resolve?.()
}

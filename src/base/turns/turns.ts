// Lets long work go on in short steps. All of it together does one step in a turn of the event loop, so that requests wait for one step at most, however much
// there is to do.

const waiting: (() => void)[] = []

/** Resolves when it is the turn of the caller, after those who asked before and after what else waits for this process. */
export function nextTurn(): Promise<void> {
  return new Promise(resolve => {
    if (waiting.push(resolve) === 1) setImmediate(admitOne)
  })
}

function admitOne(): void {
  const resolve = waiting.shift()
  if (waiting.length > 0) setImmediate(admitOne)
  resolve?.()
}

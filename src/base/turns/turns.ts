// Lets long work go on in short steps. All of it together does one step in a turn of the event loop, and none while a short exchange is under way, so that requests
// wait for one step at most, however much there is to do.

import { shortExchanges } from './short-exchanges.ts'

const waiting: (() => void)[] = []

/** Ms that a step may take until others get their turn, once what is under way in it is done. */
const longestStep = 0.25

/** Ms for which a step waits at most: where exchanges never end, long work gets its part of the time all the same. */
const longestWait = 5

/** When the latest step began. */
let begun = 0
/** Since when a step is due; 0 for none. */
let due = 0
let timer: NodeJS.Timeout | undefined

/** Resolves when it is the turn of the caller, after those who asked before and after what else waits for this process. */
export function nextTurn(): Promise<void> {
  return new Promise(resolve => {
    if (waiting.push(resolve) === 1) setImmediate(admitOne)
  })
}

/** Takes another turn where this one has lasted long enough: to be called between two pieces of work. */
export async function pause(): Promise<void> {
  if (performance.now() - begun >= longestStep) await nextTurn()
}

function admitOne(): void {
  const now = performance.now()
  if (due === 0) due = now
  const wait = shortExchanges.wait(now)
  if (now - due < longestWait) {
    // What came meanwhile is read first.
    if (shortExchanges.haveMoved()) return void setImmediate(admitOne)
    if (wait > 0) return leave(wait)
  }
  due = 0
  begun = now
  const resolve = waiting.shift()
  if (waiting.length > 0) setImmediate(admitOne)
  resolve?.()
}

/** Looks again after so many ms, or as soon as nothing has the right of way any more. */
function leave(ms: number): void {
  shortExchanges.free = resume
  timer = setTimeout(resume, ms)
}

function resume(): void {
  shortExchanges.free = null
  clearTimeout(timer)
  setImmediate(admitOne)
}

// Lets long work go on in short steps. In a turn of the event loop, everybody has one step at most and all together little more than one long one, and none
// while a short exchange is under way, so that requests wait for little more than a step, however much there is to do.

import { shortExchanges } from './short-exchanges.ts'

const waiting: (() => void)[] = []

/** Ms that a step may take until others get their turn, once what is under way in it is done. */
const longestStep = 0.25

/** Ms into a turn after which no other step begins in it: short ones share a turn, since one has its price. */
const latestBegin = 0.1

/** Ms for which a step waits at most: where exchanges never end, long work gets its part of the time all the same. */
const longestWait = 5

/** Whether a turn with steps is to come or under way. */
let isGoing = false
/** When the first step of the latest turn began. */
let begun = 0
/** How many of those who wait may still have a step in this turn: who comes during it waits for the next. */
let admissible = 0
/** Since when a step is due; 0 for none. */
let due = 0
let timer: NodeJS.Timeout | undefined

/** Resolves when it is the turn of the caller, after those who asked before and after what else waits for this process. */
export function nextTurn(): Promise<void> {
  return new Promise(resolve => {
    waiting.push(resolve)
    if (isGoing) return
    isGoing = true
    setImmediate(beginTurn)
  })
}

/** Takes another turn where this one has lasted long enough: to be called between two pieces of work. */
export async function pause(): Promise<void> {
  if (performance.now() - begun >= longestStep) await nextTurn()
}

function beginTurn(): void {
  const now = performance.now()
  if (due === 0) due = now
  const wait = shortExchanges.wait(now)
  if (now - due < longestWait) {
    // What came meanwhile is read first.
    if (shortExchanges.haveMoved()) return void setImmediate(beginTurn)
    if (wait > 0) return leave(wait)
  }
  due = 0
  begun = now
  admissible = waiting.length
  admitOne()
}

function admitOne(): void {
  waiting.shift()!()
  admissible--
  // Ticks come after the microtasks, and so after the whole step.
  queueMicrotask(nextTickAfterStep)
}

function nextTickAfterStep(): void {
  process.nextTick(afterStep)
}

function afterStep(): void {
  if (admissible > 0 && performance.now() - begun < latestBegin) return admitOne()
  isGoing = waiting.length > 0
  if (isGoing) setImmediate(beginTurn)
}

/** Looks again after so many ms, or as soon as nothing has the right of way any more. */
function leave(ms: number): void {
  shortExchanges.free = resume
  timer = setTimeout(resume, ms)
}

function resume(): void {
  shortExchanges.free = null
  clearTimeout(timer)
  setImmediate(beginTurn)
}

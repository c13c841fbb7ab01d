// Steps of long work: each caller has one in a turn of the event loop, and none in a short exchange.

import { shortExchanges } from './short-exchanges.ts'

const waiting: (() => void)[] = []

const maxStep = 0.25

/** Ms into a turn after which no other step begins. Short steps share a turn, which has a cost. */
const latestBegin = 0.1

/** Ms; long work gets its share even if exchanges never end. */
const maxWait = 5

let isGoing = false
let begunAt = 0
/** Waiting callers that may still have a step in this turn. */
let admissible = 0
/** Since when a step is due; 0 for none. */
let due = 0
let timer: NodeJS.Timeout | undefined

/** Resolves after earlier callers and other pending work of this process. */
export function nextTurn(): Promise<void> {
  return new Promise(resolve => {
    waiting.push(resolve)
    if (isGoing) return
    isGoing = true
    setImmediate(beginTurn)
  })
}

/** Waits for another turn if this one has lasted long enough: to be called between two pieces of work. */
export async function pause(): Promise<void> {
  if (performance.now() - begunAt >= maxStep) await nextTurn()
}

function beginTurn(): void {
  const now = performance.now()
  if (due === 0) due = now
  const wait = shortExchanges.wait(now)
  if (now - due < maxWait) {
    // Data that has arrived is read first.
    if (shortExchanges.haveMoved()) return void setImmediate(beginTurn)
    if (wait > 0) return leave(wait)
  }
  due = 0
  begunAt = now
  admissible = waiting.length
  admitOne()
}

function admitOne(): void {
  waiting.shift()!()
  admissible--
  // Ticks run after the microtasks, and so after the whole step.
  queueMicrotask(nextTickAfterStep)
}

function nextTickAfterStep(): void {
  process.nextTick(afterStep)
}

function afterStep(): void {
  if (admissible > 0 && performance.now() - begunAt < latestBegin) return admitOne()
  isGoing = waiting.length > 0
  if (isGoing) setImmediate(beginTurn)
}

function leave(ms: number): void {
  shortExchanges.free = resume
  timer = setTimeout(resume, ms)
}

function resume(): void {
  shortExchanges.free = null
  clearTimeout(timer)
  setImmediate(beginTurn)
}

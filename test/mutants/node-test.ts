// What copies of tests import as node:test: a run declares the tests that it wants, and its hooks end with it.

import nodeTest, { afterEach, type TestContext, type TestOptions } from 'node:test'

export const { mock } = nodeTest

type Body = (t: TestContext) => unknown

/** Tests that run once, in one or more files. */
export class Run {
  /** The first test that failed. */
  failed: string | null = null
  current = ''
  readonly tests: Promise<unknown>[] = []
  readonly beginnings: (() => unknown)[] = []
  readonly endings: (() => unknown)[] = []
  readonly wants: (name: string) => boolean
  /** Is called before and after each test. */
  readonly onTest: (name: string, isOver: boolean) => void

  constructor(wants: (name: string) => boolean, onTest: (name: string, isOver: boolean) => void = () => {}) {
    this.wants = wants
    this.onTest = onTest
  }

  /** Waits for the tests that were declared meanwhile. */
  async settle(): Promise<void> {
    await Promise.all(this.tests.splice(0))
  }

  /** Runs the hooks that were to run before the tests, unless they have. */
  async begin(): Promise<void> {
    for (const beginning of this.beginnings.splice(0)) await beginning()
  }

  async end(): Promise<void> {
    await this.settle()
    for (const ending of this.endings.splice(0)) await ending()
  }
}

let run = new Run(() => true)
let prefix = ''

/** Has the tests that are declared from now on belong to a run. */
export function enter(next: Run): void {
  run = next
}

/** Declares a test if the run wants it; it does nothing once another one has failed. */
export function test(name: string, ...rest: [Body] | [TestOptions, Body]): void {
  const [of, full] = [run, prefix + name]
  if (!of.wants(full)) return
  const body = rest.at(-1) as Body
  const options = rest.length === 2 ? (rest[0] as TestOptions) : {}
  const whole = async (t: TestContext) => {
    if (of.failed !== null) return
    await of.begin()
    of.current = full
    of.onTest(full, false)
    try {
      await body(t)
    } finally {
      of.onTest(full, true)
    }
  }
  of.tests.push(nodeTest.test(full, options, whole))
}

export function describe(name: string, body: () => void): void {
  const before = prefix
  prefix += `${name}: `
  try {
    body()
  } finally {
    prefix = before
  }
}

export function before(hook: () => unknown): void {
  run.beginnings.push(hook)
}

export function after(hook: () => unknown): void {
  run.endings.push(hook)
}

// Those that tests have within them, too.
afterEach(t => {
  if ('passed' in t && !t.passed) run.failed ??= run.current
})

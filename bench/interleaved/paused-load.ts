// A load that is paused and resumed with its connections kept: wrk, stopped and continued by signals.
import type { Load } from '../load/wrk-output.ts'
import { parseLoad } from '../load/wrk-output.ts'
import { begin, type Begun } from '../load/launch.ts'
import { type Drive, wrkCommand } from '../load/drive.ts'
import { Counter } from './counter.ts'

/** What can be driven in slices. */
export interface PausableLoad {
  /** Requests or events so far. */
  readonly count: number
  resume(): void
  pause(): void
  /** Ends it and returns how many responses were not as expected. */
  end(): Promise<number>
}

/** Longer than any run. */
const forever = 3600

const interruptPeriod = 50

/** wrk; it begins paused. Requests are counted as they are sent: at a pause each connection waits for its response. */
export class PausedWrk implements PausableLoad {
  readonly #counter = new Counter()
  readonly #wrk: Begun
  readonly #isExpected: (load: Load) => number

  constructor(drive: Omit<Drive, 'seconds'>, unexpected: (load: Load) => number) {
    const { file, args, env } = wrkCommand({ ...drive, seconds: forever })
    this.#wrk = begin({ file, args, env: { ...env, COUNTER: this.#counter.path } })
    this.#isExpected = unexpected
    this.pause()
  }

  get count(): number {
    return this.#counter.value
  }

  resume(): void {
    this.#wrk.signal('SIGCONT')
  }

  pause(): void {
    this.#wrk.signal('SIGSTOP')
  }

  async end(): Promise<number> {
    // The thread that sleeps must be the one that is interrupted: of a stopped process, any may be.
    this.resume()
    const again = setInterval(() => this.#wrk.signal('SIGINT'), interruptPeriod)
    const output = await this.#wrk.ended
    clearInterval(again)
    this.#counter.close()
    return this.#isExpected(parseLoad(output))
  }
}

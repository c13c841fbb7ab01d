// Loads that are paused and resumed with their connections kept: programs that are stopped and continued by signals.
import { closeSync, openSync, readFileSync, readSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Drive, h2loadCommand, wrkCommand } from '../load/drive.ts'
import { parseRequestLog } from '../load/h2load-output.ts'
import { type Begun, begin, busyFolder, type Command } from '../load/launch.ts'
import { type Load, parseLoad } from '../load/wrk-output.ts'
import { Counter } from './counter.ts'

/** What can be driven in slices. */
export interface PausableLoad {
  /** Requests, events or handshakes so far. */
  readonly count: number
  resume(): void
  pause(): void
  /** Ends it and returns how many responses were not as expected. */
  end(): Promise<number>
}

/** Longer than any run. */
const forever = 3600

const interruptPeriod = 50

const handshakes = join(import.meta.dirname, '../load/handshakes.ts')

/** Drives by wrk. Requests are counted as they are sent: at a pause each connection waits for its response. */
export function pausedWrk(drive: Omit<Drive, 'seconds'>, unexpected: (load: Load) => number): PausableLoad {
  return counted(wrkCommand({ ...drive, seconds: forever }), output => unexpected(parseLoad(output)))
}

/** Shakes hands, and counts each handshake as it ends. */
export function pausedHandshakes(port: number, kind: 'full' | 'resumed'): PausableLoad {
  const args = [handshakes, `${port}`, `${forever}`, kind]
  return counted({ file: process.execPath, args }, output => (JSON.parse(output) as Load).refused)
}

/** Drives over HTTP/2 by h2load, whose log grows by a line for each response. */
export function pausedH2load(port: number, streams: number): PausableLoad {
  const log = join(busyFolder, `h2load-${port}.log`)
  const command = h2loadCommand(port, streams, forever, log)
  let lines: LineCounter | null = null
  const count = () => (lines ??= new LineCounter(log)).count()
  return new PausedProgram(begin(command), 'SIGTERM', count, () => {
    const { refused, broken } = parseRequestLog(readFileSync(log, 'latin1').replace(/[^\n]*$/, ''), 1)
    lines?.close()
    rmSync(log)
    return refused + broken
  })
}

function counted(command: Command, unexpected: (output: string) => number): PausableLoad {
  const counter = new Counter()
  const program = begin({ ...command, env: { ...command.env, COUNTER: counter.path } })
  const count = () => counter.value
  return new PausedProgram(program, 'SIGINT', count, output => {
    counter.close()
    return unexpected(output)
  })
}

/** A program that drives a load; it begins paused. */
class PausedProgram implements PausableLoad {
  readonly #program: Begun
  readonly #lastSignal: NodeJS.Signals
  readonly #count: () => number
  readonly #unexpected: (output: string) => number

  constructor(
    program: Begun,
    lastSignal: NodeJS.Signals,
    count: () => number,
    unexpected: (output: string) => number,
  ) {
    this.#program = program
    this.#lastSignal = lastSignal
    this.#count = count
    this.#unexpected = unexpected
    this.pause()
  }

  get count(): number {
    return this.#count()
  }

  resume(): void {
    this.#program.signal('SIGCONT')
  }

  pause(): void {
    this.#program.signal('SIGSTOP')
  }

  async end(): Promise<number> {
    // Of wrk, the thread that sleeps must be the one that is interrupted, and of a stopped process any may be.
    this.resume()
    const again = setInterval(() => this.#program.signal(this.#lastSignal), interruptPeriod)
    const output = await this.#program.ended
    clearInterval(again)
    return this.#unexpected(output)
  }
}

/** Counts the lines of a file that grows. */
class LineCounter {
  readonly #file: number
  readonly #piece = Buffer.alloc(2 ** 16)
  #lines = 0

  constructor(path: string) {
    // On a busy machine, the program that writes it may not have made it yet.
    this.#file = openSync(path, 'a+')
  }

  count(): number {
    for (let length = this.#read(); length > 0; length = this.#read())
      for (let at = this.#find(0, length); at >= 0; at = this.#find(at + 1, length)) this.#lines++
    return this.#lines
  }

  close(): void {
    closeSync(this.#file)
  }

  #read(): number {
    return readSync(this.#file, this.#piece, 0, this.#piece.length, null)
  }

  #find(from: number, length: number): number {
    const at = this.#piece.indexOf(10, from)
    return at < length ? at : -1
  }
}

// Starts the parts of a process in order and stops them in reverse.

export interface Part {
  readonly name: string
  start(): Promise<void> | void
  stop(): Promise<void> | void
  /** In ms; after that the next part is stopped all the same. */
  deadline(): number
}

type Phase = 'starting' | 'running' | 'stopping' | 'stopped'

export class Lifecycle {
  readonly #parts: readonly Part[]
  readonly #failed: (part: string, cause: unknown) => void
  readonly #started: Part[] = []
  #phase: Phase = 'starting'
  #stopped: Promise<void> | null = null

  /** In the order of their start; `failed` receives every part that fails to stop. */
  constructor(parts: readonly Part[], failed: (part: string, cause: unknown) => void) {
    this.#parts = parts
    this.#failed = failed
  }

  get phase(): Phase {
    return this.#phase
  }

  /** When a part throws, those before it are stopped. A start cut short by a stop fails. */
  async start(): Promise<void> {
    try {
      for (const part of this.#parts) {
        if (this.#phase !== 'starting') return
        this.#started.push(part)
        await part.start()
      }
    } catch (cause) {
      const isCutShort = this.#phase !== 'starting'
      await this.stop()
      if (!isCutShort) throw cause
    }
    if (this.#phase === 'starting') this.#phase = 'running'
  }

  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop())
  }

  async #stop(): Promise<void> {
    this.#phase = 'stopping'
    for (const part of this.#started.reverse()) {
      await within(part.deadline(), part).catch(cause => this.#failed(part.name, cause))
    }
    this.#phase = 'stopped'
  }
}

async function within(deadline: number, part: Part): Promise<void> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`still running after ${deadline} ms`)), deadline)
  try {
    await Promise.race([part.stop(), late.promise])
  } finally {
    clearTimeout(timer)
  }
}

// The log of a gateway, and of those that replace it: they write to the same stdout, which closes with the last of them.

import type { ChildProcess } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { createInterface } from 'node:readline'

interface Line {
  readonly msg: string
  readonly pid: number
  readonly next?: number
  readonly reason?: string
}

export class SharedLog {
  readonly lines: Line[] = []
  /** Resolves once all processes that write to it have ended. */
  readonly closed: Promise<void>
  readonly #news = new EventEmitter().setMaxListeners(0)
  #isClosed = false

  constructor(child: ChildProcess) {
    createInterface({ input: child.stdout! }).on('line', line => {
      this.lines.push(JSON.parse(line))
      this.#news.emit('news')
    })
    this.closed = once(child, 'close').then(() => {
      this.#isClosed = true
      this.#news.emit('news')
    })
  }

  /** Returns the nth line with a message, as soon as it is written; rejects where it cannot come any more, or one came that says so. */
  async nth(msg: string, n = 1, unless?: RegExp): Promise<Line> {
    for (;;) {
      const found = this.lines.filter(line => line.msg === msg)[n - 1]
      if (found !== undefined) return found
      const failed = this.lines.find(({ msg }) => unless?.test(msg))
      if (failed !== undefined) throw new Error(`${failed.msg}: ${failed.reason}`)
      if (this.#isClosed) throw new Error(`all have ended without ${n} × "${msg}": ${this.#end}`)
      await once(this.#news, 'news')
    }
  }

  get #end(): string {
    return this.lines
      .slice(-5)
      .map(line => JSON.stringify(line))
      .join('\n')
  }
}

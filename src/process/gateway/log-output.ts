// The ways of a process that serves to whoever reads along: its log on stdout, and what is said beside it on stderr. A terminal gets text for people; anything
// else gets JSON lines on both, which mostly end in one place, as those of a container do.

import { Writable } from 'node:stream'
import { LineWriter } from '../../log/line-writer.ts'
import { createLogger, type Logger } from '../../log/log.ts'
import { readable } from '../../log/readable.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import { tell } from '../commands/terminal.ts'

/** Opens the log of this process on stdout; `dropped` counts the lines that nobody took. */
export function openOutput(dropped: Metrics['droppedLogLines']): LineWriter {
  const { stdout } = process
  if (!stdout.isTTY) return new LineWriter(stdout, { dropped })
  const hasColours = stdout.hasColors()
  return new LineWriter(neverWaiting(stdout), { dropped, render: line => readable(line, hasColours) })
}

/** Returns a stream to a terminal that takes it as others are: Node would wait for one that is stopped (Ctrl-S), and nobody would be served. */
function neverWaiting(terminal: NodeJS.WriteStream): Writable {
  const { _handle: handle } = terminal as { readonly _handle?: { setBlocking?(isBlocking: boolean): void } }
  // Whoever has asked for a piece is told of its failure.
  terminal.on('error', () => {})
  return new Writable({
    write: (piece: Buffer, _, done) => {
      // Each time: a child process that is given the terminal has this one wait again.
      handle?.setBlocking?.(false)
      terminal.write(piece, done)
    },
  })
}

/** Whether a person is at the terminal to whom the log goes elsewhere. */
export function missesLog(): boolean {
  return process.stderr.isTTY === true && !process.stdout.isTTY
}

/** Writes to a person at the terminal; nobody else, since the log has the facts. */
export function greet(text: string): void {
  if (process.stderr.isTTY) tell(text)
}

/** Writes to stderr what must not be, or cannot be, in the log: `text` on a terminal, else a line with `fields` and `msg`. */
export function announce(level: 'info' | 'fatal', fields: object, msg: string, text: string): void {
  if (process.stderr.isTTY) return tell(text)
  const write = (line: string) => tell(line.trimEnd())
  createLogger('info', { write })[level](fields, msg)
}

/** Has the warnings of Node written to the log; by itself it writes them to stderr, as text. */
export function logWarningsOfNode(log: Logger): void {
  process.removeAllListeners('warning')
  process.on('warning', warning => log.warn({ err: warning }, 'Node warning'))
}

// The output of a serving process: text on a terminal, JSON lines on both streams elsewhere.

import { fstatSync } from 'node:fs'
import { Writable } from 'node:stream'
import type { Config } from '../../config/model/config.ts'
import { FileSink } from '../../log/file-sink.ts'
import { LineWriter } from '../../log/line-writer.ts'
import { createLogger, type Logger } from '../../log/log.ts'
import { readable } from '../../log/readable.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import { tell } from './output.ts'

export function openOutput(dropped: Metrics['droppedLogLines'], isNumeric: boolean): LineWriter {
  const { stdout } = process
  if (!stdout.isTTY)
    return new LineWriter(isFile(stdout) ? new FileSink(stdout.fd) : stdout, { dropped, isNumeric })
  const hasColours = stdout.hasColors()
  return new LineWriter(neverWaiting(stdout), { dropped, render: line => readable(line, hasColours) })
}

function isFile({ fd }: NodeJS.WriteStream & { fd: number }): boolean {
  const stats = fstatSync(fd)
  return stats.isFile() || stats.isCharacterDevice()
}

/** Node would block on a paused terminal (Ctrl-S), and serve no request. */
function neverWaiting(terminal: NodeJS.WriteStream): Writable {
  const { _handle: handle } = terminal as { readonly _handle?: { setBlocking?(isBlocking: boolean): void } }
  // Write callbacks report the failure.
  terminal.on('error', () => {})
  return new Writable({
    write: (piece: Buffer, _, done) => {
      // Needed on each write: a child process that shares the terminal makes it blocking again.
      handle?.setBlocking?.(false)
      terminal.write(piece, done)
    },
  })
}

export function missesLog(): boolean {
  return process.stderr.isTTY === true && !process.stdout.isTTY
}

/** Writes to a person at the terminal only, since the log has the facts. */
export function greet(text: string): void {
  if (process.stderr.isTTY) tell(text)
}

/** Writes to stderr what cannot go to the log: `text` on a terminal, else a log line. */
export function announce(
  level: 'info' | 'fatal',
  { fields = {}, msg, text }: { readonly fields?: object; readonly msg: string; readonly text: string },
  { numeric }: Pick<Config['log'], 'numeric'>,
): void {
  if (process.stderr.isTTY) return tell(text)
  const write = (line: string) => tell(line.trimEnd())
  createLogger('info', { write }, numeric)[level](fields, msg)
}

/** Writes Node's warnings to the log; Node itself writes them to stderr, as text. */
export function logWarningsOfNode(log: Logger): void {
  process.removeAllListeners('warning')
  process.on('warning', warning => {
    if (!isKnown(warning)) log.warn({ err: warning }, 'Node warning')
  })
}

/** The warning about `node:ffi`, which notifies systemd, is expected with the pinned Node. */
function isKnown({ name, message }: Error): boolean {
  return name === 'ExperimentalWarning' && message.startsWith('FFI is ')
}

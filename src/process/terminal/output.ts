// The output of commands. A closed reader is not a failure; a full disk is, since the lost output may be a
// secret that is shown only once.

import { visible } from '../../base/text/visible.ts'
import { json } from './format.ts'

/** Writes the requested output to stdout. */
export function print(text: string): void {
  write(process.stdout, text)
}

/** Writes a message for the person to stderr, with a line feed. */
export function tell(text: string): void {
  write(process.stderr, `${text}\n`)
}

/** Writes why the command was refused, and returns its exit code, 1. */
export function refuse(sentence: string): number {
  tell(`gatehouse: ${visible(sentence)}`)
  return 1
}

/** Writes what is wrong with the arguments, and returns the exit code, 2. */
export function complain(sentence: string): number {
  tell(`gatehouse: ${visible(sentence)}`)
  return 2
}

/** Prints a result, as JSON or as text; returns the exit code of success. */
export function printResult(input: { readonly json?: boolean }, result: unknown, text: string): number {
  print(input.json ? json(result) : text)
  return 0
}

/** Tells the person what was done, and prints the result only as JSON; returns the exit code of success. */
export function tellDone(input: { readonly json?: boolean }, result: unknown, sentence: string): number {
  tell(sentence)
  if (input.json) print(json(result))
  return 0
}

const watched = new WeakSet<NodeJS.WriteStream>()

function write(stream: NodeJS.WriteStream, text: string): void {
  if (!watched.has(stream)) {
    watched.add(stream)
    let isLost = false
    stream.on('error', ({ code, message }: NodeJS.ErrnoException) => {
      if (isLost || code === 'EPIPE') return
      isLost = true
      // The command still returns its own exit code.
      process.once('exit', () => {
        process.exitCode ||= 1
      })
      if (stream === process.stdout) tell(`gatehouse: the output cannot be written: ${message}`)
    })
  }
  stream.write(text)
}

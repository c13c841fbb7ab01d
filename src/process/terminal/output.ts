// The output of commands. A full disk is a failure: the lost output may be a secret shown only once.

import { visible } from '../../base/text/visible.ts'
import { json } from './format.ts'

export function print(text: string): void {
  write(process.stdout, text)
}

export function tell(text: string): void {
  write(process.stderr, `${text}\n`)
}

export function refuse(sentence: string): number {
  tell(`gatehouse: ${visible(sentence)}`)
  return 1
}

export function complain(sentence: string): number {
  tell(`gatehouse: ${visible(sentence)}`)
  return 2
}

export function printResult(input: { readonly json?: boolean }, result: unknown, text: string): number {
  print(input.json ? json(result) : text)
  return 0
}

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

// The token of a workload, by which it proves who it is.

import { readFile } from 'node:fs/promises'
import { KeyFailure } from './key-call.ts'

/** Reads the token of a workload anew each time: it changes about once an hour. */
export async function tokenFile(path: string): Promise<string> {
  let text: string
  try {
    text = (await readFile(path, 'utf8')).trim()
  } catch (error) {
    throw new KeyFailure(`the token file cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  if (!/^[!-~]{1,16384}$/.test(text)) throw new KeyFailure('the token file has no token')
  return text
}

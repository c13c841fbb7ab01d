// How many file descriptors a process may have, and which one a socket got.

import { readdirSync, readFileSync } from 'node:fs'
import type { Socket } from 'node:net'

/** The soft limit of open files; infinity if unknown, as on systems other than Linux. */
export function maxDescriptors(): number {
  const limit = /^Max open files +(\d+)/m.exec(contentOf('/proc/self/limits'))?.[1]
  return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit)
}

export function freeDescriptors(): number {
  const max = maxDescriptors()
  return max === Number.POSITIVE_INFINITY ? max : max - readdirSync('/proc/self/fd').length
}

/** The lowest that was free (POSIX.1-2024 XSH 2.6); -1 if unknown. */
export function descriptorOf(socket: Socket): number {
  const { _handle: handle } = socket as { _handle?: { readonly fd?: number } | null }
  return handle?.fd ?? -1
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

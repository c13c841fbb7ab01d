// Whether a container ends with this process, so that no other one can follow it.

import { readFileSync, readlinkSync } from 'node:fs'

/** The process ids of the machine itself, which Linux numbers the same everywhere (PROC_PID_INIT_INO). */
const namespaceOfMachine = 'pid:[4026531836]'

/** Returns whether a container ends with this process: it is process 1 there, or the child of an init such as tini, or of a shell, which ends with its child. A systemd does not. */
export function isMainOfContainer(
  { pid, ppid }: Pick<NodeJS.Process, 'pid' | 'ppid'> = process,
  read = readFacts,
): boolean {
  // The parent of the first process is outside.
  if (pid === 1 || ppid === 0) return true
  const { namespace, parent } = read(ppid)
  if (namespace === namespaceOfMachine || parent === null) return false
  // proc_pid_stat(5): the name may have spaces and brackets of its own.
  const [, name, grandparent] = /^\d+ \((.*)\) \S (\d+) /s.exec(parent) ?? []
  return grandparent === '0' && name !== 'systemd'
}

/** Returns the namespace of the process ids, and what the system says of the parent; null where it says nothing. */
function readFacts(ppid: number): { readonly namespace: string | null; readonly parent: string | null } {
  try {
    return {
      namespace: readlinkSync('/proc/self/ns/pid'),
      parent: readFileSync(`/proc/${ppid}/stat`, 'latin1'),
    }
  } catch {
    return { namespace: null, parent: null }
  }
}

// Whether a container ends with this process, so that no other one can follow it.

import { readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'

/** The process ids of the machine itself, which Linux numbers the same everywhere (PROC_PID_INIT_INO). */
const namespaceOfMachine = 'pid:[4026531836]'

/** What the system says of processes. */
interface Facts {
  /** The namespace of the process ids here. */
  readonly namespace: string
  /** Returns what /proc/ID/FILE has. */
  readonly of: (id: number | 'self', file: 'stat' | 'cmdline' | 'cgroup') => string
}

/**
 * Returns whether a container ends with this process: it is process 1 there, or below it are only an init such as tini and what ends with its child, as npm and a
 * shell with a script do. A systemd or the init of a machine does not, and neither does the container with what `docker exec` has started in it.
 */
export function isMainOfContainer(
  { pid, ppid }: Pick<NodeJS.Process, 'pid' | 'ppid'> = process,
  facts?: Facts,
): boolean {
  if (pid === 1) return true
  try {
    return endsAbove(ppid, facts ?? factsOfSystem())
  } catch {
    return false
  }
}

function endsAbove(parent: number, facts: Facts): boolean {
  if (facts.namespace === namespaceOfMachine) return false
  for (let id = parent; id !== 0; ) {
    // proc_pid_stat(5): the name may have spaces and brackets of its own.
    const [, name, above] = /^\d+ \((.*)\) \S (\d+) /s.exec(facts.of(id, 'stat'))!
    if (id === 1) return !/^(systemd$|init\b)/.test(name!)
    if (!endsWithChild(facts.of(id, 'cmdline').split('\0'))) return false
    id = Number(above)
  }
  // Started from outside: the main process of a container that shares its process ids with others, or a process beside the main one, in the groups of that.
  return facts.of(1, 'cgroup') !== facts.of('self', 'cgroup')
}

function endsWithChild([program = '', ...args]: readonly string[]): boolean {
  // Npm names itself by its command: `npm start`.
  const name = basename(program.split(' ')[0]!)
  if (/^(ba|da|a|k|z)?sh$/.test(name))
    return args.some(argument => argument !== '' && !argument.startsWith('-'))
  return /^(node|npm|npx|pnpm|yarn|tini|docker-init|dumb-init|catatonit)$/.test(name)
}

function factsOfSystem(): Facts {
  return {
    namespace: readlinkSync('/proc/self/ns/pid'),
    of: (id, file) => readFileSync(`/proc/${id}/${file}`, 'latin1'),
  }
}

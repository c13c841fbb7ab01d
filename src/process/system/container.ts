// Whether a container ends with this process, so that no other one can follow it.

import { readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'

/** The process id namespace of the machine itself, the same on every Linux (PROC_PID_INIT_INO). */
const namespaceOfMachine = 'pid:[4026531836]'

interface Facts {
  readonly namespace: string
  readonly of: (id: number | 'self', file: 'stat' | 'cmdline' | 'cgroup') => string
}

/** Between it and process 1 are only an init such as tini and wrappers such as npm. False under systemd. */
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
    // proc_pid_stat(5): the name may contain spaces and brackets.
    const [, name, above] = /^\d+ \((.*)\) \S (\d+) /s.exec(facts.of(id, 'stat'))!
    if (id === 1) return !/^(systemd$|init\b)/.test(name!)
    if (!endsWithChild(facts.of(id, 'cmdline').split('\0'))) return false
    id = Number(above)
  }
  // Started from outside: the main process of a container that shares its process ids with others, or a
  // process beside the main one, in the same groups.
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

// Reads from Linux's /proc what a process has cost so far, for measure.ts and launch.ts.
import { readdirSync, readFileSync } from 'node:fs'

// USER_HZ: a hundred ticks a second on every architecture that Node runs on.
const MICROSECONDS_PER_TICK = 10_000

/** Returns the CPU time, user and system, of all threads of a process in microseconds. */
export function cpuTime(pid: number): number {
  return parseCpuTime(readFileSync(`/proc/${pid}/stat`, 'latin1'))
}

/** Returns the CPU time of all threads of a process that live, in microseconds and as exactly as the scheduler knows it. */
export function exactCpuTime(pid: number): number {
  const folder = `/proc/${pid}/task`
  return readdirSync(folder).reduce((sum, thread) => sum + threadTime(`${folder}/${thread}/schedstat`), 0)
}

/** Returns that of a process and of those that it has started, as long as they live. */
export function exactCpuTimeOfAll(pid: number): number {
  return [pid, ...childrenOf(pid)].reduce((sum, id) => sum + exactCpuTime(id), 0)
}

function threadTime(path: string): number {
  try {
    return parseRunTime(readFileSync(path, 'latin1'))
  } catch {
    return 0 // It ended since the folder was read.
  }
}

/** Returns the time on a processor of a line of schedstat, which is in nanoseconds, in microseconds. */
export function parseRunTime(schedstat: string): number {
  return Number(schedstat.split(' ', 1)[0]) / 1000
}

/** Returns the resident memory of a process in MiB. */
export function residentMemory(pid: number): number {
  return parseResidentMemory(readFileSync(`/proc/${pid}/status`, 'latin1'))
}

/** Returns the ids of the processes that a process has started. */
export function childrenOf(pid: number): number[] {
  const ids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
  return ids.split(' ').filter(Boolean).map(Number)
}

/** Returns the numbers of the processors that a process may run on, by its /proc/PID/status. */
export function allowedProcessors(status: string): number[] {
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? ''
  return list.split(',').flatMap(range => {
    const [first, last = first] = range.split('-').map(Number)
    return Array.from({ length: last! - first! + 1 }, (_, at) => first! + at)
  })
}

/** Returns how many TCP connections of this machine have been refused so far, whoever asked for them. */
export function refusedConnects(): number {
  return parseRefusedConnects(readFileSync('/proc/net/snmp', 'latin1'))
}

/** Returns utime and stime of a line of /proc/PID/stat in microseconds; the name in it may hold spaces and brackets. */
export function parseCpuTime(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * MICROSECONDS_PER_TICK
}

/** Returns VmRSS of /proc/PID/status in MiB; NaN where it is missing. */
export function parseResidentMemory(status: string): number {
  return Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1]) / 1024
}

/** Returns AttemptFails of /proc/net/snmp, where a line of names stands above a line of values; NaN where it is missing. */
export function parseRefusedConnects(snmp: string): number {
  const [names, values] = snmp.split('\n').filter(line => line.startsWith('Tcp:'))
  const column = names?.split(' ').indexOf('AttemptFails') ?? -1
  return Number(values?.split(' ')[column])
}

// Has a process of its own do a job of tests, and ends it once it hangs.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { root } from '../help/source.ts'
import type { Job } from './worker.ts'

/** KiB of address space: a mutation may allocate without end. */
const maxMemory = 4 * 2 ** 20
/** Ms between two looks at the process. */
const period = 500
/** The most that a process computes between two looks while it waits: stores look for changes meanwhile. */
const murmur = 20
/** How many looks in a row find a process that waits for what never comes; more where the system does not say what it does. */
const idleLooks = 40
const blindLooks = 600

/** Passes on each line that the process writes; returns whether it hung: it computed for longer than `maxCpu` ms since the last line, or waited without end. */
export async function work<T>(job: Job, maxCpu: number, onLine: (value: T) => void): Promise<boolean> {
  const worker = fileURLToPath(new URL('worker.ts', import.meta.url))
  const command = `ulimit -v ${maxMemory}; exec "$0" "$@"`
  const options = ['--test-reporter=dot', worker]
  const child = spawn('/bin/sh', ['-c', command, process.execPath, ...options], {
    cwd: root,
    env: { ...process.env, NODE_TEST_CONTEXT: undefined },
    stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
    detached: true,
  })
  child.stdin!.on('error', () => {}).end(JSON.stringify(job))
  const kill = () => {
    try {
      process.kill(-child.pid!, 'SIGKILL')
    } catch {
      // All have ended.
    }
  }
  let isHung = false
  let [before, atLine, idle] = [0, 0, 0]
  const timer = setInterval(() => {
    const usage = usageOf(child.pid!)
    // One that wants to compute and may not, on a busy machine, is not idle.
    idle = usage && (usage.isRunning || usage.cpu > before + murmur) ? 0 : idle + 1
    before = usage?.cpu ?? before
    isHung = before - atLine > maxCpu || idle > (usage ? idleLooks : blindLooks)
    if (isHung) kill()
  }, period)
  process.once('exit', kill)
  const lines = createInterface(child.stdio[3] as Readable)
  lines.on('line', line => {
    atLine = usageOf(child.pid!)?.cpu ?? atLine
    idle = 0
    onLine(JSON.parse(line))
  })
  // What it started holds the other end of its descriptors, too.
  child.on('exit', kill)
  await once(lines, 'close')
  clearInterval(timer)
  process.off('exit', kill)
  return isHung
}

/** The ms of CPU that a process has had, and whether it wants more; null where the system does not say so. */
function usageOf(pid: number): { readonly cpu: number; readonly isRunning: boolean } | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ')
    return { cpu: 10 * (Number(fields[11]) + Number(fields[12])), isRunning: fields[0] === 'R' }
  } catch {
    return null
  }
}

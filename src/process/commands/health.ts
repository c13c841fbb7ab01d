// `gatehouse health`: checks whether a gateway is alive, for the health check of a container. It checks the gateway of the same configuration, or with --running whichever
// runs on this machine: a health check does not know its arguments and variables, and its file may have changed since.

import type { Endpoint } from '../../config/config.ts'
import { loadConfig } from '../../config/file/load.ts'
import { configPath, type Input } from './input.ts'
import { isUsable } from './mistakes.ts'
import { adminOf, runningHere } from '../gateway/presence.ts'
import { tell } from './terminal.ts'
import { reachable, urlOf } from '../url.ts'

/** How long the whole check may take, in seconds. */
const usualTimeout = 2
const longestTimeout = 3600

/** Returns 0 when each admin listener responds with 200 to /healthz in time; 1 when not, 2 for a configuration with mistakes, or a wrong option. */
export async function health(input: Input): Promise<number> {
  const patience = patienceOf(input)
  if (patience === null) {
    tell(`gatehouse: --timeout must be a number of seconds, above 0 and at most ${longestTimeout}`)
    return 2
  }
  const pids = input.running ? runningHere() : []
  return pids.length === 0
    ? healthOfConfigured(configPath(input), patience)
    : report(await Promise.all(pids.map(pid => problemOfRunning(pid, patience))))
}

/** Returns how long the check may take, in ms; null where the option is wrong. */
function patienceOf({ timeout }: Input): number | null {
  if (timeout === undefined) return usualTimeout * 1000
  const seconds = /^\d+(?:\.\d+)?$/.test(timeout) ? Number(timeout) : 0
  return seconds > 0 && seconds <= longestTimeout ? Math.ceil(seconds * 1000) : null
}

async function healthOfConfigured(path: string, patience: number): Promise<number> {
  const loaded = loadConfig(path)
  if (!isUsable(path, loaded)) return 2
  return report([await problemAt(loaded.config.admin, AbortSignal.timeout(patience))])
}

async function problemOfRunning(pid: number, patience: number): Promise<string | null> {
  const signal = AbortSignal.timeout(patience)
  const admin = await adminOf(pid, signal).catch(() => null)
  return admin === null ? `process ${pid} does not respond` : problemAt(admin, signal)
}

/** Returns what is wrong, or null. */
async function problemAt({ host, port }: Endpoint, signal: AbortSignal): Promise<string | null> {
  const url = `${urlOf({ host: reachable(host), port })}/healthz`
  try {
    const { status } = await fetch(url, { signal })
    return status === 200 ? null : `${url} responds with ${status}`
  } catch {
    return `${url} does not respond`
  }
}

function report(problems: readonly (string | null)[]): number {
  const found = problems.filter(problem => problem !== null)
  for (const problem of found) tell(`gatehouse: ${problem}`)
  return found.length === 0 ? 0 : 1
}

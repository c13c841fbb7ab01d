// `gatehouse health`, for containers; with --running of any gateway here, whatever its arguments.

import type { Endpoint } from '../../config/model/config.ts'
import { loadConfig } from '../../config/load/load.ts'
import { exchange } from './api/exchange.ts'
import { configPath, type Input } from './input.ts'
import { isUsable } from '../terminal/config-mistakes.ts'
import { adminOf, runningHere } from '../ports/presence.ts'
import { json } from '../terminal/format.ts'
import { complain, print, tell } from '../terminal/output.ts'
import { reachable, urlOf } from '../ports/urls.ts'

/** In seconds. */
const defaultTimeout = 2
const maxTimeout = 3600

/** Returns 0 when each admin listener responds with 200 to /healthz in time, else 1; 2 for mistakes. */
export async function health(input: Input): Promise<number> {
  const timeout = timeoutOf(input)
  if (timeout === null)
    return complain(`--timeout must be a number of seconds, above 0 and at most ${maxTimeout}`)
  const pids = input.running ? runningHere() : []
  const results =
    pids.length === 0
      ? await healthOfConfigured(input, timeout)
      : await Promise.all(pids.map(pid => healthOfRunning(pid, timeout)))
  return results === null ? 2 : report(results, input.json)
}

interface Health {
  readonly url: string | null
  readonly pid: number | null
  readonly problem: string | null
}

function timeoutOf({ timeout }: Input): number | null {
  if (timeout === undefined) return defaultTimeout * 1000
  const seconds = /^\d+(?:\.\d+)?$/.test(timeout) ? Number(timeout) : 0
  return seconds > 0 && seconds <= maxTimeout ? Math.ceil(seconds * 1000) : null
}

async function healthOfConfigured(input: Input, timeout: number): Promise<readonly Health[] | null> {
  const path = configPath(input)
  const loaded = loadConfig(path, process.env, { given: { admin: input.admin } })
  if (!isUsable(path, loaded)) return null
  return [await healthAt(loaded.config.admin, null, AbortSignal.timeout(timeout))]
}

async function healthOfRunning(pid: number, timeout: number): Promise<Health> {
  const signal = AbortSignal.timeout(timeout)
  const admin = await adminOf(pid, signal).catch(() => null)
  if (admin === null) return { url: null, pid, problem: `process ${pid} does not respond` }
  return healthAt(admin, pid, signal)
}

async function healthAt({ host, port }: Endpoint, pid: number | null, signal: AbortSignal): Promise<Health> {
  const url = urlOf({ host: reachable(host), port })
  const address = `${url}/healthz`
  try {
    const { status } = await exchange(address, { method: 'GET' }, signal)
    return { url, pid, problem: status === 200 ? null : `${address} responds with ${status}` }
  } catch {
    return { url, pid, problem: `${address} does not respond` }
  }
}

function report(results: readonly Health[], asJson = false): number {
  const healthy = results.every(({ problem }) => problem === null)
  if (asJson) print(json({ healthy, gateways: results }))
  else for (const { problem } of results) if (problem !== null) tell(`gatehouse: ${problem}`)
  return healthy ? 0 : 1
}

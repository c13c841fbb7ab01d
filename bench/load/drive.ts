// Drives a proxy with wrk, or over HTTP/2 with h2load, for measure.ts and scan.ts.
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Call, ROOT } from './call.ts'
import { parseRequestLog } from './h2load-output.ts'
import { busyFolder, type Command, run } from './launch.ts'
import { CONNECTIONS, MIXES, type Mix, type MixName } from './mixes.ts'
import { unknownTokens } from './unknown-tokens.ts'
import { type Load, parseLoad } from './wrk-output.ts'

/** What wrk runs. */
export const SCRIPT = join(import.meta.dirname, 'mix.lua')

export interface Drive {
  readonly port: number
  readonly mix: MixName
  readonly seconds: number
  /** The chat to send, in mixes of chats. */
  readonly call?: Call
  /** Which token of a file comes first; another one for every request follows. */
  readonly first?: number
  readonly connections?: number
}

/** Sends a mix to a port of 127.0.0.1 for some seconds, as fast as answers come. */
export async function drive(load: Drive): Promise<Load> {
  const { http2Streams } = MIXES[load.mix] as Mix
  if (http2Streams !== undefined) return driveHttp2(load.port, http2Streams, load.seconds)
  return parseLoad(await run(wrkCommand(load)))
}

/** Returns how wrk is called for a mix. */
export function wrkCommand({
  port,
  mix,
  seconds,
  call = ROOT,
  first = 0,
  connections = (MIXES[mix] as Mix).connections ?? CONNECTIONS,
}: Drive): Command {
  const load = ['-t1', `-c${connections}`, `-d${seconds}s`]
  const fields = Object.entries(call.fields).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const path = call.requests ?? call.revoked ?? (call.unknown && unknownTokens(call.unknown))
  const tokens = path === undefined ? [] : [path, String(first)]
  const scheme = (MIXES[mix] as Mix).isTls ? 'https' : 'http'
  const url = `${scheme}://127.0.0.1:${port}${call.path}`
  const args = [...load, ...fields, '-s', SCRIPT, url, '--', mix, call.body, ...tokens]
  return { file: 'wrk', args }
}

async function driveHttp2(port: number, streams: number, seconds: number): Promise<Load> {
  const log = join(busyFolder, `h2load-${port}.log`)
  await run(h2loadCommand(port, streams, seconds, log))
  const text = readFileSync(log, 'latin1')
  rmSync(log)
  return parseRequestLog(text, seconds)
}

/** Returns how h2load is called for so many streams a connection, with the path of its log of requests. */
export function h2loadCommand(port: number, streams: number, seconds: number, log: string): Command {
  const clients = streams === 1 ? CONNECTIONS : CONNECTIONS / 16
  const load = ['-t1', `-c${clients}`, `-m${streams}`, `-D${seconds}`, `--log-file=${log}`]
  return { file: 'h2load', args: [...load, `https://127.0.0.1:${port}/`] }
}

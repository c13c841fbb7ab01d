// Drives a proxy with wrk, for measure.ts and soak.ts.
import { join } from 'node:path'
import { run } from './launch.ts'
import { CONNECTIONS, type MixName } from './mixes.ts'
import { type Load, parseLoad } from './wrk-output.ts'

const SCRIPT = join(import.meta.dirname, 'mix.lua')

/** Sends a mix to a port of 127.0.0.1 for some seconds, as fast as answers come. */
export async function drive(port: number, mix: MixName, seconds: number): Promise<Load> {
  const load = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`]
  const args = [...load, '-s', SCRIPT, `http://127.0.0.1:${port}/`, '--', mix]
  return parseLoad(await run({ file: 'wrk', args }))
}

// What the commands of the tests are given: a mistake is one line and exit code 2, never a run that tries nothing and succeeds.

import { type ParseArgsConfig, parseArgs } from 'node:util'

/** Reads options as parseArgs does; ends the process where it cannot. */
export function optionsOfCommand<const T extends ParseArgsConfig>(
  config: T,
): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config)
  } catch (error) {
    return giveUp((error as Error).message)
  }
}

/** Reads a whole number that is at least `least`, or ends the process. */
export function countOf(option: string, value: string, least = 1): number {
  return /^[1-9]\d*$/.test(value) && Number.isSafeInteger(Number(value)) && Number(value) >= least
    ? Number(value)
    : giveUp(`${option} must be a whole number from ${least}, not ${value}`)
}

/** Reads a whole number that is at least 0, or ends the process. */
export function seedOf(option: string, value: string): number {
  return /^\d+$/.test(value) && Number.isSafeInteger(Number(value))
    ? Number(value)
    : giveUp(`${option} must be a whole number from 0, not ${value}`)
}

/** Reads minutes, of which a part may be wanted, or ends the process. */
export function minutesOf(option: string, value: string): number {
  return /^\d+(\.\d+)?$/.test(value) && Number(value) > 0
    ? Number(value)
    : giveUp(`${option} must be a number above 0, not ${value}`)
}

export function giveUp(message: string): never {
  console.error(message)
  process.exit(2)
}

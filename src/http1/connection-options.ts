// What the Connection fields of a message say (RFC 9110 section 7.6.1): how long the connection lasts, and which fields end with it. Read by both heads.

import { equalsIgnoreCase } from './fields.ts'

interface ConnectionOptions {
  readonly close: boolean
  readonly keepAlive: boolean
  readonly upgrade: boolean
  /** Names of fields that end at this hop, lower-case; null for none. */
  readonly hopByHop: ReadonlySet<string> | null
}

/** The most characters of all Connection fields together. */
const LONGEST = 1024

/** Reads the options of all Connection fields of a message, joined with commas, null when it has none; null for more than anybody means, each of which would cost time. */
export function connectionOptions(value: string | null): ConnectionOptions | null {
  if (value === null) return NOTHING
  if (value.length > LONGEST) return null
  if (equalsIgnoreCase(value, 'keep-alive')) return KEEP_ALIVE
  if (equalsIgnoreCase(value, 'close')) return CLOSE
  const options = new Set(
    value
      .toLowerCase()
      .split(',')
      .map(option => option.trim()),
  )
  options.delete('')
  return {
    close: options.delete('close'),
    keepAlive: options.delete('keep-alive'),
    upgrade: options.delete('upgrade'),
    hopByHop: options.size === 0 ? null : options,
  }
}

const NOTHING: ConnectionOptions = { close: false, keepAlive: false, upgrade: false, hopByHop: null }
const KEEP_ALIVE: ConnectionOptions = { close: false, keepAlive: true, upgrade: false, hopByHop: null }
const CLOSE: ConnectionOptions = { close: true, keepAlive: false, upgrade: false, hopByHop: null }

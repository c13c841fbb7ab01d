// The options of the Connection fields (RFC 9110 section 7.6.1).

import { equalsIgnoreCase } from './fields.ts'
import { withoutOws } from '../../base/text/ows.ts'

interface ConnectionOptions {
  readonly close: boolean
  readonly keepAlive: boolean
  readonly upgrade: boolean
  readonly hopByHop: ReadonlySet<string> | null
}

const maxLength = 1024

/** Takes all Connection fields, joined; null if they are implausibly long, since each costs time. */
export function connectionOptions(value: string | null): ConnectionOptions | null {
  if (value === null) return nothing
  if (value.length > maxLength) return null
  if (equalsIgnoreCase(value, 'keep-alive')) return keepAlive
  if (equalsIgnoreCase(value, 'close')) return close
  const options = new Set(value.toLowerCase().split(',').map(withoutOws))
  options.delete('')
  return {
    close: options.delete('close'),
    keepAlive: options.delete('keep-alive'),
    upgrade: options.delete('upgrade'),
    hopByHop: options.size === 0 ? null : options,
  }
}

const nothing: ConnectionOptions = { close: false, keepAlive: false, upgrade: false, hopByHop: null }
const keepAlive: ConnectionOptions = { close: false, keepAlive: true, upgrade: false, hopByHop: null }
const close: ConnectionOptions = { close: true, keepAlive: false, upgrade: false, hopByHop: null }

// The fields of an MCP request that repeat what its body says, so that it can be routed without a body.

import { isUtf8 } from 'node:buffer'

/** Null for what the request does not have. A field that it has twice is refused before. */
export interface McpFields {
  /** MCP-Protocol-Version. */
  readonly version: string | null
  /** Mcp-Method. */
  readonly method: string | null
  /** Mcp-Name, as it came. */
  readonly name: string | null
}

/**
 * Returns what a value stands for: itself, or the text that it has in base64, as `=?base64?…?=`. Null for
 * base64 that is not canonical or not UTF-8, and for characters that need it.
 */
export function decodeFieldValue(value: string): string | null {
  if (!value.startsWith(prefix) || !value.endsWith(suffix)) return plain.test(value) ? value : null
  const base64 = value.slice(prefix.length, -suffix.length)
  const bytes = Buffer.from(base64, 'base64')
  const isCanonical = `${prefix}${bytes.toString('base64')}${suffix}` === value
  return isCanonical && isUtf8(bytes) ? bytes.toString() : null
}

const prefix = '=?base64?'
const suffix = '?='
const plain = /^[\x20-\x7e]*$/

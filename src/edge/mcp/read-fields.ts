// The request fields that say what is asked of an MCP server, and how its body is to be read.

import type { RequestHead } from '../../http1/heads/request-head.ts'
import type { McpFields } from '../../mcp/fields.ts'
import { asRead } from '../rewrite/headers.ts'

/** Null for each that was not sent. */
export interface ReadFields extends McpFields {
  /** Mcp-Session-Id. */
  readonly session: string | null
  readonly origin: string | null
  readonly contentType: string | null
  readonly contentEncoding: string | null
}

const names = {
  version: 'mcp-protocol-version',
  method: 'mcp-method',
  name: 'mcp-name',
  session: 'mcp-session-id',
  origin: 'origin',
  contentType: 'content-type',
  contentEncoding: 'content-encoding',
} as const satisfies Record<keyof ReadFields, string>

const read: ReadonlySet<string> = new Set(Object.values(names))

/** Returns the name of a field instead that comes twice, or spelled as only some servers read it. */
export function fieldsOf({ fields }: RequestHead): ReadFields | string {
  const values = new Map<string, string>()
  for (let i = 0; i < fields.length; i += 2) {
    const name = asRead(fields[i]!)
    if (!read.has(name)) continue
    if (values.has(name) || fields[i]!.toLowerCase() !== name) return name
    values.set(name, fields[i + 1]!)
  }
  const get = (key: keyof ReadFields) => values.get(names[key]) ?? null
  return {
    version: get('version'),
    method: get('method'),
    name: get('name'),
    session: get('session'),
    origin: get('origin'),
    contentType: get('contentType'),
    contentEncoding: get('contentEncoding'),
  }
}

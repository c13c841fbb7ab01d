// What is wrong with an MCP request, as its protocol says it: a status of HTTP and a code of JSON-RPC.

import { likeVersions } from './versions.ts'

export interface McpFault {
  readonly status: number
  readonly code: number
  readonly message: string
  /** Of the request, as JSON text; null if it has none, or it is not known. */
  readonly id: string | null
  readonly data?: object
}

export function isMcpFault(value: object): value is McpFault {
  return 'code' in value
}

/** No JSON, or not as it may be read: nothing of it is known. */
export function unreadable(message: string): McpFault {
  return { status: 400, code: -32700, message, id: null }
}

export function invalidRequest(message: string, id: string | null = null): McpFault {
  return { status: 400, code: -32600, message, id }
}

export function invalidParams(message: string, id: string | null): McpFault {
  return { status: 400, code: -32602, message, id }
}

export function unsupportedVersion(requested: string, id: string | null): McpFault {
  return {
    status: 400,
    code: -32022,
    message: 'This version of the protocol is not known here.',
    id,
    data: { supported: likeVersions(requested), requested: shortened(requested) },
  }
}

/** A field of the request and its body disagree; null for what is missing. */
export function mismatch(
  field: string,
  { header, body }: { readonly header: string | null; readonly body: string | null },
  id: string | null,
): McpFault {
  const message =
    header === null
      ? `The field ${field} is missing, which repeats what the body says.`
      : `The field ${field} and the body differ.`
  const data = { mismatch: { field, header: shortenedOrNull(header), body: shortenedOrNull(body) } }
  return { status: 400, code: -32020, message, id, data }
}

/** Of a request without a body, which has no place in a revision without sessions. */
export const noStream: McpFault = {
  status: 405,
  code: -32000,
  message: 'This version of the protocol has POST only.',
  id: null,
}

function shortenedOrNull(text: string | null): string | null {
  return text === null ? null : shortened(text)
}

/** Names may be long, and are sent back in errors. */
function shortened(text: string): string {
  return text.length > longestShown ? `${text.slice(0, longestShown).toWellFormed()}…` : text
}

const longestShown = 128

// The state of a request to an MCP server, beyond that of every exchange.

import type { McpRequest } from '../../mcp/agreement.ts'
import type { ResponseScan } from '../../mcp/response-scan.ts'

export class McpExchange {
  /** What it asks of the server; null before it was read, and for OPTIONS. */
  request: McpRequest | null = null
  /** The id of the one message, as JSON, for an error; null where there is none. */
  id: string | null = null
  /** As the client sent it; null without one, and where the protocol has none. */
  session: string | null = null
  /** Whether only the member of its session may get it. */
  isBound = false
  body: Buffer | null = null
  /** Of the response that the client gets; null before it, and for one with an encoding. */
  response: ResponseScan | null = null
  /** The numbers of the rules that allow what it asks, each once. */
  readonly allowedBy: number[] = []
  /** Counted against the shared limit. */
  gatheredBytes = 0
}

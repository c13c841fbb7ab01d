// What was understood of a request to an MCP server.

import type { McpMessage } from '../../mcp/message.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { redacted } from './redact.ts'
import type { Reason } from './rehearsed.ts'

/** Of a request that passed. */
export function messageReason({ mcp, head }: Exchange): Reason {
  if (mcp === null) return { reason: notMcp }
  const { request } = mcp
  if (request === null || request.messages.length === 0)
    return { reason: `${redacted(head.method) ?? 'It'} has no message.` }
  const { messages, version } = request
  const what = messages.length === 1 ? 'A message' : `${messages.length} messages`
  const reason = version === '' ? `${what}.` : `${what} of version ${version}.`
  return { reason, compared: messages.map(comparedMessage) }
}

function comparedMessage({ kind, method, name }: McpMessage) {
  const value = name === null ? method : `${method} ${name}`
  return { what: kind, value: redacted(value), with: null }
}

export function permitReason({ mcp, route }: Exchange): string {
  if (mcp === null) return notMcp
  if (route!.mcpRules === null) return 'The route has no rules.'
  const { allowedBy } = mcp
  if (allowedBy.length === 0) return 'No MCP rule denies it.'
  return `Allowed by MCP rule${allowedBy.length === 1 ? '' : 's'} ${allowedBy.join(', ')}.`
}

const notMcp = 'Not for an MCP server.'

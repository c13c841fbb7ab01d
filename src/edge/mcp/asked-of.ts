// What a request asked of an MCP server, for its line in the access log.

import type { McpRequest } from '../../mcp/agreement.ts'
import { holdsOurs } from '../../tokens/misplaced-tokens.ts'
import type { AccessEntry } from '../../log/access-log.ts'

/** Of a batch, its first message with a name tells most. */
export function askedOf({ messages }: McpRequest): NonNullable<AccessEntry['mcp']> {
  const message = messages.find(({ name }) => name !== null) ?? messages.find(({ method }) => method !== '')
  return {
    method: withoutOurs(message?.method ?? null),
    name: withoutOurs(message?.name ?? null),
    messages: messages.length,
  }
}

function withoutOurs(text: string | null): string | null {
  return text !== null && holdsOurs(text) ? '' : text
}

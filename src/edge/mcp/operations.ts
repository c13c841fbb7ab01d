// What the messages of a request ask of an MCP server, each operation by itself: rules judge all of them, and
// the strictest decides.

import type { McpRequest } from '../../mcp/agreement.ts'
import type { McpMessage, McpTarget } from '../../mcp/message.ts'
import { spellingsOf } from '../../mcp/resource-uri.ts'

export interface Operation {
  /** Empty for a response of a client, a stream of a session and the end of one. */
  readonly method: string
  /** Null if it is about nothing that has a name. */
  readonly target: McpTarget | null
  /** Whether clients need it before they can ask for anything. */
  readonly isPreliminary: boolean
}

export function operationsIn({ messages }: McpRequest): readonly Operation[] {
  return messages.length === 0 ? [withoutMessage] : messages.flatMap(operationsOf)
}

function operationsOf({ method, kind, targets }: McpMessage): readonly Operation[] {
  if (targets.length > 0)
    return targets.flatMap(readingsOf).map(target => ({ method, target, isPreliminary: false }))
  return [{ method, target: null, isPreliminary: kind !== 'request' || preliminary.has(method) }]
}

function readingsOf(target: McpTarget): readonly McpTarget[] {
  if (target.kind !== 'resource') return [target]
  return spellingsOf(target.name).map(name => ({ kind: 'resource', name }))
}

const withoutMessage: Operation = { method: '', target: null, isPreliminary: true }

/** They begin, keep up, and list what there is. */
const preliminary: ReadonlySet<string> = new Set([
  'initialize',
  'logging/setLevel',
  'ping',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'server/discover',
  'tools/list',
])

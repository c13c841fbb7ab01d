// What the messages of a request ask of an MCP server, each operation by itself: rules judge all of them, and
// the strictest decides.

import type { McpRequest } from '../../mcp/agreement.ts'
import type { McpMessage, McpTarget } from '../../mcp/message.ts'
import { spellingsOf } from '../../mcp/resource-uri.ts'

interface Operation {
  /** Empty for a response of a client, a stream of a session and the end of one. */
  readonly method: string
  /** What it is about, in all spellings; one that is null if that has no name. */
  readonly targets: readonly (McpTarget | null)[]
  /** Whether clients need it before they can ask for anything. */
  readonly isPreliminary: boolean
}

export function operationsIn({ messages }: McpRequest): readonly Operation[] {
  return messages.length === 0 ? [withoutMessage] : messages.flatMap(operationsOf)
}

function operationsOf({ method, kind, targets }: McpMessage): readonly Operation[] {
  if (targets.length > 0)
    return targets.map(target => ({ method, targets: respelled(target), isPreliminary: false }))
  return [{ method, targets: unnamed, isPreliminary: kind !== 'request' || preliminary.has(method) }]
}

function respelled(target: McpTarget): readonly McpTarget[] {
  if (target.kind !== 'resource') return [target]
  return spellingsOf(target.name).map(name => ({ kind: 'resource', name }))
}

const unnamed = [null]
const withoutMessage: Operation = { method: '', targets: unnamed, isPreliminary: true }

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

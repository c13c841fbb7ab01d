// Counts what a request asked of an MCP server, and what became of it, under a bounded set of names.

import { errorRows } from '../../errors/catalogue/catalogue.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import { knownMethods } from '../../mcp/methods.ts'
import type { McpMessage } from '../../mcp/message.ts'
import type { McpResult, McpRouteMetrics } from '../../metrics/counters/mcp-metrics.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { McpExchange } from '../exchange/mcp-exchange.ts'
import { mcpTalliesOf } from './tally-messages.ts'

/** The label of methods that no revision has. */
const otherMethod = 'other'
/** The label of what was refused before it was read. */
const unread = 'unread'

/** `now` is in monotonic ms. */
export function countMessages(x: Exchange, mcp: McpExchange, now: number): void {
  if (x.isPreview || x.head.method !== 'POST') return
  const metrics = x.plane.metrics.mcp.route(x.zone!.config.name, x.route!.config.path)
  const tallies = mcpTalliesOf(x)
  const result = resultOf(x, mcp)
  const note = (method: string, name: string) => {
    metrics.note(method, name, result, now - x.startedAt)
    tallies.message(method, name, result, now - x.startedAt)
    if (result === 'refused') tallies.refusal(method, name, reasonOf(x.refusal!))
  }
  const subject = x.admission?.subject ?? null
  if (subject !== null) tallies.caller(subject, result, x.plane.clock.now())
  if (mcp.request === null) return note(unread, '')
  const { messages } = mcp.request
  // Which message of a batch a response is of is not read.
  const isProven = result === 'answered' && mcp.response?.hasResult === true && messages.length === 1
  const names = x.route!.mcpRules?.names
  for (const message of messages) {
    // Of a client to its server.
    if (message.kind === 'response') continue
    const method = knownMethods.has(message.method) ? message.method : otherMethod
    const isKnown = (isProven && message.kind === 'request') || names?.has(message.name ?? '') === true
    note(method, nameOf(message, metrics, isKnown))
  }
}

function resultOf({ refusal, aborted, status }: Exchange, { response }: McpExchange): McpResult {
  if (refusal !== null) return errorRows[refusal.error].status < 500 ? 'refused' : 'failed'
  if (aborted) return 'cancelled'
  return status >= 400 || response?.hasError === true ? 'failed' : 'answered'
}

/** The rule or limit, where there is one. */
function reasonOf({ cause, error }: Refusal): string {
  const code = (cause as { readonly code?: unknown } | null)?.code
  return typeof code === 'string' ? code : error
}

/** URIs and tasks are without number. */
function nameOf({ name, targets }: McpMessage, metrics: McpRouteMetrics, isKnown: boolean): string {
  const target = targets[0]
  if (name === null || (target?.kind !== 'tool' && target?.kind !== 'prompt')) return ''
  return metrics.labelOf(name, isKnown)
}

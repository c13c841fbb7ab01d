// What a request asks of an MCP server, read in the one way in which the server reads it too. What could be
// read in two ways goes nowhere.

import type { Refusal } from '../../errors/catalogue/refusal.ts'
import { judge, judgeBodiless, type McpRequest } from '../../mcp/agreement.ts'
import { isMcpFault, type McpFault } from '../../mcp/fault.ts'
import { gatherBody } from '../exchange/gather-body.ts'
import type { Exchange, Verdict } from '../exchange/exchange.ts'
import type { McpExchange } from '../exchange/mcp-exchange.ts'
import { admitsPage } from './admits-page.ts'
import { fieldsOf, type ReadFields } from './read-fields.ts'
import {
  foreignPage,
  misplacedBody,
  notPlainJson,
  noWebSocket,
  otherMethod,
  refuseFault,
  refuseRepeated,
} from './refusals.ts'

/**
 * Refuses a page of another site (403), a method that the transport does not have (405), a body that is not
 * plain JSON (415), and a message that is malformed or contradicts its fields (400).
 */
export function understand(x: Exchange): Verdict {
  return x.mcp === null ? null : understandRequest(x, x.mcp)
}

function understandRequest(x: Exchange, mcp: McpExchange): Verdict {
  const { head, route } = x
  const fields = fieldsOf(head)
  if (typeof fields === 'string') return refuseRepeated(fields)
  if (fields.origin !== null && !admitsPage(x, route!.config.mcp!.origins, fields.origin)) return foreignPage
  if (x.upgrade === 'requested') return noWebSocket
  if (head.method === 'POST') return readMessage(x, mcp, fields)
  if (head.method !== 'GET' && head.method !== 'DELETE' && head.method !== 'OPTIONS') return otherMethod
  if (head.chunked || head.contentLength > 0) return misplacedBody
  if (head.method === 'OPTIONS') return null
  return take(mcp, fields, judgeBodiless(fields))
}

function readMessage(x: Exchange, mcp: McpExchange, fields: ReadFields): Verdict {
  const { contentType, contentEncoding } = fields
  if (contentEncoding !== null && contentEncoding !== 'identity') return notPlainJson
  if (contentType === null || !plainJson.test(contentType)) return notPlainJson
  const gathering = gatherBody(x, mcp)
  if (Buffer.isBuffer(gathering)) return takeBody(mcp, fields, gathering)
  return gathering instanceof Promise ? gathering.then(body => takeBody(mcp, fields, body)) : gathering
}

/** In another charset, a server could read other letters. */
const plainJson = /^application\/json[ \t]*(?:;[ \t]*charset=("?)utf-8\1[ \t]*)?$/i

function takeBody(mcp: McpExchange, fields: ReadFields, body: Buffer): Refusal | null {
  mcp.body = body
  return take(mcp, fields, judge(fields, body))
}

function take(mcp: McpExchange, { session }: ReadFields, request: McpRequest | McpFault): Refusal | null {
  if (isMcpFault(request)) {
    mcp.id = request.id
    return refuseFault(request)
  }
  mcp.request = request
  if (!request.isStateless) mcp.session = session
  const [first, ...others] = request.messages
  mcp.id = first?.kind === 'request' && others.length === 0 ? first.id : null
  return null
}

// Why a request does not reach an MCP server, in the words of JSON-RPC and of the error record.

import type { ErrorName } from '../../errors/catalogue/catalogue.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { invalidRequest, type McpFault } from '../../mcp/fault.ts'

/** Of a message that is malformed, or contradicts its fields. */
export function refuseFault({ status, code, message, data }: McpFault): Refusal {
  const wording = {
    heading: 'The message was refused',
    detail: `${message} The gateway passes to an MCP server only what can be read in one way.`,
    guidance,
    isOfRequest: true,
  }
  const fault = { code, message, pointer: null, ...(data !== undefined && { data }) }
  const error = status === 405 ? 'method_not_allowed' : 'bad_request'
  const refusal = refuse(error, { faults: [fault], wording }, { code: `JSON-RPC ${code}` })
  return status === 405 ? { ...refusal, allow: 'POST' } : refusal
}

const guidance =
  '**Do not retry as it is.** Correct the program that sent the message, or bring it up to date: SDKs of the Model Context Protocol write all of this themselves.'

function refused(error: ErrorName, heading: string, detail: string, advice = guidance): Refusal {
  return refuse(error, { wording: { heading, detail, guidance: advice } })
}

export const foreignPage: Refusal = {
  ...refused(
    'forbidden',
    'A page of another site',
    'A browser sent the request for a page of a site that may not call this MCP server.',
    '**Do not retry.** Use a program that is not a page, or have the operator of the server list the site of the page in origins.',
  ),
  cause: { code: 'page of another site' },
}

export const noWebSocket = refused(
  'bad_request',
  'No WebSockets here',
  'An MCP server is called by POST; no version of the protocol has WebSockets.',
)

export const otherMethod: Refusal = {
  ...refused(
    'method_not_allowed',
    'Not a method of the protocol',
    'An MCP server is called by POST. Versions before 2026-07-28 have GET for its event stream, and DELETE for the end of a session.',
  ),
  allow: 'POST, GET, DELETE',
}

export const notPlainJson = refused(
  'unsupported_media_type',
  'Not plain JSON',
  'The gateway reads what is asked of an MCP server, and reads it as application/json in UTF-8 without an encoding.',
)

export const misplacedBody = refuseFault(invalidRequest('Only POST has a body.'))

/** Of a field that comes twice, or in a spelling that only some servers know. */
export function refuseRepeated(name: string): Refusal {
  return refuseFault(invalidRequest(`The field ${name} must come once, and in its usual spelling.`))
}

const byRule = refused(
  'forbidden',
  'Not allowed here',
  'The operator of the MCP server does not allow everyone all that it can do, and this is not for you.',
  '**Do not retry.** If you need it, request it from the operator of the server.',
)

/** `number` is that of the rule; null if none allows it. */
export function refuseByRule(number: number | null): Refusal {
  return { ...byRule, cause: { code: number === null ? 'no MCP rule' : `MCP rule ${number}` } }
}

export const withoutScopes: Refusal = {
  ...refused(
    'forbidden',
    'This token does not allow this',
    'Your token is valid, but what you ask of the MCP server takes more scopes than it has.',
    '**Do not retry as it is.** Request a token with the scopes that WWW-Authenticate lists.',
  ),
  cause: { code: 'GH_TOKEN_SCOPES' },
}

// Compares the fields of an MCP request with its body: what reads either one must come to the same.

import { invalidParams, invalidRequest, isMcpFault, type McpFault, mismatch, noStream } from './fault.ts'
import { unsupportedVersion } from './fault.ts'
import { decodeFieldValue, type McpFields } from './fields.ts'
import { type McpMessage, readMessages, repeatsName } from './message.ts'
import { isMcpVersion, isStateless } from './versions.ts'

export interface McpRequest {
  /** Empty where the request does not say, as when a session begins. */
  readonly version: string
  /** More than one in a batch of old; none in requests without a body. */
  readonly messages: readonly McpMessage[]
  /** Whether it is of a revision without sessions. */
  readonly isStateless: boolean
}

/** Judges a POST. */
export function judge(fields: McpFields, body: Buffer): McpRequest | McpFault {
  const read = readMessages(body)
  if (isMcpFault(read)) return read
  const { messages, isBatch } = read
  if (isBatch) return judgeBatch(fields, messages)
  const message = messages[0]!
  return (
    (message.kind === 'response' ? faultOfResponse(fields, message) : faultOfCall(fields, message)) ??
    requestOf(fields, messages)
  )
}

/** Judges a request that opens a stream of a session, or ends a session. */
export function judgeBodiless(fields: McpFields): McpRequest | McpFault {
  if (isModern(fields.version)) return faultOfVersion(fields.version, null) ?? noStream
  return faultOfVersion(fields.version, null) ?? requestOf(fields, [])
}

/** Batches are older than the fields. */
function judgeBatch(fields: McpFields, messages: readonly McpMessage[]): McpRequest | McpFault {
  if (isModern(fields.version) || messages.some(({ claim }) => claim !== null))
    return invalidRequest('This version of the protocol has no batches.')
  if (fields.method !== null) return mismatch(methodField, { header: fields.method, body: null }, null)
  if (fields.name !== null) return mismatch(nameField, { header: fields.name, body: null }, null)
  return faultOfVersion(fields.version, null) ?? requestOf(fields, messages)
}

/** Responses go to a server that asked for something, which only servers with sessions do. */
function faultOfResponse(fields: McpFields, { id }: McpMessage): McpFault | null {
  if (isModern(fields.version))
    return invalidRequest('This version of the protocol has no responses of clients.', id)
  if (fields.method !== null) return mismatch(methodField, { header: fields.method, body: null }, id)
  return faultOfVersion(fields.version, id)
}

function faultOfCall(fields: McpFields, message: McpMessage): McpFault | null {
  const { id, claim, kind, method } = message
  const isModernClaim = isModern(claim)
  if (claim !== null && fields.version !== null && fields.version !== claim)
    return mismatch(versionField, { header: fields.version, body: claim }, id)
  if (isModern(fields.version) && claim === null && kind === 'request')
    return method === 'initialize'
      ? mismatch(versionField, { header: fields.version, body: null }, id)
      : invalidParams('`params._meta` must have the version of the protocol.', id)
  if (fields.method !== null && fields.method !== method)
    return mismatch(methodField, { header: fields.method, body: method }, id)
  return (
    faultOfVersion(fields.version ?? claim, id) ??
    (isModernClaim && kind === 'request' ? faultOfMissing(fields, message) : null) ??
    faultOfName(fields, message)
  )
}

/** In their order, so that all say the same of a request with none of them. */
function faultOfMissing(fields: McpFields, { id, claim, method, name }: McpMessage): McpFault | null {
  if (fields.version === null) return mismatch(versionField, { header: null, body: claim }, id)
  if (fields.method === null) return mismatch(methodField, { header: null, body: method }, id)
  if (fields.name === null && name !== null && repeatsName(method))
    return mismatch(nameField, { header: null, body: name }, id)
  return null
}

/** A method that has no name gives the field no meaning. */
function faultOfName(fields: McpFields, { id, method, name }: McpMessage): McpFault | null {
  if (fields.name === null) return null
  const decoded = decodeFieldValue(fields.name)
  const agrees = decoded !== null && (decoded === name || (name === null && !repeatsName(method)))
  return agrees ? null : mismatch(nameField, { header: fields.name, body: name }, id)
}

function faultOfVersion(version: string | null, id: string | null): McpFault | null {
  return version === null || isMcpVersion(version) ? null : unsupportedVersion(version, id)
}

function requestOf(fields: McpFields, messages: readonly McpMessage[]): McpRequest {
  const version = fields.version ?? messages[0]?.claim ?? ''
  return { version, messages, isStateless: isStateless(version) }
}

function isModern(version: string | null): boolean {
  return version !== null && isStateless(version)
}

const versionField = 'MCP-Protocol-Version'
const methodField = 'Mcp-Method'
const nameField = 'Mcp-Name'

// The messages in the body of an MCP request: what they are and what they ask for, and nothing else of them.

import { isUtf8 } from 'node:buffer'
import { invalidParams, invalidRequest, isMcpFault, type McpFault, unreadable } from './fault.ts'
import { MessageScan, type ScannedMessage } from './message-scan.ts'

export interface McpMessage {
  readonly kind: 'request' | 'notification' | 'response'
  /** As JSON text, to be sent back as it came; null if it has none. */
  readonly id: string | null
  /** Empty for responses. */
  readonly method: string
  /** Of the tool, prompt, resource or task, as the field Mcp-Name repeats it; null if the method has none. */
  readonly name: string | null
  /** All that it asks for by name: most methods have one or none, and subscriptions may have many. */
  readonly targets: readonly McpTarget[]
  /** The version of the protocol that it says it has; null if it says none. */
  readonly claim: string | null
}

export interface McpTarget {
  readonly kind: 'tool' | 'prompt' | 'resource' | 'task'
  readonly name: string
}

export interface McpBody {
  readonly isBatch: boolean
  readonly messages: readonly McpMessage[]
}

/**
 * Refuses what two readers could understand differently: members that are duplicate, or look like a known one
 * in another case; names that are not text; and what is not JSON.
 */
export function readMessages(body: Buffer): McpBody | McpFault {
  if (!isUtf8(body)) return unreadable('The body must be UTF-8.')
  const scan = new MessageScan(body)
  const scanned = scan.read()
  if (scanned === null) return unreadable('The body must be JSON that nests no deeper than 256.')
  if (scanned.length === 0) return invalidRequest('A batch must not be empty.')
  if (scanned.length > mostMessages) return invalidRequest(`A batch has at most ${mostMessages} messages.`)
  const messages: McpMessage[] = []
  let targets = 0
  for (const one of scanned) {
    const message = readMessage(one)
    if (isMcpFault(message)) return scan.isBatch ? { ...message, id: null } : message
    messages.push(message)
    targets += message.targets.length
    if (targets > mostTargets)
      return invalidRequest(`A batch asks for at most ${mostTargets} things by name.`)
  }
  return { isBatch: scan.isBatch, messages }
}

function readMessage(scanned: ScannedMessage): McpMessage | McpFault {
  const id = scanned.text('id')
  if (scanned.flaw !== null) return invalidRequest(scanned.flaw, id)
  if (scanned.text('jsonrpc') !== '2.0') return invalidRequest('`jsonrpc` must be "2.0".', id)
  if (!scanned.has('method')) return readResponse(scanned)
  const method = scanned.text('method')
  if (method === null || method === '') return invalidRequest('`method` must be a name.', id)
  if (scanned.has('result') || scanned.has('error'))
    return invalidRequest('A message is a request or a response, and not both.', id)
  if (scanned.has('id') && id === null) return invalidRequest('`id` must be a string or a number.')
  if (scanned.isMisshapen('params')) return invalidRequest('`params` must be an object.', id)
  if (scanned.isMisshapen('meta')) return invalidParams('`_meta` must be an object.', id)
  const claim = scanned.text('claim')
  if (scanned.has('claim') && claim === null)
    return invalidParams('The version of the protocol in `_meta` must be a string.', id)
  const targets = targetsOf(method, scanned)
  if (targets === null) return invalidParams('What the method is about must be a name, in a string.', id)
  const name = nameByMethod.has(method) ? (targets[0]?.name ?? null) : null
  return { kind: scanned.has('id') ? 'request' : 'notification', id, method, name, targets, claim }
}

/** An error may be about a request whose id could not be read. */
function readResponse(scanned: ScannedMessage): McpMessage | McpFault {
  const id = scanned.text('id')
  const isResult = scanned.has('result')
  if (isResult === scanned.has('error'))
    return invalidRequest('A message must have a method, a result or an error.', id)
  if (isResult && id === null) return invalidRequest('`id` must be a string or a number.')
  return { kind: 'response', id, method: '', name: null, targets: [], claim: null }
}

/** Null if a name is not text: an origin might take a list of one name for that name. It may be missing. */
function targetsOf(method: string, scanned: ScannedMessage): readonly McpTarget[] | null {
  const source = nameByMethod.get(method)
  if (source !== undefined) return targetsIn(scanned, source.kind, source.member)
  switch (method) {
    case 'completion/complete':
      return referencesOf(scanned)
    case 'subscriptions/listen': {
      const { subscriptions } = scanned
      const isList = !scanned.isMisshapen('notifications') && !scanned.isMisshapen('subscriptions')
      if (!isList || subscriptions.length > mostTargets) return null
      return subscriptions.includes(null)
        ? null
        : subscriptions.map(name => ({ kind: 'resource', name: name! }))
    }
    default:
      return none
  }
}

function referencesOf(scanned: ScannedMessage): readonly McpTarget[] | null {
  if (!scanned.has('ref')) return none
  switch (scanned.text('refType')) {
    case 'ref/prompt':
      return targetsIn(scanned, 'prompt', 'refName')
    case 'ref/resource':
      return targetsIn(scanned, 'resource', 'refUri')
    default:
      return null
  }
}

function targetsIn(
  scanned: ScannedMessage,
  kind: McpTarget['kind'],
  member: 'name' | 'uri' | 'taskId' | 'refName' | 'refUri',
): readonly McpTarget[] | null {
  const name = scanned.text(member)
  if (name !== null) return [{ kind, name }]
  return scanned.has(member) ? null : none
}

interface NameSource {
  readonly member: 'name' | 'uri' | 'taskId'
  readonly kind: McpTarget['kind']
  /** Whether requests must have the field Mcp-Name. */
  readonly isRepeated: boolean
}

/** Methods that are about one thing, of all revisions. */
const nameByMethod = new Map<string, NameSource>([
  ['tools/call', { member: 'name', kind: 'tool', isRepeated: true }],
  ['prompts/get', { member: 'name', kind: 'prompt', isRepeated: true }],
  ['resources/read', { member: 'uri', kind: 'resource', isRepeated: true }],
  ['resources/subscribe', { member: 'uri', kind: 'resource', isRepeated: false }],
  ['resources/unsubscribe', { member: 'uri', kind: 'resource', isRepeated: false }],
  ['tasks/get', { member: 'taskId', kind: 'task', isRepeated: true }],
  ['tasks/update', { member: 'taskId', kind: 'task', isRepeated: true }],
  ['tasks/cancel', { member: 'taskId', kind: 'task', isRepeated: true }],
  ['tasks/result', { member: 'taskId', kind: 'task', isRepeated: false }],
])

/** Whether a request of this method must have the field Mcp-Name. */
export function repeatsName(method: string): boolean {
  return nameByMethod.get(method)?.isRepeated === true
}

const none: readonly McpTarget[] = []
const mostMessages = 100
/** Of all messages together: each is judged by all rules. */
const mostTargets = 100

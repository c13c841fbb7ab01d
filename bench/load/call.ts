// What a caller of the bench sends, and how a chat gets to its provider through a contestant; for measure.ts and its drivers.
import { CHAT_PATH, chatBody } from './chat.ts'
import type { Prefix } from './unknown-tokens.ts'

/** One request, as wrk, a socket and a probe send it. */
export interface Call {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly fields: Readonly<Record<string, string>>
  readonly body: string
  /** What the tokens begin with of which each request shows another; none where all show the same. */
  readonly unknown?: Prefix
  /** The path of a file with the tokens, where each request shows one that was revoked. */
  readonly revoked?: string
  /** The path of a file with requests to send in turn, each ended by a zero byte. */
  readonly requests?: string
}

/** Where a contestant takes chats, and what it asks of their callers. */
export interface Door {
  readonly path: string
  readonly model: string
  readonly fields: Readonly<Record<string, string>>
  /** The field that carries the caller's token for the gateway, or null where it asks for none. */
  readonly token: readonly [field: string, value: string] | null
  /** The path of a file with tokens that were revoked, one a line; none where there are none. */
  readonly revoked?: string
}

/** What a chat shows at the door: the token it was given, tokens that nobody was given, tokens that were revoked, or nothing. */
export type Shown = 'own' | 'unknown' | 'revoked' | 'none'

export const ROOT: Call = { method: 'GET', path: '/', fields: {}, body: '' }

export const EVENTS: Call = { ...ROOT, path: '/events', fields: { accept: 'text/event-stream' } }

/** The door of a provider itself, and of a proxy that stands before it. */
export const PROVIDER_DOOR: Door = {
  path: CHAT_PATH,
  model: 'gpt-4o-mini',
  fields: { authorization: 'Bearer sk-bench' },
  token: null,
}

/** Stands in the place of each token of a file; mix.lua looks for it. */
const PLACEHOLDER = 'TOKEN'

/** Makes a chat for a door; it is streamed where a number of tokens is given. */
export function chatAt(door: Door, shown: Shown = 'own', tokens: number | null = null): Call {
  return {
    method: 'POST',
    path: door.path,
    fields: {
      ...door.fields,
      ...(door.token && tokenField(door.token, shown)),
      accept: tokens === null ? 'application/json' : 'text/event-stream',
      'content-type': 'application/json',
    },
    body: chatBody(door.model, tokens),
    ...(door.token && shown === 'unknown' && { unknown: prefixOf(door.token) }),
    ...(door.revoked && shown === 'revoked' && { revoked: door.revoked }),
  }
}

/** Writes a call as the bytes of a request on a connection that stays open. */
export function asText({ method, path, fields, body }: Call): string {
  const all = { host: '127.0.0.1', 'user-agent': 'bench', ...fields, 'content-length': `${body.length}` }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

/** Unknown tokens are of the kind of the one that the door lets in. */
function prefixOf([, value]: NonNullable<Door['token']>): Prefix {
  return value.startsWith('Bearer svco_') ? 'svco_' : 'svct_'
}

function tokenField([field, value]: NonNullable<Door['token']>, shown: Shown): Record<string, string> {
  if (shown === 'none') return {}
  return { [field]: shown === 'own' ? value : `Bearer ${PLACEHOLDER}` }
}

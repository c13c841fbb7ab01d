// An origin that authenticates connections by NTLM, as IIS does: three messages on one connection, and then each request on it is the user's. And what its clients send.

import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { type Origin, startOrigin } from './origin.ts'
import { type Message, request, type Wire } from './raw.ts'

/** Writes a message of NTLM as base64: its signature, its number, and in place of all else the text. */
export function ntlmMessage(number: 1 | 2 | 3, text: string): string {
  return Buffer.from(`NTLMSSP\0${String.fromCharCode(number)}\0\0\0${text}`, 'latin1').toString('base64')
}

interface NtlmMessage {
  readonly number: number
  readonly text: string
}

function readMessage(token: string): NtlmMessage {
  const bytes = Buffer.from(token, 'base64').toString('latin1')
  return { number: bytes.charCodeAt(8), text: bytes.slice(12) }
}

/** What is known of one connection. */
interface State {
  nonce: string | null
  user: string | null
}

export interface NtlmOptions {
  /** The scheme, as the origin spells it. */
  readonly scheme?: string
  /** Further lines of each response. */
  readonly fields?: readonly string[]
  /** Serves the request of a user; undefined for the usual response. */
  readonly serve?: (
    message: Message,
    user: string,
    wire: Wire,
  ) => string | undefined | Promise<string | undefined>
}

/** Starts such an origin; a response has the user, the number of the connection, the request line and its body. */
export function startNtlmOrigin(t: TestContext, options: NtlmOptions = {}): Promise<Origin> {
  const { scheme = 'NTLM', fields = [], serve } = options
  const origin = startOrigin(t, async (wire, nth) => {
    const state: State = { nonce: null, user: null }
    for (;;) {
      const message = await wire.request()
      ;(await origin).requests.push(message)
      const challenge = challengeFor(state, message, scheme)
      const served = challenge === null ? await serve?.(message, state.user!, wire) : undefined
      await wire.send(served ?? responseTo(message, state.user, challenge, nth, fields))
    }
  })
  return origin
}

/** Returns the challenge that a request gets; null where the connection is a user's. */
function challengeFor(state: State, message: Message, scheme: string): string | null {
  const credentials = message.all('authorization').find(value => /^ntlm /i.test(value))
  if (credentials === undefined) {
    state.nonce = null
    return state.user === null ? scheme : null
  }
  const { number, text } = readMessage(credentials.slice(5).trim())
  if (number === 1) {
    state.user = null
    state.nonce = randomBytes(8).toString('hex')
    return `${scheme} ${ntlmMessage(2, state.nonce)}`
  }
  const [user, nonce] = text.split(':')
  state.user = state.nonce !== null && nonce === state.nonce ? user! : null
  state.nonce = null
  return state.user === null ? scheme : null
}

function responseTo(
  { startLine, text }: Message,
  user: string | null,
  challenge: string | null,
  nth: number,
  fields: readonly string[],
): string {
  const body = `${user ?? 'nobody'} by ${nth}: ${startLine.replace(' HTTP/1.1', '')} ${text}`.trim()
  const lines = [
    challenge === null ? 'HTTP/1.1 200 OK' : 'HTTP/1.1 401 Unauthorized',
    ...(challenge === null ? [] : [`WWW-Authenticate: ${challenge}`]),
    ...fields,
    `Content-Length: ${body.length}`,
  ]
  const isHead = startLine.startsWith('HEAD ')
  return `${lines.join('\r\n')}\r\n\r\n${isHead ? '' : body}`
}

export interface NtlmClient {
  readonly user: string
  /** The line of the request, and its body. */
  readonly line?: string
  readonly body?: string
  readonly fields?: readonly string[]
  /** Called between the challenge and what answers it. */
  readonly between?: () => Promise<unknown>
}

/** Authenticates a connection of a client, and returns the last response. */
export async function authenticate(client: Wire, { user, line = 'GET /', body = '', ...rest }: NtlmClient) {
  const { fields = [], between } = rest
  const method = line.split(' ')[0]!
  const ask = async (token: string, content: string) => {
    const length = method === 'POST' ? [`Content-Length: ${content.length}`] : []
    await client.send(request(line, `Authorization: NTLM ${token}`, ...fields, ...length) + content)
    return client.response(method)
  }
  const challenged = await ask(ntlmMessage(1, ''), '')
  await between?.()
  const token = challenged.field('www-authenticate')!.split(' ')[1]!
  return ask(ntlmMessage(3, `${user}:${readMessage(token).text}`), body)
}

// What a case expects of its peer, and how it looks whether that happened.

import { errorCode, frameType } from '../../../src/http2/frames/frames.ts'
import type { Case, Verdict } from '../case.ts'
import { type Connection, statusOf } from './connection.ts'

export type CodeName = keyof typeof errorCode

export interface Expectation {
  /** For the list of cases. */
  readonly words: string
  verdict(connection: Connection): Promise<Verdict>
}

/** A case of HTTP/2. */
export interface Http2Case extends Case {
  /** Sent before the case; null for a connection on which nothing is sent. */
  readonly settings: readonly (readonly [id: number, value: number])[] | null
  readonly only: 'plain' | 'tls' | null
  readonly expectation: Expectation
  /** Whether it can be tried with what the peer has set; always by default. */
  applies?(connection: Connection): boolean
  act(connection: Connection): void | Promise<void>
}

/** Ms after which a peer that has not reacted is asked by a PING whether it reads on. One that is about to close would answer that with a reset, which costs us its GOAWAY. */
const soon = 2_000

const passed: Verdict = { result: 'passed', note: '' }

function codesIn(words: readonly CodeName[]): readonly number[] {
  return words.map(word => errorCode[word])
}

export function nameOf(code: number): string {
  return Object.entries(errorCode).find(([, other]) => other === code)?.[0] ?? String(code)
}

/** The connection ends with GOAWAY and one of these codes (RFC 9113 section 5.4.1). */
export function connectionError(...words: readonly CodeName[]): Expectation {
  const codes = codesIn(words)
  return {
    words: `connection error ${words.join(' or ')}`,
    async verdict(connection) {
      const isOver = () => connection.goAway !== null || connection.isClosed
      const hasReset = () => connection.frames.some(({ type }) => type === frameType.rstStream)
      await connection.until(() => isOver() || hasReset(), connection.isWithinBlock ? undefined : soon)
      // A reset may come before the end of the connection; nothing at all, because it takes its time.
      if (!isOver() && !connection.isWithinBlock && (await connection.settled()) && !isOver())
        return hasReset()
          ? { result: 'otherwise', note: 'only the stream was reset' }
          : { result: 'failed', note: 'the connection goes on' }
      if (!isOver()) return { result: 'failed', note: 'no reaction' }
      const { goAway } = connection
      if (goAway === null) return { result: 'otherwise', note: 'closed without a code' }
      if (!codes.includes(goAway)) return { result: 'otherwise', note: `code ${nameOf(goAway)}` }
      await connection.until(() => connection.isClosed)
      return connection.isClosed ? passed : { result: 'failed', note: 'not closed after GOAWAY' }
    },
  }
}

/** The stream is reset with one of these codes, or the connection ends with it; other streams go on (section 5.4.2). */
export function streamError(stream: number, ...words: readonly CodeName[]): Expectation {
  return {
    words: `stream error ${words.join(' or ')}`,
    verdict: connection => streamEnds(connection, stream, codesIn(words), false),
  }
}

/** What comes on a stream that has ended is an error of the stream or of the connection (section 5.1). */
export function closedStream(stream: number): Expectation {
  const { streamClosed } = errorCode
  return {
    words: 'stream or connection error streamClosed',
    async verdict(connection) {
      const code = () => connection.goAway ?? connection.on(stream).code
      await connection.until(() => code() !== null, soon)
      if (code() === null && (await connection.settled()) && code() === null)
        return { result: 'failed', note: 'no reaction' }
      return code() === streamClosed ? passed : { result: 'otherwise', note: endOf(connection, stream) }
    },
  }
}

/** As a stream error PROTOCOL_ERROR, before which a server may respond (section 8.1.1). */
export function malformed(stream = 1): Expectation {
  return {
    words: 'stream error protocol, or 4xx',
    verdict: connection => streamEnds(connection, stream, [errorCode.protocol], true),
  }
}

async function streamEnds(
  connection: Connection,
  stream: number,
  codes: readonly number[],
  mayRespond: boolean,
): Promise<Verdict> {
  const response = await connection.response(stream)
  const { code, isOver } = response
  const { goAway } = connection
  const status = statusOf(response)
  if (code !== null && codes.includes(code)) return goesOn(connection)
  if (goAway !== null && codes.includes(goAway)) return passed
  if (isOver || status > 0) {
    if (mayRespond && status >= 400 && status < 500) return goesOn(connection)
    if (status >= 400) return { result: 'otherwise', note: `status ${status}` }
    return { result: 'failed', note: `status ${status}` }
  }
  if (code !== null) return { result: 'otherwise', note: `code ${nameOf(code)}` }
  if (goAway !== null) return { result: 'otherwise', note: `connection error ${nameOf(goAway)}` }
  if (connection.isClosed) return { result: 'otherwise', note: 'closed without a code' }
  return { result: 'failed', note: 'no reaction' }
}

async function goesOn(connection: Connection): Promise<Verdict> {
  if (await connection.settled()) return passed
  return { result: 'otherwise', note: 'then the connection ended' }
}

/** The request on the stream gets a response with this status, whole. */
export function served(stream = 1, status = 200): Expectation {
  return {
    words: `status ${status}`,
    async verdict(connection) {
      const response = await connection.response(stream)
      if (statusOf(response) === status && response.isOver) return passed
      return { result: 'failed', note: endOf(connection, stream) }
    },
  }
}

/** The request is refused: by a status from 400, or a reset. */
export function refused(stream = 1): Expectation {
  return {
    words: 'status 4xx or 501, or a reset',
    async verdict(connection) {
      const response = await connection.response(stream)
      const status = statusOf(response)
      if (status >= 400 || response.code !== null) return goesOn(connection)
      return { result: 'failed', note: endOf(connection, stream) }
    },
  }
}

/** What was sent has no effect: the connection and this stream go on. */
export function ignored(): Expectation {
  return {
    words: 'nothing',
    async verdict(connection) {
      const isSettled = await connection.settled()
      const stream = connection.frames.find(({ type }) => type === frameType.rstStream)?.stream
      if (stream !== undefined) return { result: 'failed', note: endOf(connection, stream) }
      if (!isSettled) return { result: 'failed', note: endOf(connection, 0) }
      return passed
    },
  }
}

/** Whatever the case has looked at. */
export function check(words: string, look: (connection: Connection) => Promise<string | null>): Expectation {
  return {
    words,
    async verdict(connection) {
      const note = await look(connection)
      if (note === null) return passed
      return { result: 'failed', note: connection.flaw ?? note }
    },
  }
}

/** Says how a stream or the connection has ended. */
export function endOf(connection: Connection, stream: number): string {
  const response = connection.on(stream)
  const { goAway } = connection
  if (goAway !== null) return `connection error ${nameOf(goAway)}`
  if (response.code !== null) return `stream error ${nameOf(response.code)}`
  if (connection.flaw !== null) return connection.flaw
  if (statusOf(response) > 0) return `status ${statusOf(response)}${response.isOver ? '' : ', not whole'}`
  return connection.isClosed ? 'closed without a code' : 'no reaction'
}

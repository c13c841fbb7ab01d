// What is expected of a gateway whose origin breaks HTTP/2, or keeps to it in an unusual way.

import { errorCode, flag } from '../../../src/http2/frames/frames.ts'
import type { Case, Level, Verdict } from '../case.ts'
import type { Connection } from '../http2/connection.ts'
import { type CodeName, connectionError, endOf, nameOf } from '../http2/expect.ts'

/** What the client of the gateway got. */
export interface Reply {
  /** 0 if the connection ended without one. */
  readonly status: number
  readonly body: string
  readonly isWhole: boolean
}

/** The connection to the origin, the stream of the first request on it, and the reply to that. */
interface Outcome {
  readonly connection: Connection
  readonly stream: number
  readonly reply: Promise<Reply>
  /** Sends a further request to the same origin. */
  ask(method?: string, body?: number): Promise<Reply>
}

export interface OriginExpectation {
  readonly words: string
  verdict(outcome: Outcome): Promise<Verdict>
}

export interface OriginCase extends Case {
  readonly expectation: OriginExpectation
  readonly method: string
  /** Bytes of the body of the request. */
  readonly body: number
  /** Whether the client reads the response only once the connection to the origin has ended. */
  readonly readsLate: boolean
  readonly settings: readonly (readonly [id: number, value: number])[] | null
  /** What the origin does once it has the head of a request. */
  serve(connection: Connection, stream: number): void | Promise<void>
}

const passed: Verdict = { result: 'passed', note: '' }

/** A failure may be a response of the gateway, or the end of one that had begun. */
function isFailure({ status, isWhole }: Reply): boolean {
  return status >= 500 || !isWhole
}

/** The connection to the origin ends with one of these codes, and the client gets no whole response. */
export function brokenConnection(...words: readonly CodeName[]): OriginExpectation {
  const error = connectionError(...words)
  return {
    words: error.words,
    async verdict({ connection, reply }) {
      const verdict = await error.verdict(connection)
      if (verdict.result === 'failed') return verdict
      const got = await reply
      return isFailure(got) ? verdict : { result: 'failed', note: `the client got ${got.status}` }
    },
  }
}

/** The stream is reset with one of these codes, the connection goes on, and the client gets no whole response. */
export function brokenStream(...words: readonly CodeName[]): OriginExpectation {
  return resets(words, isFailure)
}

/** The same where the response may have been whole for the client before. */
export function brokenLater(...words: readonly CodeName[]): OriginExpectation {
  return resets(words, () => true)
}

function resets(words: readonly CodeName[], fits: (reply: Reply) => boolean): OriginExpectation {
  const codes: readonly number[] = words.map(word => errorCode[word])
  return {
    words: `stream error ${words.join(' or ')}`,
    async verdict({ connection, stream, reply }) {
      await connection.until(() => connection.on(stream).code !== null || connection.goAway !== null)
      const code = connection.on(stream).code ?? connection.goAway
      const got = await reply
      if (!fits(got)) return { result: 'failed', note: `the client got ${got.status}` }
      if (code === null) return { result: 'otherwise', note: endOf(connection, stream) }
      if (!codes.includes(code)) return { result: 'otherwise', note: `code ${nameOf(code)}` }
      if (connection.goAway === null && !(await connection.settled()))
        return { result: 'otherwise', note: 'then the connection ended' }
      return passed
    },
  }
}

/** The client gets this response, whole. */
export function reaches(status: number, body: string): OriginExpectation {
  return {
    words: `status ${status} for the client`,
    async verdict({ connection, stream, reply }) {
      const got = await reply
      if (got.status === status && got.body === body && got.isWhole) return passed
      const { length } = got.body
      return {
        result: 'failed',
        note: `the client got ${got.status}, ${length} bytes; ${endOf(connection, stream)}`,
      }
    },
  }
}

/** Whatever is looked at; null for nothing wrong. */
export function looks(words: string, look: (outcome: Outcome) => Promise<string | null>): OriginExpectation {
  return {
    words,
    async verdict(outcome) {
      const note = await look(outcome)
      return note === null ? passed : { result: 'failed', note: outcome.connection.flaw ?? note }
    },
  }
}

type Serve = OriginCase['serve']
type Draft = Omit<OriginCase, 'section'>

export function section(name: string, ...drafts: readonly Draft[]): OriginCase[] {
  return drafts.map(draft => ({ ...draft, section: name }))
}

function draft(level: Level, title: string, expectation: OriginExpectation, serve: Serve): Draft {
  return { level, title, expectation, serve, method: 'GET', body: 0, readsLate: false, settings: [] }
}

export function must(title: string, expectation: OriginExpectation, serve: Serve): Draft {
  return draft('MUST', title, expectation, serve)
}

export function should(title: string, expectation: OriginExpectation, serve: Serve): Draft {
  return draft('SHOULD', title, expectation, serve)
}

/** A case of a request with a body of so many bytes. */
export function posting(body: number, of: Draft): Draft {
  return { ...of, method: 'POST', body }
}

export function readingLate(of: Draft): Draft {
  return { ...of, readsLate: true }
}

export function heading(of: Draft): Draft {
  return { ...of, method: 'HEAD' }
}

/** A case whose origin sets something; null for one that greets by itself. */
export function setting(settings: OriginCase['settings'], of: Draft): Draft {
  return { ...of, settings }
}

/** The flags of a header section that a body follows. */
export const begun: number = flag.endHeaders

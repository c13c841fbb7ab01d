// What a case of HTTP/1.1 expects of a proxy, of its origin, and of what the client gets.

import type { Case, Level, Verdict } from '../case.ts'
import type { Message } from '../../help/raw.ts'
import type { RawClient } from './client.ts'
import type { RawOrigin, Script } from './origin.ts'

/** What has come of a case, whose requests have this number in their paths. */
export interface Trial {
  readonly client: RawClient
  readonly origin: RawOrigin
  readonly number: number
}

interface Http1Expectation {
  readonly words: string
  verdict(trial: Trial): Promise<Verdict>
}

export interface Http1Case extends Case {
  readonly expectation: Http1Expectation
  /** What is sent, of requests for paths that begin with this. */
  readonly bytes: (path: string) => string
  /** What the origin sends to `/…/main`; by default `hello`. */
  readonly script: Script | null
}

const passed: Verdict = { result: 'passed', note: '' }

const failed = (note: string): Verdict => ({ result: 'failed', note })

/** What the origin got, as targets, and what came there that was no request. */
function seen({ origin, number }: Trial): string {
  return origin
    .of(number)
    .map(({ startLine, body }) => `${startLine} (${body.length})`)
    .join(', ')
}

/** What the client got, as statuses. */
function got({ client }: Trial): string {
  const statuses = client.responses().map(({ status, isWhole }) => `${status}${isWhole ? '' : ' cut'}`)
  return `${statuses.join(', ') || 'nothing'}${client.isClosed ? ', then the end' : ''}`
}

/** Refused before the origin gets it, and nothing behind it is served. */
export function refused(...statuses: readonly number[]): Http1Expectation {
  return {
    words: statuses.length === 0 ? 'status 4xx or 5xx' : `status ${statuses.join(' or ')}`,
    async verdict(trial) {
      const { client } = trial
      await client.until(() => client.isClosed || seen(trial) !== '')
      if (seen(trial) !== '') return failed(`the origin got ${seen(trial)}; the client ${got(trial)}`)
      const [first, ...more] = client.responses()
      if (more.length > 0) return failed(`the client got ${got(trial)}`)
      if (first === undefined)
        return client.isClosed
          ? { result: 'otherwise', note: 'closed without a response' }
          : failed('no reaction')
      if (!client.isClosed) return { result: 'otherwise', note: `${first.status}, and the connection stays` }
      const fits = statuses.length === 0 ? first.status >= 400 : statuses.includes(first.status)
      if (fits) return passed
      return first.status >= 400
        ? { result: 'otherwise', note: `status ${first.status}` }
        : failed(got(trial))
    },
  }
}

/** Served: the origin gets these requests, as targets behind the path and bodies, and the client as many responses. */
export function served(...requests: readonly (readonly [target: string, body: string])[]): Http1Expectation {
  return servedAnd(() => null, ...requests)
}

/** The same, with a look at the requests; null for nothing wrong. */
export function servedAnd(
  look: (requests: readonly Message[], trial: Trial) => string | null,
  ...requests: readonly (readonly [target: string, body: string])[]
): Http1Expectation {
  return {
    words: `${requests.length} served`,
    async verdict(trial) {
      const finals = await trial.client.finals(requests.length)
      if (
        finals.length !== requests.length ||
        finals.some(({ status, isWhole }) => status !== 200 || !isWhole)
      )
        return failed(`the client got ${got(trial)}`)
      const came = trial.origin.of(trial.number)
      const fits =
        came.length === requests.length &&
        requests.every(([target, body]) => came.some(one => one.target.endsWith(target) && one.text === body))
      if (!fits) return failed(`the origin got ${seen(trial)}`)
      const wrong = look(came, trial)
      return wrong === null ? passed : failed(wrong)
    },
  }
}

/** Refused, or read as these requests and no others: what is hidden in them gets to nobody. */
export function sameOrRefused(
  ...requests: readonly (readonly [target: string, body: string])[]
): Http1Expectation {
  return {
    words: 'refused, or read in one way',
    async verdict(trial) {
      const { client, origin, number } = trial
      await client.until(
        () =>
          client.isClosed || client.responses().filter(({ isWhole }) => isWhole).length >= requests.length,
      )
      const came = origin.of(number)
      const fits = came.every(
        (one, i) =>
          requests[i] !== undefined && one.target.endsWith(requests[i][0]) && one.text === requests[i][1],
      )
      if (!fits) return failed(`the origin got ${seen(trial)}`)
      const [first] = client.responses()
      if (first === undefined)
        return client.isClosed
          ? { result: 'otherwise', note: 'closed without a response' }
          : failed('no reaction')
      return passed
    },
  }
}

/** The response of the origin is not passed on as if it were whole. */
export function badGateway(): Http1Expectation {
  return {
    words: 'status 5xx, or a response that is cut',
    async verdict(trial) {
      const { client } = trial
      await client.until(() => client.responses().some(({ isWhole, status }) => isWhole && status >= 200))
      const first = client.responses().find(({ status }) => status >= 200)
      if (first === undefined)
        return client.isClosed
          ? { result: 'otherwise', note: 'closed without a response' }
          : failed('no reaction')
      return first.status >= 500 || !first.isWhole ? passed : failed(`the client got ${got(trial)}`)
    },
  }
}

/** Whatever is looked at once so many responses have come. */
export function looks(
  words: string,
  count: number,
  look: (trial: Trial) => string | null | Promise<string | null>,
  methods: readonly string[] = [],
): Http1Expectation {
  return {
    words,
    async verdict(trial) {
      await trial.client.finals(count, methods)
      const wrong = await look(trial)
      return wrong === null ? passed : failed(wrong)
    },
  }
}

type Draft = Omit<Http1Case, 'section'>

export function section(name: string, ...drafts: readonly Draft[]): Http1Case[] {
  return drafts.map(draft => ({ ...draft, section: name }))
}

function draft(
  level: Level,
  title: string,
  expectation: Http1Expectation,
  bytes: (path: string) => string,
): Draft {
  return { level, title, expectation, bytes, script: null }
}

export function must(title: string, expectation: Http1Expectation, bytes: (path: string) => string): Draft {
  return draft('MUST', title, expectation, bytes)
}

export function should(title: string, expectation: Http1Expectation, bytes: (path: string) => string): Draft {
  return draft('SHOULD', title, expectation, bytes)
}

/** A case whose origin sends these bytes. */
export function answering(bytes: string, of: Draft, ends = false): Draft {
  return { ...of, script: { bytes, ends } }
}

// How cases are written: `section('6.5', must('…', served(), connection => …), …)`.

import type { Level } from '../case.ts'
import type { Connection } from './connection.ts'
import type { Expectation, Http2Case } from './expect.ts'

type Act = (connection: Connection) => void | Promise<void>
type Draft = Omit<Http2Case, 'section'>

export function section(name: string, ...drafts: readonly Draft[]): Http2Case[] {
  return drafts.map(draft => ({ ...draft, section: name }))
}

function draft(level: Level, title: string, expectation: Expectation, act: Act): Draft {
  return { level, title, expectation, act, settings: [], only: null }
}

export function must(title: string, expectation: Expectation, act: Act): Draft {
  return draft('MUST', title, expectation, act)
}

export function should(title: string, expectation: Expectation, act: Act): Draft {
  return draft('SHOULD', title, expectation, act)
}

export function may(title: string, expectation: Expectation, act: Act): Draft {
  return draft('MAY', title, expectation, act)
}

/** A case that writes the beginning of the connection itself. */
export function fromStart(of: Draft): Draft {
  return { ...of, settings: null }
}

/** A case before which the client has set something. */
export function having(settings: Http2Case['settings'], of: Draft): Draft {
  return { ...of, settings }
}

export function plainOnly(of: Draft): Draft {
  return { ...of, only: 'plain' }
}

export function tlsOnly(of: Draft): Draft {
  return { ...of, only: 'tls' }
}

/** A case that cannot be tried if the peer takes frames of any size. */
export function overLimit(of: Draft): Draft {
  return { ...of, applies: ({ maxFrame }) => maxFrame < 2 ** 24 - 1 }
}

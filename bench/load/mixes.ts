// The kinds of traffic that the bench measures, in the order of the reports; mix.lua holds what wrk sends in each.

export interface Mix {
  readonly title: string
  /** What the costs are counted by. */
  readonly unit: 'request' | 'event' | 'error'
  /** The share of answers that are meant to have a status of 400 or more. */
  readonly refused: number
  /** What a reader of the table must know. */
  readonly note: string
}

/** Connections that wrk holds in every mix but sse. */
export const CONNECTIONS = 64

/** Event streams that are open at once in sse. */
export const STREAMS = 500

const LOAD = { unit: 'request', refused: 0, note: '' } as const

export const MIXES = {
  get: { ...LOAD, title: 'GET, 244 bytes of JSON' },
  post: { ...LOAD, title: 'POST of 60 bytes, 244 bytes of JSON back' },
  mixed: { ...LOAD, title: 'GET, POST and a 404 in turn', refused: 1 / 3 },
  body1m: { ...LOAD, title: 'GET of 1 MiB and POST of 1 MiB in turn' },
  sse: {
    ...LOAD,
    title: `${STREAMS} event streams`,
    unit: 'event',
    note: 'p50 and p99 are the time to the first event that comes on top of that of the origin asked directly.',
  },
  down: {
    ...LOAD,
    title: 'Origin refuses connections',
    unit: 'error',
    refused: 1,
    note: 'Below one connect per error, requests that waited together share the refusal of one connection: cost and rate are then those of the sharing, and a lone request pays a whole connect.',
  },
} as const satisfies Record<string, Mix>

export type MixName = keyof typeof MIXES

export const MIX_NAMES = Object.keys(MIXES) as readonly MixName[]

export function isMixName(name: string): name is MixName {
  return Object.hasOwn(MIXES, name)
}

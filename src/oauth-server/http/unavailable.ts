// How the endpoints report a store that did not do what they asked of it.

import { type StoreFault, StoreUnreachable } from '../../store/contract/store.ts'

/** The response, to requests that the library does not see too. */
export const unavailable = {
  status: 503,
  error: 'temporarily_unavailable',
  retryAfter: '5',
} as const

/** Returns the description of the error for the developer of the app. */
export function unavailability({ fault }: StoreUnreachable): string {
  return `the store of the server ${descriptions[fault]}`
}

const descriptions: Readonly<Record<StoreFault, string>> = {
  unreachable: 'cannot be reached; try again',
  read_only: 'takes no changes, since its disk or memory is full or it lacks replicas; try again later',
  unconfirmed: 'did not confirm this; try again',
  busy: 'is busy, and nothing was changed; try again',
  degraded: 'is not trusted until its operator has mended it; try again later',
}

/** Does work of the store, and rejects with an error of OAuth if the store does not do it. */
export type Guard = <T>(work: () => Promise<T>) => Promise<T>

/** Returns the guard around all work that the library asks for; it handles no other errors than its own. */
export function guardWith(makeError: (description: string) => Error): Guard {
  return async work => {
    try {
      return await work()
    } catch (error) {
      throw error instanceof StoreUnreachable ? makeError(unavailability(error)) : error
    }
  }
}

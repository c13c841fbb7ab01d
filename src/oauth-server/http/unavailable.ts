// How the endpoints report a store that cannot be reached.

import { StoreUnreachable } from '../../store/contract/store.ts'

/** The response, to requests that the library does not see too. */
export const unavailable = {
  status: 503,
  error: 'temporarily_unavailable',
  description: 'the store of the server cannot be reached; try again',
  retryAfter: '5',
} as const

/** Does work of the store, and rejects with an error of OAuth if the store cannot be reached. */
export type Guard = <T>(work: () => Promise<T>) => Promise<T>

/** Returns the guard around all work that the library asks for; it handles no other errors than its own. */
export function guardWith(makeError: () => Error): Guard {
  return async work => {
    try {
      return await work()
    } catch (error) {
      throw error instanceof StoreUnreachable ? makeError() : error
    }
  }
}

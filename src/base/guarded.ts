// Confines exceptions in event handlers to the exchange or connection concerned.

/** Exceptions go to `crashed`, which must not throw. */
export function guarded<T = void>(
  handle: (event: T) => void,
  crashed: (bug: unknown) => void,
): (event: T) => void {
  return event => {
    try {
      handle(event)
    } catch (bug) {
      crashed(bug)
    }
  }
}

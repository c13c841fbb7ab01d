// Confines exceptions in event handlers of sockets, timers and promises to the exchange or connection
// concerned, so that they do not end the process.

/** Wraps an event handler: exceptions go to `crashed`, which must not throw. */
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

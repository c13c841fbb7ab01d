// Confines exceptions in event handlers of sockets, timers and promises to the exchange or connection concerned, so that they do not end the process.

/** Wraps an event handler: `crashed` gets what it throws, and must not throw itself. */
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

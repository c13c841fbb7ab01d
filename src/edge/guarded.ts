// What our own code throws while it handles an event ends in those whom the event concerned, and not the process. For sockets, timers and promises of the edge.

/** Wraps the handler of an event: `crashed` is told what that throws, and must not throw itself. */
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

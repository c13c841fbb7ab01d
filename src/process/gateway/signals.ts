// What the outside tells a running gateway by signals: reload, stop, and stop at once.

import { constants } from 'node:os'

/** One Ctrl-C reaches a gateway under npm twice, from the terminal and from npm; a person needs longer between two, in ms. */
const echo = 100

interface SignalHandlers {
  readonly reload: () => void
  readonly stop: (signal: NodeJS.Signals) => void
  /** Hears of the second signal to stop, with the exit code that a shell expects of it. */
  readonly force: (code: number) => void
}

/** Obeys SIGHUP, SIGTERM and SIGINT from now on, also as the first process of a container. */
export function obeySignals({ reload, stop, force }: SignalHandlers): void {
  let interrupted = Number.NEGATIVE_INFINITY
  let isStopping = false
  const end = (signal: 'SIGTERM' | 'SIGINT') => {
    const now = performance.now()
    const isEcho = signal === 'SIGINT' && now - interrupted < echo
    if (signal === 'SIGINT') interrupted = now
    if (isEcho) return
    if (isStopping) return force(128 + constants.signals[signal])
    isStopping = true
    stop(signal)
  }
  process.on('SIGTERM', end)
  process.on('SIGINT', end)
  process.on('SIGHUP', reload)
}

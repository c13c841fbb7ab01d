// Handles signals to a running gateway: reload, upgrade, stop, and stop at once.

import { constants } from 'node:os'

/** Ms within which npm passes on the Ctrl-C of its terminal again; a person takes longer. */
const echo = 100

interface SignalHandlers {
  readonly reload: () => void
  readonly upgrade: () => void
  readonly stop: (signal: NodeJS.Signals) => void
  /** Called at the second signal to stop, with the exit code that a shell expects for it. */
  readonly force: (code: number) => void
}

export function obeySignals({ reload, upgrade, stop, force }: SignalHandlers): void {
  let echoes: NodeJS.Timeout | null = null
  let isStopping = false
  const end = (signal: 'SIGTERM' | 'SIGINT') => {
    if (signal === 'SIGINT') {
      const isEcho = echoes !== null
      if (echoes !== null) clearTimeout(echoes)
      // A signal that arrived while this process was busy is handled before the turn ends.
      echoes = setTimeout(() => setImmediate(settle), echo).unref()
      if (isEcho) return
    }
    if (isStopping) return force(128 + constants.signals[signal])
    isStopping = true
    stop(signal)
  }
  const settle = () => {
    echoes = null
  }
  process.on('SIGTERM', end)
  process.on('SIGINT', end)
  process.on('SIGHUP', reload)
  process.on('SIGUSR2', upgrade)
}

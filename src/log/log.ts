// The log of what happens to the gateway, in JSON lines.

import { type Level, type Logger, pino } from 'pino'
import { visibleJson } from '../base/text/visible.ts'
import { isoTime } from './line-head.ts'

export type { Logger }

export interface LogDestination {
  write(line: string): unknown
  flush?(): void
}

const { pid } = process

/** Of an error it writes message, code and stack, never the request that it may carry. */
export function createLogger(level: Level, destination: LogDestination, isNumeric = false): Logger {
  const serializers = { err: describeError, cause: describeError }
  const write = (line: string) => {
    destination.write(visibleJson(line))
    destination.flush?.()
  }
  return pino({ level, base: { pid }, serializers, ...(isNumeric ? {} : named) }, { write })
}

const named = {
  formatters: { level: (level: string) => ({ level }) },
  timestamp: () => `,"time":"${isoTime(Date.now())}"`,
}

function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { name, message, stack } = error
  return { type: name, message, stack, ...('code' in error && { code: error.code }) }
}

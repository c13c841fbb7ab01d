// A field of the response for what the guard has found so far.

import type { AiExchange } from '../ai-call/ai-exchange.ts'
import type { Exchange } from '../exchange/exchange.ts'

/** Replaces what was said before. */
export function noteFindings(x: Exchange, ai: AiExchange): void {
  const { findings, findingLines } = ai
  if (findings === null || findings.action === null) return
  ai.findingLines = `svc-aig-dlp: ${findings.field}\r\n`
  x.addedLines = x.addedLines.replace(findingLines, '') + ai.findingLines
}

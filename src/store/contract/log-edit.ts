// What people say about a log entry after its call.

import type { LogSummary } from '../records/records.ts'
import type { LogEdit } from './store.ts'

export function edited(entry: LogSummary, edit: LogEdit): LogSummary {
  const { feedback: _, score: __, ...others } = entry
  const said = {
    feedback: entry.feedback ?? null,
    score: entry.score ?? null,
    metadata: entry.metadata,
    ...edit,
  }
  return {
    ...others,
    metadata: said.metadata,
    ...(said.feedback !== null && { feedback: said.feedback }),
    ...(said.score !== null && { score: said.score }),
  }
}

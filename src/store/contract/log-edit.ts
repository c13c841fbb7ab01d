// What people say about a log entry after its call.

import type { LogSummary } from '../records/records.ts'
import type { LogEdit } from './store.ts'

export function edited(entry: LogSummary, edit: LogEdit): LogSummary {
  const { feedback: _, score: __, ...others } = entry
  const fields = {
    feedback: entry.feedback ?? null,
    score: entry.score ?? null,
    metadata: entry.metadata,
    ...edit,
  }
  return {
    ...others,
    metadata: fields.metadata,
    ...(fields.feedback !== null && { feedback: fields.feedback }),
    ...(fields.score !== null && { score: fields.score }),
  }
}

// Validates the body that changes a log entry, in the shape of its published clients.

import { readMetadata } from '../../ai-logs/metadata.ts'
import type { Fault } from '../../errors/catalogue/refusal.ts'
import type { LogEdit } from '../../store/contract/store.ts'
import { Field } from '../http/field.ts'

/** Returns only the members that the body has. */
export function readEdit(body: unknown): LogEdit | readonly Fault[] {
  const faults: Fault[] = []
  const { feedback, score, metadata } = new Field(body, faults).members([], ['feedback', 'score', 'metadata'])
  const edit = {
    ...(feedback.value !== undefined && { feedback: unlessNull(feedback, readFeedback) }),
    ...(score.value !== undefined && { score: unlessNull(score, readScore) }),
    ...(metadata.value !== undefined && { metadata: unlessNull(metadata, readLabels) }),
  }
  return faults.length > 0 ? faults : edit
}

function unlessNull<T>(field: Field, read: (field: Field) => T | null): T | null {
  return field.value === null ? null : read(field)
}

function readFeedback(field: Field) {
  return field.integer(-1, 1) as -1 | 0 | 1 | null
}

function readScore(field: Field): number | null {
  const { value } = field
  return typeof value === 'number' && value >= 0 && value <= 100
    ? value
    : field.refuse('must be a number from 0 to 100')
}

function readLabels(field: Field) {
  const reading = readMetadata(field.value)
  return 'flaw' in reading ? field.refuse(reading.flaw) : reading.value
}

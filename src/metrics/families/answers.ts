// Prometheus metrics of the reuse of responses of AI models.

import { byName, type Families, gauge, sample } from './family.ts'

export const answerFamilies: Families = {
  gatehouse_ai_cache_calls_total: {
    help: 'AI calls whose gateway or caller lets responses be reused: hit, join (of a call under way), miss, or bypass.',
    read: ({ edge: { answers } }) => byName(answers.calls, result => ({ result })),
  },
  gatehouse_ai_cache_bypassed_total: {
    help: 'AI calls whose response may not be reused, by reason.',
    read: ({ edge: { answers } }) => byName(answers.bypassed, reason => ({ reason })),
  },
  gatehouse_ai_cache_writes_total: {
    help: 'Responses for the store by outcome: stored, dropped because they are too large or too many wait, or failed.',
    read: ({ edge: { answers } }) => byName(answers.writes, result => ({ result })),
  },
  gatehouse_ai_cache_failed_reads_total: {
    help: 'Lookups of stored responses that the store did not answer.',
    read: ({ edge: { answers } }) => [sample(answers.failedReads)],
  },
  gatehouse_ai_cache_unreadable_total: {
    help: 'Stored responses of another secret key, or damaged.',
    read: ({ edge: { answers } }) => [sample(answers.unreadable)],
  },
  gatehouse_ai_cache_memory_bytes: {
    help: 'Memory of the responses that are reused from there.',
    read: ({ edge: { answers } }) => gauge(answers.memory?.().bytes),
  },
}

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
  gatehouse_ai_calls_once_total: {
    help: 'AI calls with an Idempotency-Key on gateways that make them once: made, joined or replayed, and those that get an error: conflict (the key of another call), running (elsewhere), lost (with its process), broken (off), gone (from the store), full (too many keys), or unavailable (the store, or room for responses).',
    read: ({ edge: { answers } }) => byName(answers.once, result => ({ result })),
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
  gatehouse_ai_responses_held_bytes: {
    help: 'Memory of responses that are on their way to callers or to the store, and may be reused.',
    read: ({ edge: { answers } }) => gauge(answers.held?.()),
  },
}

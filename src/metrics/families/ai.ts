// Prometheus metrics of AI gateways.

import { byName, type Families, gauge, histogram, sample } from './family.ts'

const questionDuration = 'gatehouse_ai_guard_webhook_duration_seconds'

export const aiFamilies: Families = {
  gatehouse_ai_decisions_total: {
    help: 'AI gateway calls allowed or refused, by result and reason.',
    read: ({ edge: { ai } }) => [
      ...byName(ai.allowed, reason => ({ result: 'allowed', reason })),
      ...byName(ai.refused, reason => ({
        result: 'refused',
        // The published label is older than the name in the code.
        reason: reason === 'store_unreachable' ? 'store_away' : reason,
      })),
    ],
  },
  gatehouse_ai_policy_decisions_total: {
    help: 'AI gateway calls that policies decided, by decision: allow, block, or no_match where none allows the call.',
    read: ({ edge: { ai } }) => byName(ai.policyDecisions, decision => ({ decision })),
  },
  gatehouse_ai_guard_findings_total: {
    help: 'What guards of AI gateways found, by check (request or response) and action: flag, redact or block.',
    read: ({ edge: { ai } }) => [
      ...byName(ai.guardFindings.request, action => ({ check: 'request', action })),
      ...byName(ai.guardFindings.response, action => ({ check: 'response', action })),
    ],
  },
  gatehouse_ai_guard_webhook_questions_total: {
    help: 'Questions to the webhooks of guards, by outcome: a verdict (allow, flag, replace, block), or why there is none.',
    read: ({ edge: { ai } }) => byName(ai.guardQuestions, outcome => ({ outcome })),
  },
  [questionDuration]: {
    help: 'Time from a question to the webhook of a guard to its outcome.',
    type: 'histogram',
    read: ({ edge: { ai } }) => histogram(questionDuration, {}, ai.guardWaits),
  },
  gatehouse_token_lookups_total: {
    help: 'Token lookups by source: cache, store, or store after a notice from another worker.',
    read: ({ edge: { ai } }) => byName(ai.lookups, source => ({ source })),
  },
  gatehouse_ai_keys_set_aside_total: {
    help: 'Provider keys set aside for a while, by the status with which the provider rejected them.',
    read: ({ edge: { ai } }) => byName(ai.keysSetAside, status => ({ status })),
  },
  gatehouse_ai_body_bytes: {
    help: 'Bytes of request bodies of AI calls, and of those to MCP servers, buffered until their responses come.',
    read: ({ edge: { ai } }) => [sample(ai.bodyBytes)],
  },
  gatehouse_ai_calls_without_room_total: {
    help: 'AI calls, and requests to MCP servers, refused (503) because the bodies of others took all the memory that they may.',
    read: ({ edge: { ai } }) => [sample(ai.callsWithoutRoom)],
  },
  gatehouse_ai_log_entries_total: {
    help: 'AI log entries by outcome: written, dropped because the store was slow or unreachable, or over the limit of the gateway.',
    read: ({ edge: { ai } }) => byName(ai.logEntries, result => ({ result })),
  },
  gatehouse_ai_log_queued_entries: {
    help: 'AI log entries that wait to be written.',
    read: ({ edge: { ai } }) => gauge(ai.queuedEntries?.()),
  },
  gatehouse_ai_log_export_entries_total: {
    help: 'AI log entries of the export by outcome: sent, dropped because too many waited, or damaged on the disk.',
    read: ({ edge: { ai } }) => byName(ai.exportedEntries, result => ({ result })),
  },
  gatehouse_ai_log_export_failures_total: {
    help: 'Failed attempts to deliver a batch of the AI log export, by kind.',
    read: ({ edge: { ai } }) => byName(ai.exportFailures, kind => ({ kind })),
  },
  gatehouse_ai_log_export_waiting_entries: {
    help: 'AI log entries that wait for the destination of the export; none if it is off.',
    read: ({ edge: { ai } }) => {
      const [inMemory, onDisk] = [ai.unspooledEntries?.() ?? null, ai.waitingForExport?.() ?? null]
      return gauge(inMemory === null && onDisk === null ? null : (inMemory ?? 0) + (onDisk?.entries ?? 0))
    },
  },
  gatehouse_ai_log_export_waiting_bytes: {
    help: 'Disk space of what waits for the destination of the AI log export.',
    read: ({ edge: { ai } }) => gauge(ai.waitingForExport?.()?.bytes),
  },
  gatehouse_ai_log_export_oldest_seconds: {
    help: 'Age of the oldest entry that waits for the destination of the AI log export; 0 if none does.',
    together: 'max',
    read: ({ edge: { ai } }) => {
      const waiting = ai.waitingForExport?.() ?? null
      if (waiting === null) return []
      return gauge(waiting.oldest === null ? 0 : Math.max(0, Date.now() - waiting.oldest) / 1000)
    },
  },
}

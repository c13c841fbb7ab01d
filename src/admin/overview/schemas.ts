// Schemas of the overview of an account, and of what needs attention in it.

import { originStates } from '../facts/zone-facts.ts'
import { about, flag, listOf, number, oneOf, open, orNull, text, time, whole } from '../schema/schema.ts'

const classes = ['1xx', '2xx', '3xx', '4xx', '5xx', 'other', 'preview']

const window = open({
  at: about('When it begins.', time),
  zones: about(
    'Those that had requests.',
    listOf(
      open({
        zone: text,
        classes: about(
          'Requests by status class; previews of errors are a class of their own.',
          open({}, Object.fromEntries(classes.map(name => [name, whole(0)]))),
        ),
      }),
    ),
  ),
})

const calls = {
  count: about('Calls that are in the logs.', whole(0)),
  errors: about('Those that failed.', whole(0)),
  tokens_in: whole(0),
  tokens_out: whole(0),
  cost: about('In US dollars, of the calls whose cost is known.', { ...number, minimum: 0 }),
  count_without_cost: about('Calls whose cost is unknown.', whole(0)),
  count_cached: about('Calls whose response was that of another one.', whole(0)),
  saved_tokens_in: about('What these would have taken, as far as it is known.', whole(0)),
  saved_tokens_out: about('Likewise.', whole(0)),
  saved_cost: about('Likewise, in US dollars.', { ...number, minimum: 0 }),
}

export const overview = open(
  { at: time },
  {
    requests: about(
      'Requests of the zones of the account, through the gateway that responds. Needs Zones Read.',
      open({
        since: about('When this gateway started: what was before is not counted.', time),
        minutes: about('The last 60, the current one last.', listOf(window)),
        hours: about('The last 24, the current one last.', listOf(window)),
      }),
    ),
    origins: about(
      'How many origins of each zone are in which state. Needs Origins Read.',
      listOf(open({ zone: text, ...Object.fromEntries(originStates.map(state => [state, whole(0)])) })),
    ),
    ai: about(
      'Calls of the AI gateways of the account in the last 24 hours, from their logs. Needs AI Gateway Read.',
      open({
        since: time,
        is_complete: about('Whether nothing is missing: what is, is summed up for a later request.', flag),
        price_date: about(
          'The day of the list prices that costs are worked out by, as 2026-01-31.',
          orNull(text),
        ),
        hours: about('The last 24, the current one last.', listOf(open({ at: time, ...calls }))),
        gateways: about(
          'The 100 with most calls; those without any are left out.',
          listOf(open({ gateway_id: text, ...calls })),
        ),
      }),
    ),
    store: about(
      'Needs Metrics Read.',
      open({
        backend: oneOf(['sqlite', 'redis']),
        location: about('Without credentials.', text),
        is_reachable: flag,
        refuses_writes: about('Why it does not confirm writes; null while it does.', orNull(text)),
        is_durable: flag,
        losses: about('What the set-up of the store can lose, in sentences.', listOf(text)),
        size: about(
          'In bytes: of the files, or of all that the Redis server holds; null if unknown.',
          orNull(whole(0)),
        ),
        queued_log_entries: about('AI log entries that wait for the store.', whole(0)),
      }),
    ),
    log_export: about(
      'The export of AI log entries of the machine that responds; absent if it is off. Needs Metrics Read.',
      open({
        waiting: about(
          'What waits for the destination; null while another process on the machine sends.',
          orNull(
            open({
              entries: whole(0),
              bytes: about('On the disk.', whole(0)),
              oldest_at: about('When the oldest of them was flushed; null if none waits.', orNull(time)),
            }),
          ),
        ),
        failure: about(
          'Why nothing is delivered; null if all is well.',
          orNull(
            open({
              since: time,
              message: text,
              needs_change: about('Whether it stays until somebody changes something.', flag),
            }),
          ),
        ),
      }),
    ),
    process: about(
      'Needs Metrics Read.',
      open({
        version: text,
        started_at: time,
        workers: about('Worker processes; 0 if one process does everything.', whole(0)),
      }),
    ),
  },
)

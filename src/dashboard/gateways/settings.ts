// The settings of an AI gateway as a form, for new and existing ones.

import { type Html, html } from '../../base/text/html.ts'
import type { Draft } from '../parts/draft.ts'
import { checkbox, selectField, textField } from '../parts/fields.ts'
import type { Gateway } from './gateway.ts'

/** The names of the fields in the summary of faults. */
export const settingLabels = {
  rate_limiting_limit: 'Calls',
  rate_limiting_interval: 'In how many seconds',
  rate_limiting_technique: 'Window',
  rate_limiting_key: 'Counted',
  retry_max_attempts: 'Attempts',
  retry_delay: 'Delay in ms',
  retry_backoff: 'The delay',
  on_abandon: 'When a caller leaves',
  cache_ttl: 'Seconds',
  cache_scope: 'Whose calls reuse them',
  cache_invalidate_on_update: 'Discard them when the settings change',
  idempotency_keys: 'Make calls with an Idempotency-Key once',
  byok_only: 'Only keys of this gateway and of callers',
  log_management: 'Calls to keep',
  log_management_strategy: 'When that many are there',
  collect_logs: 'Keep bodies',
  stream_usage: 'Ask for the usage of streams',
} as const

/** Makes the fields of rate limits, attempts and logs. */
export function settingFields(draft: Draft): Html {
  return html`<fieldset class="part"><legend>Rate limit</legend><div class="pair">${textField(draft, {
    name: 'rate_limiting_limit',
    label: settingLabels.rate_limiting_limit,
    type: 'number',
    minimum: 0,
    hint: '0 for any number.',
  })}${textField(draft, {
    name: 'rate_limiting_interval',
    label: settingLabels.rate_limiting_interval,
    type: 'number',
    minimum: 0,
    maximum: 2_678_400,
    hint: '60 is a minute, 86400 a day.',
  })}</div><div class="pair">${selectField(draft, {
    name: 'rate_limiting_technique',
    label: settingLabels.rate_limiting_technique,
    options: [
      { value: 'fixed', label: 'Fixed: starts over at its end' },
      { value: 'sliding', label: 'Sliding: each call counts for its length' },
    ],
  })}${selectField(draft, {
    name: 'rate_limiting_key',
    label: settingLabels.rate_limiting_key,
    options: [
      { value: 'gateway', label: 'All calls together' },
      { value: 'token', label: 'Each token separately' },
      { value: 'app', label: 'Each app separately' },
    ],
  })}</div></fieldset>
<fieldset class="part"><legend>Attempts at a model</legend><div class="pair">${textField(draft, {
    name: 'retry_max_attempts',
    label: settingLabels.retry_max_attempts,
    type: 'number',
    minimum: 1,
    maximum: 5,
    hint: 'For models by their own name. An alias has its own.',
  })}${textField(draft, {
    name: 'retry_delay',
    label: settingLabels.retry_delay,
    type: 'number',
    minimum: 0,
    maximum: 5000,
  })}</div><div class="pair">${selectField(draft, {
    name: 'retry_backoff',
    label: settingLabels.retry_backoff,
    options: [
      { value: 'exponential', label: 'Doubles with each attempt' },
      { value: 'linear', label: 'Grows by the same each time' },
      { value: 'constant', label: 'Stays the same' },
    ],
  })}${selectField(draft, {
    name: 'on_abandon',
    label: settingLabels.on_abandon,
    options: [
      { value: 'abort', label: 'Cut off the provider' },
      { value: 'drain', label: 'Let it finish, for its usage' },
    ],
  })}</div></fieldset>
<fieldset class="part"><legend>Reuse of responses</legend><div class="pair">${textField(draft, {
    name: 'cache_ttl',
    label: settingLabels.cache_ttl,
    type: 'number',
    minimum: 0,
    maximum: 2_678_400,
    hint: 'For calls that equal an earlier one. 0 for none but those that ask for it; at least 60.',
  })}${selectField(draft, {
    name: 'cache_scope',
    label: settingLabels.cache_scope,
    options: [
      { value: 'token', label: 'Of each token, or user of an app' },
      { value: 'app', label: 'Of each app' },
      { value: 'shared', label: 'All callers of the gateway' },
    ],
  })}</div>${checkbox(draft, {
    name: 'cache_invalidate_on_update',
    label: settingLabels.cache_invalidate_on_update,
    hint: 'Responses before a change of these settings are not reused after it.',
  })}${checkbox(draft, {
    name: 'idempotency_keys',
    label: settingLabels.idempotency_keys,
    hint: 'A repeated call gets the response of the first for a day, and the first goes on when its caller leaves.',
  })}</fieldset>
<fieldset class="part"><legend>Keys of providers</legend>${checkbox(draft, {
    name: 'byok_only',
    label: settingLabels.byok_only,
    hint: 'Calls that bring no key and find none under Provider keys are refused: those of the configuration are not used.',
  })}</fieldset>
<fieldset class="part"><legend>Logs</legend><div class="pair">${textField(draft, {
    name: 'log_management',
    label: settingLabels.log_management,
    type: 'number',
    minimum: 0,
    maximum: 10_000_000,
    hint: '0 to keep no logs.',
  })}${selectField(draft, {
    name: 'log_management_strategy',
    label: settingLabels.log_management_strategy,
    hint: 'What becomes of further calls.',
    options: [
      { value: 'DELETE_OLDEST', label: 'Delete the oldest' },
      { value: 'STOP_INSERTING', label: 'Keep no new ones' },
    ],
  })}</div>${checkbox(draft, {
    name: 'collect_logs',
    label: settingLabels.collect_logs,
    hint: 'What callers send and get is stored with each call. It may be personal.',
  })}${checkbox(draft, {
    name: 'stream_usage',
    label: settingLabels.stream_usage,
    hint: 'Without it, the tokens and the cost of most streamed chats are unknown. Callers do not see it.',
  })}</fieldset>`
}

/** Returns the initial values of the form of a gateway. */
export function valuesOf(
  gateway: Omit<
    Gateway,
    'id' | 'created_at' | 'modified_at' | 'spend_limits' | 'default_max_tokens' | 'unpriced_cost' | 'dlp'
  >,
): Record<string, string> {
  return {
    rate_limiting_limit: String(gateway.rate_limiting_limit),
    rate_limiting_interval: String(gateway.rate_limiting_interval),
    rate_limiting_technique: gateway.rate_limiting_technique ?? 'fixed',
    rate_limiting_key: gateway.rate_limiting_key,
    retry_max_attempts: String(gateway.retry_max_attempts ?? 1),
    retry_delay: String(gateway.retry_delay ?? 200),
    retry_backoff: gateway.retry_backoff ?? 'exponential',
    on_abandon: gateway.on_abandon,
    log_management: String(gateway.log_management),
    log_management_strategy: gateway.log_management_strategy,
    cache_ttl: String(gateway.cache_ttl),
    cache_scope: gateway.cache_scope,
    ...(gateway.cache_invalidate_on_update && { cache_invalidate_on_update: 'on' }),
    ...(gateway.idempotency_keys && { idempotency_keys: 'on' }),
    ...(gateway.byok_only && { byok_only: 'on' }),
    ...(gateway.collect_logs && { collect_logs: 'on' }),
    ...(gateway.stream_usage && { stream_usage: 'on' }),
  }
}

/** Makes the members of the body that the form sets; the API reports invalid numbers. */
export function settingsOf(draft: Draft) {
  const limit = numberIn(draft, 'rate_limiting_limit')
  return {
    rate_limiting_limit: limit,
    rate_limiting_interval: numberIn(draft, 'rate_limiting_interval'),
    rate_limiting_technique: limit === 0 ? null : draft.value('rate_limiting_technique'),
    rate_limiting_key: draft.value('rate_limiting_key'),
    ...retryOf(draft),
    on_abandon: draft.value('on_abandon'),
    log_management: numberIn(draft, 'log_management'),
    log_management_strategy: draft.value('log_management_strategy'),
    cache_ttl: numberIn(draft, 'cache_ttl'),
    cache_scope: draft.value('cache_scope'),
    cache_invalidate_on_update: draft.has('cache_invalidate_on_update'),
    idempotency_keys: draft.has('idempotency_keys'),
    byok_only: draft.has('byok_only'),
    collect_logs: draft.has('collect_logs'),
    stream_usage: draft.has('stream_usage'),
  }
}

/** A single attempt is the default, whose delay counts for nothing. */
function retryOf(draft: Draft) {
  const attempts = numberIn(draft, 'retry_max_attempts')
  if (attempts === 1) return { retry_max_attempts: null, retry_delay: null, retry_backoff: null }
  return {
    retry_max_attempts: attempts,
    retry_delay: numberIn(draft, 'retry_delay'),
    retry_backoff: draft.value('retry_backoff'),
  }
}

/** The defaults of a gateway's form. */
export const usual = {
  authentication: true,
  byok_only: false,
  cache_ttl: 0,
  cache_scope: 'token',
  cache_invalidate_on_update: false,
  idempotency_keys: false,
  collect_logs: false,
  log_management: 100_000,
  log_management_strategy: 'DELETE_OLDEST',
  rate_limiting_interval: 60,
  rate_limiting_key: 'gateway',
  rate_limiting_limit: 0,
  rate_limiting_technique: null,
  retry_max_attempts: null,
  retry_delay: null,
  retry_backoff: null,
  on_abandon: 'abort',
  stream_usage: true,
} as const

function numberIn(draft: Draft, name: string): number | string {
  const text = draft.value(name).trim()
  return /^\d{1,15}$/.test(text) ? Number(text) : text
}

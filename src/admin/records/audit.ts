// Audit entries of changes, with the values before and after.

import type { Logger } from '../../log/log.ts'
import { auditOf, type Resource } from '../../store/records/audit-entry.ts'
import type { AuditEntry, ChangedValues } from '../../store/records/records.ts'

export function tellAudit(log: Logger, entry: AuditEntry, message = 'audit'): void {
  const { id, account, actor, address, ray, action, resourceKind, resource, changed, dropped, app } = entry
  const what = { action, resource_kind: resourceKind, resource, changed, ...(dropped && { dropped }) }
  const who = { actor, ...(app && { user: app.user, client: app.client }) }
  log.info({ id, account, ...who, address, ray, ...what }, message)
}

/** `unseen` names what changed but is in neither view, such as a secret. */
export function updateOf(
  call: Parameters<typeof auditOf>[0],
  resource: Resource,
  before: object,
  after: object,
  unseen: readonly string[] = [],
): AuditEntry {
  const changed = changedMembers(before, after)
  return auditOf(call, 'update', resource, [...changed, ...unseen], openValues(before, after, changed))
}

export function changedMembers(before: object, after: object): readonly string[] {
  const values = new Map(Object.entries(before))
  const later = new Map(Object.entries(after))
  const names = [...new Set([...values.keys(), ...later.keys()])]
  return names.filter(name => JSON.stringify(values.get(name)) !== JSON.stringify(later.get(name)))
}

/** Entries have only the values of these, which are no secrets, nor free text that may contain one. */
const openMembers: ReadonlySet<string> = new Set([
  ...['name', 'status', 'policies', 'condition', 'not_before', 'expires_on', 'settings', 'roles'],
  ...['gateways', 'models', 'actor', 'resource'],
  ...[
    'authentication',
    'collect_logs',
    'log_management',
    'log_management_strategy',
    'stream_usage',
    'byok_only',
  ],
  ...['rate_limiting_interval', 'rate_limiting_key', 'rate_limiting_limit', 'rate_limiting_technique'],
  ...['retry_max_attempts', 'retry_delay', 'retry_backoff', 'on_abandon'],
  ...['spend_limits', 'default_max_tokens', 'unpriced_cost', 'dlp'],
  ...['cache_ttl', 'cache_invalidate_on_update', 'cache_scope', 'idempotency_keys'],
  ...['client_name', 'grant_types', 'response_types', 'token_endpoint_auth_method', 'visibility'],
  ...['redirect_uris', 'post_logout_redirect_uris', 'allowed_cors_origins', 'scopes', 'optional_scopes'],
  ...['logo_uri', 'policy_uri', 'tos_uri', 'client_uri'],
  ...['action', 'enabled', 'description', 'ip', 'country', 'asn', 'content_type', 'status_code'],
])

const maxValues = 2_000

function openValues(before: object, after: object, changed: readonly string[]): ChangedValues | null {
  const [then, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))]
  const values = { before: {} as Record<string, unknown>, after: {} as Record<string, unknown> }
  let room = maxValues
  for (const name of changed) {
    if (!openMembers.has(name)) continue
    const size = [then, now].reduce((sum, all) => sum + (JSON.stringify(all.get(name)) ?? '').length, 0)
    if (size > room) continue
    room -= size
    if (then.has(name)) values.before[name] = then.get(name)
    if (now.has(name)) values.after[name] = now.get(name)
  }
  return room === maxValues ? null : values
}

export function membersSet(body: unknown): readonly string[] {
  return Object.entries(body as object).flatMap(([name, value]) => (value === null ? [] : [name]))
}

// Converts filter options for log entries to the query of the API.

import type { Input } from '../input.ts'

/** Returns the query, or an error sentence about an option. */
export function filtersOf(input: Input): URLSearchParams | string {
  const { failed, provider, model, status, 'token-id': token, where = [] } = input
  const query = new URLSearchParams()
  if (failed) query.set('success', 'false')
  for (const [name, value] of Object.entries({ provider, model, status, token_id: token }))
    if (value !== undefined) query.set(name, value)
  for (const filter of where) {
    const [, key, operator, value] = /^(\S+)\s+(\S+)(?:\s+(.*))?$/s.exec(filter.trim()) ?? []
    if (key === undefined || operator === undefined)
      return "--where must be 'KEY OPERATOR VALUE', such as 'duration gt 5000'"
    query.append('filters.key', key)
    query.append('filters.operator', operator)
    query.append('filters.value', value ?? '')
  }
  return query
}

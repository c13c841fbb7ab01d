// An entry of the audit log in the form of the management API, and in words.

import { auditActions, auditKinds, proofFailures, proofMethods } from './kinds.ts'

export interface AuditEntry {
  readonly id: string
  readonly when: string
  readonly action: { readonly type: string; readonly result: boolean }
  readonly actor: {
    readonly id: string
    readonly type: 'user' | 'admin' | 'system'
    readonly email?: string
    readonly name?: string
    readonly ip?: string
  }
  readonly resource: { readonly id: string; readonly type: string; readonly name?: string }
  /** JSON of changed members, as far as their values are recorded. */
  readonly oldValue?: string
  readonly newValue?: string
  readonly interface: 'API' | 'UI' | 'CLI' | 'System'
  readonly metadata: {
    readonly ray: string
    readonly changed: readonly string[]
    readonly method?: string
    readonly reason?: string
    readonly oauth_client_id?: string
    readonly oauth_client_name?: string
    readonly dropped?: { readonly count: number; readonly from: string; readonly to: string }
    readonly unvouched_proxy?: string
  }
}

/** The position of a page of the audit log: with a filter nothing is counted. */
export interface AuditInfo {
  readonly total_count?: number
  readonly scanned?: number
  readonly cursor?: string
}

/**
 * Returns the action and its resource, as `Changed: OAuth client`; for a proof, which always concerns a user,
 * as `Signed in`.
 */
export function deedInWords({ action, resource, metadata }: AuditEntry): string {
  const verb = wordOf(auditActions, action.type)
  const deed = metadata.method === undefined ? `${verb}: ${wordOf(auditKinds, resource.type)}` : verb
  return action.result ? deed : `Failed: ${deed}`
}

/** Returns how somebody proved who they are, as `by password`, or why they did not; null in other entries. */
export function proofInWords({ metadata: { method, reason } }: AuditEntry): string | null {
  if (method === undefined) return null
  const way = `by ${proofMethods[method] ?? method}`
  return reason === undefined ? way : `${way}: ${proofFailures[reason] ?? reason}`
}

/** One member that was set or changed; the values are null if they are not recorded. */
export interface Change {
  readonly name: string
  readonly values: { readonly before: string; readonly after: string } | null
  /**
   * Whether it is a list, and the values are only the removed and the added items; empty if there are none.
   */
  readonly isList: boolean
}

/** Returns the recorded changes of members, those with values first. */
export function changesIn({ metadata, oldValue = '{}', newValue = '{}' }: AuditEntry): readonly Change[] {
  const [before, after] = [oldValue, newValue].map(text => new Map(Object.entries(JSON.parse(text))))
  const changes = metadata.changed.map(name => {
    const isTold = before!.has(name) || after!.has(name)
    return isTold
      ? changeOf(name, before!.get(name), after!.get(name))
      : { name, values: null, isList: false }
  })
  return [...changes.filter(({ values }) => values), ...changes.filter(({ values }) => !values)]
}

function changeOf(name: string, before: unknown, after: unknown): Change {
  if (Array.isArray(before) && Array.isArray(after)) {
    const [then, now] = [before.map(valueInWords), after.map(valueInWords)]
    const gone = then.filter(item => !now.includes(item)).join(', ')
    const come = now.filter(item => !then.includes(item)).join(', ')
    if (gone !== '' || come !== '') return { name, values: { before: gone, after: come }, isList: true }
  }
  return { name, values: { before: valueInWords(before), after: valueInWords(after) }, isList: false }
}

/**
 * Writes the value of a setting for people: lists with commas, and policies of tokens by their permissions.
 */
function valueInWords(value: unknown): string {
  if (value === undefined || value === null || value === '') return 'none'
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(valueInWords).join(', ')
  if (typeof value !== 'object') return String(value)
  if ('effect' in value && 'permission_groups' in value) {
    const groups = value.permission_groups as readonly { readonly name?: string; readonly id: string }[]
    return `${value.effect} ${groups.map(({ name, id }) => name ?? id).join(', ')}`
  }
  return JSON.stringify(value)
}

function wordOf(words: readonly (readonly [name: string, word: string])[], name: string): string {
  return words.find(([one]) => one === name)?.[1] ?? name
}

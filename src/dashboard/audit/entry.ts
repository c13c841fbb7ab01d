// An entry of the audit log as the management API shows it, and what it says in words.

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
  readonly resource: { readonly id: string; readonly type: string }
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

/** What one response of the audit log says of itself: with a filter nothing is counted. */
export interface AuditInfo {
  readonly total_count?: number
  readonly scanned?: number
  readonly cursor?: string
}

/** Returns what was done to what, as `Changed: OAuth client`; a proof is always one of a user, as `Signed in`. */
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

function wordOf(words: readonly (readonly [name: string, word: string])[], name: string): string {
  return words.find(([one]) => one === name)?.[1] ?? name
}

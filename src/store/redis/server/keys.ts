// Every key of the store. Those that must be consistent share one hash tag, and so one slot of a cluster, for
// scripts to write them together. Logs have a tag for each gateway.

import type { CredentialKind } from '../../records/credential.ts'
import type { RecordKind } from '../../contract/store.ts'
import type { TallyKind } from '../../records/tally.ts'

export const keys = {
  format: '{gatehouse}:format',
  accounts: '{gatehouse}:accounts',
  /** `account/id` to version, birth, digest and record. */
  records: (kind: RecordKind) => `{gatehouse}:${kind}s`,
  /** The ids of an account's records by creation. */
  order: (kind: RecordKind, account: string) => `{gatehouse}:${kind}s:${account}`,
  /** `account/id` of the records with a due time, by the earliest time to hand them out. */
  due: (kind: RecordKind) => `{gatehouse}:due:${kind}s`,
  /** `account/id` to the due time according to the record. */
  dueOf: (kind: RecordKind) => `{gatehouse}:due_of:${kind}s`,
  /** `account/id` to when the record was last used, in ms since the epoch. */
  uses: (kind: RecordKind) => `{gatehouse}:uses:${kind}s`,
  /** A unique name of a record, such as the digest of a token, to its `account/id`. */
  names: (kind: RecordKind) => (kind === 'token' ? '{gatehouse}:digests' : `{gatehouse}:names:${kind}s`),
  /**
   * `group/place/id/account` of the records in a group, all with the same score and therefore sorted by their
   * bytes.
   */
  groups: (kind: RecordKind) => `{gatehouse}:groups:${kind}s`,
  credential: (kind: CredentialKind, name: string) => `{gatehouse}:${kind}:${name}`,
  /** The credentials of an owner by expiry; it expires with the last of them. */
  credentialsOf: (owner: string, id: string) => `{gatehouse}:of_${owner}:${id}`,
  /** The last authorization events of a client, newest first; it expires with the newest. */
  authorizationEvents: (client: string) => `{gatehouse}:authorization_events:${client}`,
  /** The same for unproven events. */
  unprovenEvents: (client: string) => `{gatehouse}:unproven_events:${client}`,
  /** A stored response and its expiry; it expires. */
  response: (account: string, key: string) => `{gatehouse}:answer:${account}/${key}`,
  auditTimes: (account: string) => `{gatehouse}:audit_times:${account}`,
  auditEntries: (account: string) => `{gatehouse}:audit_entries:${account}`,
  auditActors: (account: string) => `{gatehouse}:audit_actors:${account}`,
  /** The ids of an actor's audit entries in an account by time. */
  auditTimesOf: (account: string, actor: string) => `{gatehouse}:audit_times:${account}/${actor}`,
  version: '{gatehouse}:version',
  /** `identity generation last`, which identifies the store. - for an identity that was not set. */
  mark: '{gatehouse}:mark',
  changes: '{gatehouse}:changes',
  /** Written before each request for a proof that writes are safe. */
  proof: '{gatehouse}:proof',
  /** `account/gateway/birth` of removed gateways, by time of removal: their logs may still exist. */
  graves: '{gatehouse}:graves',
  /**
   * The buckets of a sliding window, their sum and the number of the oldest. Each key has a slot of its own
   * and expires.
   */
  slidingCount: (key: string) => `{gatehouse:${key}}:sliding`,
  /** The count until a time, at which it expires. */
  fixedCount: (key: string, until: number) => `{gatehouse:${key}}:until:${until}`,
  /** What is spent and leased in a bucket of an account; it expires. */
  budget: (account: string, bucket: string) => `{gatehouse}:budget:${account}/${bucket}`,
  /** The buckets of an account by expiry; it expires with the last of them. */
  budgets: (account: string) => `{gatehouse}:budgets:${account}`,
  /** A claim of a call that must not run twice; it expires. */
  claim: (account: string, gateway: string, key: string) => `{gatehouse}:claim:${account}/${gateway}/${key}`,
  /**
   * `gateway/key` of the claims of an account by expiry, and after a slash of one owner. Each expires with
   * the last of its claims.
   */
  claims: (account: string) => `{gatehouse}:claims:${account}`,
  /** The name of each machine to its published data, after its expiry. */
  peers: '{gatehouse}:peers',
  /** Count and latest time by name in a slot; it expires. */
  tallies: (kind: TallyKind, scope: string, slot: number) => `{gatehouse}:tallies:${kind}:${scope}:${slot}`,
  /** The latest occurrences of a name; they expire with the newest. */
  occurrences: (kind: TallyKind, scope: string, name: string) =>
    `{gatehouse}:occurrences:${kind}:${scope}:${name}`,
} as const

/** The channel on which writers announce changes. */
export const changeChannel = '{gatehouse}:changes'

/**
 * Returns the keys of a gateway's logs, in the order of the scripts. A new gateway with the name of an
 * earlier one has another birth, and so none of its logs.
 */
export function logKeys(account: string, gateway: string, birth: string): readonly string[] {
  const tag = `{gatehouse:${account}/${gateway}/${birth}}`
  return logParts.map(part => `${tag}:${part}`)
}

/** Returns the keys of an account's answers, in the order of the scripts. */
export function answerKeys(account: string): readonly string[] {
  return answerParts.map(part => `{gatehouse:answers/${account}}:${part}`)
}

/** Returns the key of the parts of an answer with an id, which expires; scripts make it of the index. */
export function answerPart(account: string, id: string): string {
  return `${answerKeys(account)[0]}:${id}`
}

/** Id, size and expiry by `gateway/key`; these by age and by expiry; sizes of gateways and of all. */
const answerParts = ['answers', 'ages', 'ends', 'sums'] as const

/** Ids by arrival and by time, summaries and payloads by id; the sums of windows, and these by their ends. */
const logParts = ['arrivals', 'times', 'summaries', 'payloads', 'sums', 'sum_ends'] as const

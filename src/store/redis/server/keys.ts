// Every key of the store in Redis, for the nouns beside. What must agree shares one hash tag, and so one slot of a cluster: a script
// can write it together, and there is no half of a write to heal. Logs, the only kind that grows, have a tag for each gateway.

import type { CredentialKind } from '../../records/credential.ts'
import type { RecordKind } from '../../contract/store.ts'
import type { TallyKind } from '../../records/tally.ts'

export const keys = {
  /** The number of the data format. */
  format: '{gatehouse}:format',
  /** Account id to account. */
  accounts: '{gatehouse}:accounts',
  /** `account/id` to version, birth, digest and record. */
  records: (kind: RecordKind) => `{gatehouse}:${kind}s`,
  /** The ids of an account's records by creation. */
  order: (kind: RecordKind, account: string) => `{gatehouse}:${kind}s:${account}`,
  /** `account/id` of the records that are due some time, by when they may be given. */
  due: (kind: RecordKind) => `{gatehouse}:due:${kind}s`,
  /** `account/id` to the time at which the record itself says that it is due. */
  dueOf: (kind: RecordKind) => `{gatehouse}:due_of:${kind}s`,
  /** `account/id` to when the record was last used, in ms since the epoch. */
  uses: (kind: RecordKind) => `{gatehouse}:uses:${kind}s`,
  /** What finds one record of a kind, such as the digest of a token, to its `account/id`. */
  names: (kind: RecordKind) => (kind === 'token' ? '{gatehouse}:digests' : `{gatehouse}:names:${kind}s`),
  /** `group/place/id/account` of the records that are found by something they have in common, all of one score and so by their bytes. */
  groups: (kind: RecordKind) => `{gatehouse}:groups:${kind}s`,
  /** One credential; it expires. */
  credential: (kind: CredentialKind, name: string) => `{gatehouse}:${kind}:${name}`,
  /** The credentials of an owner, by when they expire; it expires with the last of them. */
  credentialsOf: (owner: string, id: string) => `{gatehouse}:of_${owner}:${id}`,
  /** The last authorization events of a client, the one that came last first; it expires with that. */
  authorizationEvents: (client: string) => `{gatehouse}:authorization_events:${client}`,
  /** As those, of the events that are unproven. */
  unprovenEvents: (client: string) => `{gatehouse}:unproven_events:${client}`,
  /** One response, and until when it holds; it expires. */
  response: (account: string, key: string) => `{gatehouse}:answer:${account}/${key}`,
  /** The ids of an account's audit entries by time. */
  auditTimes: (account: string) => `{gatehouse}:audit_times:${account}`,
  /** The audit entries of an account by id. */
  auditEntries: (account: string) => `{gatehouse}:audit_entries:${account}`,
  /** The actors of an account's audit entries. */
  auditActors: (account: string) => `{gatehouse}:audit_actors:${account}`,
  /** The ids of an actor's audit entries in an account by time. */
  auditTimesOf: (account: string, actor: string) => `{gatehouse}:audit_times:${account}/${actor}`,
  /** The version given last. */
  version: '{gatehouse}:version',
  /** `identity generation last`: by what the store is known again. - for an identity that it was not given. */
  mark: '{gatehouse}:mark',
  /** The last changes, by version. */
  changes: '{gatehouse}:changes',
  /** Written before a proof is asked for that writes are safe. */
  proof: '{gatehouse}:proof',
  /** `account/gateway/birth` of gateways that were removed, by the time of that: their logs may still be there. */
  graves: '{gatehouse}:graves',
  /** The buckets of a sliding window, their sum and the number of the oldest; each key in a slot of its own, and it expires. */
  slidingCount: (key: string) => `{gatehouse:${key}}:sliding`,
  /** The count until a time, at which it expires. */
  fixedCount: (key: string, until: number) => `{gatehouse:${key}}:until:${until}`,
  /** The name of each machine to what it says, after the time at which that ends. */
  peers: '{gatehouse}:peers',
  /** How often what happened in a slot, by name, and when last; it expires. */
  tallies: (kind: TallyKind, scope: string, slot: number) => `{gatehouse}:tallies:${kind}:${scope}:${slot}`,
  /** The last occurrences of a name; they expire with the last of them. */
  occurrences: (kind: TallyKind, scope: string, name: string) =>
    `{gatehouse}:occurrences:${kind}:${scope}:${name}`,
} as const

/** The channel on which writers say that there are changes to read. */
export const changeChannel = '{gatehouse}:changes'

/** Returns the keys of a gateway's logs, in the order in which the scripts take them. A gateway that takes the name of another has another birth, and so none of its logs. */
export function logKeys(account: string, gateway: string, birth: string): readonly string[] {
  const tag = `{gatehouse:${account}/${gateway}/${birth}}`
  return logParts.map(part => `${tag}:${part}`)
}

/** Ids as they came, ids by time, and by id the summaries and the payloads; what was worked out of windows, and those by their ends. */
const logParts = ['arrivals', 'times', 'summaries', 'payloads', 'sums', 'sum_ends'] as const

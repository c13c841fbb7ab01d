// Users, who are unique, and members, of whom each account must keep a super administrator, in Redis.

import { createHash } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { everybody, type Identity, type Member, type User } from '../records/people.ts'
import type { Members, Users, Versioned } from '../contract/store.ts'
import { placeIn, RedisRecords, type Traits } from './records.ts'
import type { Reader } from './server/connection.ts'
import type { DurableWrites } from './server/durability.ts'

const maxOfUser = 1_000

const userTraits: Traits<User> = {
  kind: 'user',
  marks: ({ email, identity }) => (identity ? `${nameOf(email)},${nameOfIdentity(identity)}` : nameOf(email)),
  isMarked: true,
}

const memberTraits: Traits<Member> = {
  kind: 'member',
  marks: member => {
    const { account, user, status, isSuper, createdAt } = member
    const marks = `${user}/${account},~${placeIn(`user/${user}`, createdAt, member)}`
    return isSuper && status === 'accepted'
      ? `${marks},!${placeIn(`super/${account}`, createdAt, member)}`
      : marks
  },
  isMarked: true,
}

export class RedisUsers extends RedisRecords<User> implements Users {
  constructor(connection: Reader, writes: DurableWrites, clock: Clock) {
    super(userTraits, connection, writes, clock)
  }

  findByEmail(email: string): Promise<Versioned<User> | null> {
    return this.findByName(nameOf(email))
  }

  findByIdentity(identity: Identity): Promise<Versioned<User> | null> {
    return this.findByName(nameOfIdentity(identity))
  }

  withIds(ids: readonly string[]): Promise<readonly User[]> {
    return this.some(everybody, ids)
  }
}

export class RedisMembers extends RedisRecords<Member> implements Members {
  constructor(connection: Reader, writes: DurableWrites, clock: Clock) {
    super(memberTraits, connection, writes, clock)
  }

  find(account: string, user: string): Promise<Versioned<Member> | null> {
    return this.findByName(`${user}/${account}`)
  }

  async ofUser(user: string): Promise<readonly Member[]> {
    return (await this.listGroup(`user/${user}`, { offset: 0, limit: maxOfUser })).items
  }
}

/** Makes a name from arbitrary texts: a digest, since scripts split names at certain characters. */
function nameOf(...texts: string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex')
}

function nameOfIdentity({ issuer, subject }: Identity): string {
  return nameOf(issuer, subject)
}

// A place for tests of people, where they settle, found accounts and join them.

import { Passwords } from '../../src/people/passwords/passwords.ts'
import type { Member, User } from '../../src/store/records/people.ts'
import type { Account } from '../../src/store/records/records.ts'
import type { Store } from '../../src/store/contract/store.ts'
import { account, member } from '../store/contract-specimens.ts'
import { cheap } from './cheap.ts'
import { userWith } from './user-with.ts'

export const password = 'correct horse battery'

export class Settlement {
  readonly store: Store
  readonly passwords = new Passwords({ cost: cheap })

  constructor(store: Store) {
    this.store = store
  }

  /** Keeps a user with the password. */
  async settle(more: Partial<User> = {}): Promise<User> {
    const user = userWith({ password: await this.passwords.hash(password), ...more })
    await this.store.users.insert(user)
    return user
  }

  async found(more: Partial<Account> = {}): Promise<Account> {
    const founded = account(more)
    await this.store.accounts.insert(founded)
    return founded
  }

  /** Makes a user a member of an account. */
  async join(user: User, { id }: Account, more: Partial<Member> = {}): Promise<Member> {
    const joined = member({ account: id, user: user.id, status: 'accepted', ...more })
    await this.store.members.insert(joined)
    return joined
  }
}

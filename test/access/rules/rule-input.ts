// A request as access rules see it, from what a test wants of it.

import type { Geo } from '../../../src/access/files/geo.ts'
import { type AccessRequest, RuleInput } from '../../../src/access/rules/access-request.ts'
import { LowerCase } from '../../../src/access/rules/lower-case.ts'
import { TallyBook } from '../../../src/activity/tally-book.ts'
import { Work } from '../../../src/expression/work-budget.ts'
import { AddressWords } from '../../../src/net/address/address-words.ts'
import { ManualClock } from '../../help/clock.ts'

/** Of the latest input: as at a policy, an address that comes again is not read again. */
const words = new AddressWords()
let isAddress = false
let lastAddress = ''
const tallies = new TallyBook(new ManualClock(), () => {}).scope('zone')

export interface Asked extends Partial<Omit<AccessRequest, 'work'>> {
  readonly country?: string | null
  readonly network?: number | null
  /** Steps. */
  readonly work?: number
}

export function inputOf({ country = '', network = 0, work = 1_000, ...more }: Asked): RuleInput {
  return inputWith({ countryOf: () => country, networkOf: () => network }, { ...more, work })
}

export function inputWith(
  geo: Geo | null,
  { work = 1_000, ...more }: Omit<Asked, 'country' | 'network'>,
): RuleInput {
  const given = {
    address: '192.0.2.1',
    paths: ['/'],
    fields: [],
    facts: {} as AccessRequest['facts'],
    ...more,
  }
  if (given.address !== lastAddress) isAddress = words.read(given.address)
  lastAddress = given.address
  const request = { ...given, tallies, work: new Work({ file: work, api: 0 }) }
  return new RuleInput(request, isAddress ? words : null, geo, new LowerCase())
}

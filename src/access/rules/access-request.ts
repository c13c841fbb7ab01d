// One request as access rules see it; each value is computed when a rule first needs it.

import type { Found } from '../../net/address/address-table.ts'
import type { AddressWords } from '../../net/address/address-words.ts'
import type { Facts } from '../../expression/expression.ts'
import type { Work } from '../../expression/work-budget.ts'
import { equalsIgnoreCase } from '../../http1/fields/fields.ts'
import type { TallyScope } from '../../activity/tally-book.ts'
import type { Geo } from '../files/geo.ts'
import type { LowerCase } from './lower-case.ts'
import { refererHost } from './referer.ts'

export interface AccessRequest {
  readonly address: string
  readonly paths: readonly string[] | null
  /** As received: `name, value, name, value, …`. */
  readonly fields: readonly string[]
  readonly facts: Facts
  readonly tallies: TallyScope
  readonly work: Work
}

export class RuleInput {
  readonly request: AccessRequest
  readonly work: Work
  /** Null without a valid address, as for a closed socket. */
  readonly address: AddressWords | null
  lookup: Found = 'nothing'
  readonly #geo: Geo | null
  readonly #lowerCase: LowerCase
  #country: string | null | undefined = undefined
  #network: number | null | undefined = undefined
  #userAgent: string | null = null
  #referer: string | null = null
  #refererHost: string | null = null

  constructor(request: AccessRequest, address: AddressWords | null, geo: Geo | null, lowerCase: LowerCase) {
    this.request = request
    this.work = request.work
    this.address = address
    this.#geo = geo
    this.#lowerCase = lowerCase
  }

  get isIPv6(): boolean {
    return this.address?.isV4 === false
  }

  get country(): string | null {
    if (this.#country === undefined) this.#country = this.#geo?.countryOf(this.request.address) ?? null
    return this.#country
  }

  get network(): number | null {
    if (this.#network === undefined) this.#network = this.#geo?.networkOf(this.request.address) ?? null
    return this.#network
  }

  get userAgent(): string {
    return (this.#userAgent ??= this.#lowerCase.of(fieldValue(this.request.fields, 'user-agent')))
  }

  get referer(): string {
    return (this.#referer ??= fieldValue(this.request.fields, 'referer'))
  }

  get refererHost(): string {
    return (this.#refererHost ??= refererHost(this.referer))
  }
}

function fieldValue(fields: readonly string[], name: string): string {
  let value = ''
  for (let i = 0; i < fields.length; i += 2) {
    if (!equalsIgnoreCase(fields[i]!, name)) continue
    value = value === '' ? fields[i + 1]! : `${value}, ${fields[i + 1]}`
  }
  return value
}

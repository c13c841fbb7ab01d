// The request fields that AI routes read, and those that are removed here: what a caller tells the gateway is not meant for a provider.

import { equalsIgnoreCase } from '../../http1/fields.ts'
import type { RequestHead } from '../../http1/request-head.ts'
import { holdsOurs, isMisborne, valueHoldsOurs } from '../../tokens/misplaced.ts'

/** Marks a field that came twice where only one can count. */
export const repeated = Symbol('repeated')
export type Once = string | null | typeof repeated

/** The settings that a caller sends to an AI gateway. */
export class AiFields {
  authorization: Once = null
  gatewayAuthorization: Once = null
  gatewayId: Once = null
  metadata: Once = null
  collectLog: Once = null
  collectLogPayload: Once = null
  contentType: string | null = null
  contentEncoding: string | null = null
  /** The first field for the gateway that is unknown, in lower case; null where there is none. */
  unknown: string | null = null
  /** Where a credential of this gateway was found in a place where it must not be; null where none was. */
  misplaced: string | null

  constructor({ method, target, fields }: RequestHead) {
    this.misplaced = holdsOurs(target) ? placeIn(target) : holdsOurs(method) ? 'the method' : null
    for (let i = 0; i < fields.length; i += 2) {
      this.#take(fields[i]!, fields[i + 1]!)
      this.misplaced ??= misplacedIn(fields[i]!, fields[i + 1]!)
    }
  }

  #take(name: string, value: string): void {
    if (isForGateway(name)) this.#takeOurs(name.toLowerCase(), value)
    else if (equalsIgnoreCase(name, 'authorization')) this.authorization = once(this.authorization, value)
    else if (equalsIgnoreCase(name, 'content-type')) this.contentType = value
    else if (equalsIgnoreCase(name, 'content-encoding')) this.contentEncoding = value
  }

  #takeOurs(name: string, value: string): void {
    switch (name) {
      case 'svc-aig-authorization':
        this.gatewayAuthorization = once(this.gatewayAuthorization, value)
        break
      case 'svc-aig-gateway-id':
        this.gatewayId = once(this.gatewayId, value)
        break
      case 'svc-aig-metadata':
        this.metadata = once(this.metadata, value)
        break
      case 'svc-aig-collect-log':
        this.collectLog = once(this.collectLog, value)
        break
      case 'svc-aig-collect-log-payload':
        this.collectLogPayload = once(this.collectLogPayload, value)
        break
      default:
        this.unknown ??= name.slice(0, longestName)
    }
  }
}

function placeIn(target: string): string {
  return holdsOurs(target.split('?', 1)[0]!) ? 'the path' : 'the query'
}

/** Returns the name of the field if it contains a credential of this gateway; two fields may, as Bearer only. */
function misplacedIn(name: string, value: string): string | null {
  if (holdsOurs(name)) return 'the name of a header'
  const mayBear = equalsIgnoreCase(name, 'authorization') || equalsIgnoreCase(name, 'svc-aig-authorization')
  const isMisplaced = mayBear ? isMisborne(value) : valueHoldsOurs(value)
  return isMisplaced ? `the header ${name.slice(0, longestName).toLowerCase()}` : null
}

/** The most characters of a name that are shown. */
const longestName = 64

/** Whether a field is meant for the gateway alone, in any case and also with underscores: a provider might fold those into hyphens. */
export function isForGateway(name: string): boolean {
  if (name.length < prefix.length || (name.charCodeAt(0) | 0x20) !== 0x73) return false
  for (let i = 0; i < prefix.length; i++) {
    const char = name.charCodeAt(i)
    const expected = prefix.charCodeAt(i)
    if (char !== expected && (char | 0x20) !== expected && !(expected === 0x2d && char === 0x5f)) return false
  }
  return true
}

const prefix = 'svc-aig-'

function once(before: Once, value: string): Once {
  return before === null ? value : repeated
}
